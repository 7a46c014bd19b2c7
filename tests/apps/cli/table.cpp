/// Tests how the table fits a terminal, and what stands below it.

#include <algorithm>
#include <boost/test/unit_test.hpp>
#include <sstream>

#include <nlohmann/json.hpp>

#include <fmt/format.h>

#include "results.hpp"
#include "support/process.hpp"

namespace tessera::test {

using nlohmann::json;

namespace {

const Variables unicode{{"LC_ALL", "C.UTF-8"}};

/// Returns the text without what colours it.
std::string plain(std::string text) {
  for (std::size_t at = 0; (at = text.find("\x1b[", at)) != std::string::npos;)
    text.erase(at, text.find('m', at) - at + 1);
  return text;
}

std::vector<std::string> lines_of(const std::string& text) {
  std::istringstream stream(plain(text));
  std::vector<std::string> lines;
  for (std::string line; std::getline(stream, line);) lines.push_back(line);
  return lines;
}

/// Returns the columns that a line takes. None of these tests has wide characters.
std::size_t width_of(const std::string& line) {
  return static_cast<std::size_t>(
      std::count_if(line.begin(), line.end(), [](char c) { return (static_cast<unsigned char>(c) & 0xC0u) != 0x80u; }));
}

void expect_fits(const std::string& text, std::size_t width) {
  for (const std::string& line : lines_of(text))
    BOOST_TEST(width_of(line) <= width, line << " has " << width_of(line) << " columns");
}

/// Returns the first line that begins with this text.
std::string line_from(const std::string& text, const std::string& start) {
  for (const std::string& line : lines_of(text))
    if (line.starts_with(start)) return line;
  BOOST_ERROR("no line begins with '" << start << "' in:\n" << text);
  return "";
}

std::size_t lines_with(const std::string& text, const std::string& part) {
  const std::vector<std::string> lines = lines_of(text);
  return static_cast<std::size_t>(
      std::count_if(lines.begin(), lines.end(), [&](const std::string& line) { return contains(line, part); }));
}

struct Tables : Programs {
  /// Kernels that refuse, fail and are wrong.
  Outcome on_odd_device(std::vector<std::string> arguments, const Variables& more = {}) const {
    arguments.insert(arguments.begin(), {"--backend", "cuda", "--repeat", "1"});
    Variables variables{{"TESSERA_PLUGIN_PATH", TESSERA_ODD_DEVICE_FOLDER}};
    variables.insert(variables.end(), more.begin(), more.end());
    return compare(arguments, variables);
  }
};

/// What the last lines must say of a document: the fastest strict entry of a backend that passed.
json fastest_of(const json& document, const std::string& backend, bool canonical) {
  json best;
  for (const json& entry : document["results"])
    if (entry["backend"] == backend && entry["math"] == "strict" && entry["verdict"] == "pass" &&
        (entry["canonical"] || !canonical) && (best.is_null() || entry["gflops"] > best["gflops"]))
      best = entry;
  return best;
}

std::string speed_text(const json& entry) {
  std::string text =
      fmt::format("{}, {:.2f} GFLOP/s", entry["kernel"].get<std::string>(), entry["gflops"].get<double>());
  if (!entry["ceiling_percent"].is_null())
    text += fmt::format(", {:.1f} % of the peak", entry["ceiling_percent"].get<double>());
  return text + fmt::format(" at {}×{}×{}", entry["m"].get<int>(), entry["n"].get<int>(), entry["k"].get<int>());
}

} // namespace

BOOST_FIXTURE_TEST_SUITE(tables, Tables)

BOOST_AUTO_TEST_SUITE(in_terminals, *boost::unit_test::precondition(there_are_terminals))

BOOST_AUTO_TEST_CASE(no_line_is_wider_than_the_terminal) {
  const std::vector<std::string> arguments{"--cpu", "--cblas", "none", "--sizes", "9,16,33",     "--repeat",
                                           "1",     "--dtype", "f32",  "--math",  "strict,tf32", "--errors"};
  for (const unsigned short width : std::initializer_list<unsigned short>{80, 120, 200}) {
    const Outcome outcome = compare_in({width}, arguments, unicode);
    BOOST_TEST_CONTEXT(width << " columns") {
      BOOST_TEST(outcome.status == 0);
      expect_fits(outcome.out, width);
      const std::string headings = line_from(outcome.out, "backend");
      for (const char* stays : {"backend", "kernel", "median", "GFLOP/s", "verdict"})
        BOOST_TEST(contains(headings, stays), headings);
      BOOST_TEST(contains(headings, "max/bound") == (width >= 120), headings);
      BOOST_TEST(contains(headings, "mean rel") == (width >= 200), headings);
      BOOST_TEST(contains(outcome.out, "█") == (width >= 120));
    }
  }
}

/// The mark of the contract stands beside the kernel's name, which no width cuts off.
BOOST_AUTO_TEST_CASE(kernels_of_the_contract_are_marked_at_every_width) {
  const std::vector<std::string> arguments{"--backend", "reference", "--sizes", "20", "--repeat", "1"};
  for (const unsigned short width : std::initializer_list<unsigned short>{60, 80, 120}) {
    const Outcome outcome = compare_in({width}, arguments, unicode);
    BOOST_TEST_CONTEXT(width << " columns") {
      BOOST_TEST(line_from(outcome.out, "reference  canonical").starts_with("reference  canonical ≡  "));
      BOOST_TEST(!contains(line_from(outcome.out, "reference  gold"), "≡"));
      BOOST_TEST(lines_with(outcome.out, "  ≡ marks kernels that keep the contract") == 1u, outcome.out);
      expect_fits(outcome.out, width);
    }
  }
  std::vector<std::string> gold = arguments;
  gold.insert(gold.end(), {"--kernels", "gold"});
  BOOST_TEST(!contains(compare_in({80}, gold, unicode).out, "≡"));
}

BOOST_AUTO_TEST_CASE(bars_are_of_the_characters_that_the_locale_has) {
  const std::vector<std::string> arguments{"--backend", "reference", "--sizes", "20", "--repeat", "1"};
  BOOST_TEST(contains(compare_in({120}, arguments, unicode).out, "████"));
  const Outcome ascii = compare_in({120}, arguments, {{"LC_ALL", "C"}});
  BOOST_TEST(contains(ascii.out, "####"));
  BOOST_TEST(!contains(ascii.out, "█"));
}

BOOST_AUTO_TEST_CASE(the_widths_that_are_not_the_terminals) {
  const std::vector<std::string> arguments{"--backend", "reference", "--math",   "strict,tf32",
                                           "--sizes",   "20",        "--repeat", "1"};
  expect_fits(compare_in({0}, arguments, {{"COLUMNS", "72"}}).out, 72); // the terminal does not know its width
  expect_fits(compare_in({0}, arguments, {{"COLUMNS", "many"}}).out, 80);
  std::vector<std::string> chosen = arguments;
  chosen.insert(chosen.end(), {"--width", "60"});
  expect_fits(compare_in({120}, chosen, {{"COLUMNS", "90"}}).out, 60);
  chosen.back() = "0";
  BOOST_TEST(contains(compare_in({80}, chosen).out, "mean rel"));
}

BOOST_AUTO_TEST_CASE(the_tables_of_a_preset_fit) {
  const Outcome outcome = compare_in(
      {80}, {"--preset", "report", "--backend", "reference", "--sizes", "8,16,24,32,40,48", "--repeat", "1"});
  BOOST_TEST(outcome.status == 0);
  expect_fits(outcome.out, 80);
  BOOST_TEST(lines_with(outcome.out, "48×48×48") >= 2u); // in the second part of both tables
}

BOOST_AUTO_TEST_CASE(the_progress_bar_takes_one_line) {
  const Outcome outcome =
      compare_in({40, true}, {"--backend", "reference", "--kernels", "gold", "--sizes", "200", "--repeat", "3"});
  BOOST_TEST(outcome.status == 0);
  std::string text = outcome.err;
  BOOST_TEST(contains(text, " %"));
  std::replace(text.begin(), text.end(), '\r', '\n');
  for (std::size_t at = 0; (at = text.find("\x1b[K")) != std::string::npos;) text.erase(at, 3);
  expect_fits(text, 39);
}

BOOST_AUTO_TEST_SUITE_END()

BOOST_AUTO_TEST_CASE(a_pipe_gets_every_column_and_no_bar) {
  Variables variables = unicode;
  variables.emplace_back("COLUMNS", "40");
  const Outcome outcome = compare({"--backend", "reference", "--sizes", "20", "--repeat", "2"}, variables);
  const std::string headings = line_from(outcome.out, "backend");
  for (const char* heading : {"kernel", "thr", "median", "spread", "GFLOP/s", "speed-up", "Σ|Δ|", "max rel", "mean rel",
                              "max u", "max/bound", "differ", "verdict"})
    BOOST_TEST(contains(headings, heading), headings);
  BOOST_TEST(!contains(outcome.out, "█"));
  BOOST_TEST(!contains(outcome.out, "\x1b"));
}

BOOST_AUTO_TEST_CASE(columns_that_are_chosen) {
  const Outcome outcome = compare({"--backend", "reference", "--kernels", "gold", "--sizes", "20", "--repeat", "1",
                                   "--width", "20", "--columns", "rows_compared,kernel,verdict,bar"},
                                  unicode);
  BOOST_TEST(outcome.status == 0);
  BOOST_TEST(line_from(outcome.out, "rows_compared") == "rows_compared  kernel  verdict  ");
  BOOST_TEST(line_from(outcome.out, "           20") == "           20  gold    pass     ████████████████████████");
}

BOOST_AUTO_TEST_CASE(columns_and_widths_that_are_wrong) {
  expect_usage_error(compare({"--columns", "kernle,gflops"}),
                     {"--columns", "'kernle'", "'kernel'", "gflops", "reason"});
  expect_usage_error(compare({"--columns", "kernel,gflops,kernel"}), {"--columns", "kernel is named twice"});
  expect_usage_error(compare({"--columns", ","}), {"--columns"});
  expect_usage_error(compare({"--width", "wide"}), {"--width", "wide"});
  expect_usage_error(compare({"--width", "-1"}), {"--width", "-1"});
  expect_usage_error(compare({"--columns", "kernel", "--json", "-"}), {"--columns", "does not print"});
  expect_usage_error(compare({"--list", "--width", "80"}), {"--width", "does not print"});
  expect_usage_error(compare({"tune", "--columns", "kernel"}), {"--columns", "does not print"});
}

BOOST_AUTO_TEST_CASE(help_names_the_columns) {
  const Outcome help = compare({"--help"});
  for (const char* part : {"kernel *", "max_over_bound", "max/bound", "rows_compared", "--columns", "--width"})
    BOOST_TEST(contains(help.out, part), part);
}

/// Threads would give way to the width, but here they are what tells the entries apart.
BOOST_AUTO_TEST_CASE(a_column_that_tells_entries_apart_stays) {
  const std::vector<std::string> one{"--cpu",   "--kernels", "simd",    "--sizes", "20",        "--repeat", "1",
                                     "--cblas", "none",      "--width", "60",      "--threads", "1"};
  const Outcome alone = compare(one);
  if (alone.status == 2) return; // a build without backends of the processor
  BOOST_TEST(!contains(line_from(alone.out, "backend"), "thr"), alone.out);
  std::vector<std::string> two = one;
  two.back() = "1,2";
  const Outcome both = compare(two);
  BOOST_TEST(contains(line_from(both.out, "backend"), "thr"), both.out);
  BOOST_TEST(contains(both.out, "simd with "), both.out);
}

BOOST_AUTO_TEST_CASE(entries_that_did_not_run_are_one_line) {
  const Outcome outcome = on_odd_device({"--kernels", "fine,refusing", "--sizes", "20", "--json", "out.json"});
  BOOST_TEST(outcome.status == 0);
  const json refusing = result_of(json::parse(folder.read("out.json")), "refusing");
  const std::string line = "not run: refusing (cuda): " + refusing["reason"].get<std::string>();
  BOOST_TEST(lines_with(outcome.out, "refusing") == 2u, outcome.out); // below the table, and at the end
  BOOST_TEST(line_from(outcome.out, "not run") == line);
  BOOST_TEST(contains(outcome.out, "\n  " + line), outcome.out);
}

BOOST_AUTO_TEST_CASE(skipped_entries_share_a_line) {
  const Outcome outcome = compare(
      {"--backend", "reference", "--sizes", "8,300", "--repeat", "1", "--time-limit", "1e-4", "--json", "out.json"});
  const json document = json::parse(folder.read("out.json"));
  double longest = 0;
  for (const json& entry : document["results"])
    if (entry["verdict"] == "skipped") {
      BOOST_TEST(contains(entry["reason"].get<std::string>(), "one run takes about"));
      longest = std::max(longest, std::stod(entry["reason"].get<std::string>().substr(20)));
    }
  const std::string line = line_from(outcome.out, "skipped: gold (reference), canonical (reference): ");
  BOOST_TEST(contains(line, fmt::format("about {:.3g} s at most; --time-limit", longest)), line);
}

BOOST_AUTO_TEST_CASE(a_remark_on_every_entry_is_one_line) {
  const Outcome outcome = compare(
      {"--backend", "reference", "--math", "strict,tf32", "--sizes", "60", "--check-rows", "7", "--repeat", "1"});
  BOOST_TEST(contains(line_from(outcome.out, "note: "), "all 3 entries that passed: checked 7 of 60 rows"),
             outcome.out);
}

BOOST_AUTO_TEST_CASE(a_failure_says_why_below_the_table) {
  const Outcome outcome = on_odd_device({"--kernels", "fine,off_by_one,failing", "--sizes", "20", "--width", "70"});
  BOOST_TEST(outcome.status == 1);
  BOOST_TEST(line_from(outcome.out, "cuda     off_by_one").ends_with("  wrong"));
  BOOST_TEST(contains(outcome.out, "\nwrong: off_by_one (cuda): "));
  BOOST_TEST(contains(outcome.out, "\nfailed: failing (cuda): "));
  BOOST_TEST(contains(outcome.out, "not right: cuda failing (failed) at 20×20×20, cuda"));
  expect_fits(outcome.out.substr(0, outcome.out.find("to see it again")), 70);
}

BOOST_AUTO_TEST_CASE(long_names_are_cut_where_nothing_else_gives_way) {
  const Outcome narrow = on_odd_device({"--sizes", "8", "--width", "56"}, {{"ODD_DEVICE_IS_RUDE", "1"}});
  BOOST_TEST(contains(narrow.out, "rude\\x1b]"), narrow.out);
  BOOST_TEST(contains(narrow.out, "… "), narrow.out);
  expect_fits(narrow.out, 56);
}

BOOST_AUTO_TEST_CASE(the_last_lines_say_what_the_document_has) {
  const Outcome outcome =
      compare({"--cpu", "--sizes", "40,33", "--cblas", "none", "--repeat", "2", "--json", "out.json"});
  BOOST_TEST(outcome.status == 0);
  const json document = json::parse(folder.read("out.json"));
  int checked = 0, within = 0, same = 0;
  for (const json& entry : document["results"]) {
    if (entry["error"].is_null()) continue;
    ++checked;
    within += entry["error"]["max_over_bound"] <= 1.0 && entry["error"]["misplaced"] == 0 ? 1 : 0;
    same += entry["error"]["differing_bits"] == 0 ? 1 : 0;
  }
  BOOST_TEST(line_from(outcome.out, "  errors: ") ==
             fmt::format("  errors: {} of {} checked entries are within their bound, and {} have the contract's bits",
                         within, checked, same));
  for (const std::string backend : {"reference", "openmp", "tbb"}) {
    const json fastest = fastest_of(document, backend, false);
    if (fastest.is_null()) continue;
    const std::string line = line_from(outcome.out, "  " + backend + " f32: the fastest strict kernel is ");
    BOOST_TEST(contains(line, "kernel is " + speed_text(fastest)), line);
    BOOST_TEST(contains(line, speed_text(fastest_of(document, backend, true))), line);
  }
}

BOOST_AUTO_TEST_SUITE_END()

} // namespace tessera::test
