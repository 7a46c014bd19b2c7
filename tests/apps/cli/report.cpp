/// Tests the formats that other programs read.

#include <algorithm>
#include <boost/test/unit_test.hpp>
#include <sstream>

#include <nlohmann/json.hpp>

#include "support/process.hpp"

namespace tessera::test {

using nlohmann::json;

namespace {

void expect_keys(const json& object, const std::vector<std::string>& keys) {
  for (const std::string& key : keys) BOOST_TEST(object.contains(key), "no key '" << key << "' in " << object.dump());
}

} // namespace

BOOST_FIXTURE_TEST_SUITE(reports, Programs)

BOOST_AUTO_TEST_CASE(json_has_the_documented_schema) {
  BOOST_TEST(
      compare({"--cpu", "--math", "strict,compensated", "--shape", "20x30x40", "--repeat", "3", "--json", "out.json"})
          .status == 0);
  const json report = json::parse(folder.read("out.json"));
  BOOST_TEST(report["schema"] == "tessera.compare/1");
  expect_keys(report["machine"],
              {"cpu", "threads", "instruction_set", "compiler", "libraries", "os", "date", "devices", "ceilings"});
  BOOST_TEST_REQUIRE(!report["results"].empty());
  for (const json& result : report["results"]) {
    expect_keys(result,
                {"backend", "kernel", "dtype", "math", "canonical", "m", "n", "k", "trans_a", "trans_b", "alpha",
                 "beta", "threads", "seconds", "gflops", "ceiling_percent", "error", "verdict", "reason"});
    expect_keys(result["seconds"], {"median", "min", "max", "samples"});
    expect_keys(result["error"], {"total_abs", "max_rel", "mean_rel", "max_over_bound", "differing_bits"});
    BOOST_TEST(result["m"] == 20);
    BOOST_TEST(result["n"] == 30);
    BOOST_TEST(result["k"] == 40);
    BOOST_TEST(result["seconds"]["samples"] == 3);
    const double median = result["seconds"]["median"];
    BOOST_TEST(median > 0);
    BOOST_TEST(median >= result["seconds"]["min"].get<double>());
    BOOST_TEST(median <= result["seconds"]["max"].get<double>());
    BOOST_TEST(result["gflops"].get<double>() == 2e-9 * 20 * 30 * 40 / median, boost::test_tools::tolerance(1e-9));
    BOOST_TEST(result["error"]["max_over_bound"].get<double>() <= 1);
    BOOST_TEST(result["check_seconds"].get<double>() > 0);
  }
}

BOOST_AUTO_TEST_CASE(json_says_where_the_errors_are) {
  const Outcome outcome =
      compare({"--cpu", "--math", "strict,compensated", "--shape", "30x20x50", "--repeat", "1", "--json", "-"});
  const json report = json::parse(outcome.out);
  for (const json& result : report["results"]) {
    const json& error = result["error"];
    expect_keys(error,
                {"normwise", "componentwise", "row_column", "norm_product", "ulps", "worst", "expected", "found"});
    BOOST_TEST(error["row_column"] <= error["componentwise"]);
    int elements = 0;
    for (const auto& [up_to, count] : error["ulps"].items()) elements += count.get<int>();
    BOOST_TEST(elements == 600);
    BOOST_TEST_REQUIRE(!error["worst"].empty());
    BOOST_TEST(error["worst"].size() <= 8u);
    BOOST_TEST(error["worst"][0]["over_bound"] == error["max_over_bound"]);
    double before = 1;
    for (const json& element : error["worst"]) {
      BOOST_TEST(element["row"].get<int>() < 30);
      BOOST_TEST(element["col"].get<int>() < 20);
      BOOST_TEST(element["over_bound"].get<double>() <= before);
      before = element["over_bound"];
    }
    BOOST_TEST(error["found"]["nan"] == 0);
  }
}

BOOST_AUTO_TEST_CASE(several_sizes_earn_a_grade) {
  const std::vector<std::string> arguments{"--backend", "reference", "--math",   "strict",
                                           "--sizes",   "24,48,96",  "--repeat", "1"};
  const Outcome table = compare(arguments);
  BOOST_TEST(contains(table.out, "grade A"));
  BOOST_TEST(contains(table.out, "slope"));
  std::vector<std::string> asked = arguments;
  asked.insert(asked.end(), {"--json", "-"});
  const json report = json::parse(compare(asked).out);
  BOOST_TEST_REQUIRE(report["grades"].size() == 2u);
  for (const json& grade : report["grades"]) {
    BOOST_TEST(grade["backend"] == "reference");
    BOOST_TEST(grade["grade"] == "A");
    BOOST_TEST(grade["slope"].get<double>() < 1.1);
    BOOST_TEST(grade["sizes"].size() == 3u);
    BOOST_TEST(grade["sizes"][2]["n"] == 96);
  }
  const Outcome few = compare({"--backend", "reference", "--sizes", "24,48", "--shape", "9x9x8", "--json", "-"});
  BOOST_TEST(json::parse(few.out)["grades"].empty());
}

BOOST_AUTO_TEST_CASE(errors_are_shown_below_the_table_if_asked) {
  const std::vector<std::string> arguments{"--backend", "reference", "--kernels", "canonical", "--sizes", "30"};
  BOOST_TEST(!contains(compare(arguments).out, "ULPs"));
  std::vector<std::string> asked = arguments;
  asked.emplace_back("--errors");
  const Outcome outcome = compare(asked);
  BOOST_TEST(outcome.status == 0);
  for (const char* part : {"reference canonical", "ULPs   0: ", "‖Δ‖/‖C‖", "C(", "instead of", "error ÷ bound"})
    BOOST_TEST(contains(outcome.out, part), part);
}

BOOST_AUTO_TEST_CASE(json_on_stdout_is_alone_there) {
  const Outcome outcome = compare({"--backend", "reference", "--sizes", "8", "--json", "-"});
  BOOST_TEST(outcome.status == 0);
  BOOST_TEST(json::parse(outcome.out)["schema"] == "tessera.compare/1");
}

BOOST_AUTO_TEST_CASE(csv_has_as_many_fields_in_each_line) {
  const Outcome outcome = compare({"--backend", "reference", "--math", "strict,tf32", "--sizes", "8,9", "--csv", "-"});
  BOOST_TEST(outcome.status == 0);
  std::istringstream lines(outcome.out);
  std::string line;
  std::getline(lines, line);
  const auto commas = std::count(line.begin(), line.end(), ',');
  BOOST_TEST(line.starts_with("op,backend,kernel,dtype"));
  int rows = 0;
  for (; std::getline(lines, line); ++rows) BOOST_TEST(std::count(line.begin(), line.end(), ',') == commas, line);
  BOOST_TEST(rows == 6);
}

BOOST_AUTO_TEST_CASE(the_list_names_every_kernel) {
  const Outcome table = compare({"--list"});
  BOOST_TEST(table.status == 0);
  const Outcome outcome = compare({"--list", "--json", "-"});
  BOOST_TEST(outcome.status == 0);
  const json report = json::parse(outcome.out);
  BOOST_TEST(report["schema"] == "tessera.kernels/1");
  BOOST_TEST(report["backends"].size() == 5u);
  for (const json& kernel : report["kernels"]) {
    expect_keys(kernel, {"op", "backend", "kernel", "dtype", "math", "canonical", "summary", "source"});
    BOOST_TEST(contains(table.out, kernel["kernel"].get<std::string>()));
  }
  BOOST_TEST(std::any_of(report["kernels"].begin(), report["kernels"].end(),
                         [](const json& kernel) { return kernel["kernel"] == "gold"; }));
}

BOOST_AUTO_TEST_CASE(pages_are_made_from_an_earlier_run) {
  const Outcome ran = compare({"--backend", "reference", "--sizes", "8", "--json", "old.json", "--html", "at_once.html",
                               "--markdown", "at_once.md"});
  BOOST_TEST(ran.status == 0);
  const Outcome outcome = compare({"--report", "old.json", "--html", "later.html", "--markdown", "-"});
  BOOST_TEST(outcome.status == 0);
  BOOST_TEST(outcome.out == folder.read("at_once.md"));
  BOOST_TEST((folder.read("later.html") == folder.read("at_once.html")));
  expect_usage_error(compare({"--report", "old.json"}), {"--report", "--html"});
  expect_usage_error(compare({"--report", "old.json", "--html", "x.html", "--csv", "x.csv"}), {"--csv", "--report"});
  expect_usage_error(compare({"--report", "nowhere.json", "--html", "x.html"}), {"nowhere.json", "No such file"});
  folder.write("other.json", "{}");
  expect_usage_error(compare({"--report", "other.json", "--html", "x.html"}), {"other.json", "schema"});
  BOOST_TEST(folder.read("x.html") == "");
}

BOOST_AUTO_TEST_CASE(a_report_keeps_the_old_one_until_it_is_complete) {
  folder.write("out.json", "old");
  expect_usage_error(compare({"--sizes", "x", "--json", "out.json"}), {"--sizes"});
  BOOST_TEST(folder.read("out.json") == "old");
  BOOST_TEST(compare({"--backend", "reference", "--sizes", "8", "--json", "out.json"}).status == 0);
  BOOST_TEST(json::parse(folder.read("out.json")).contains("results"));
  BOOST_TEST(folder.names() == (std::vector<std::string>{"out.json"}), boost::test_tools::per_element());
}

BOOST_AUTO_TEST_SUITE_END()

} // namespace tessera::test
