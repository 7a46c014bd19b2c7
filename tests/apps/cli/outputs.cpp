/// Tests that a program says when its results cannot be written, and that text of kernels does nothing on a terminal.

#include <boost/test/unit_test.hpp>

#include <nlohmann/json.hpp>

#include "support/process.hpp"

namespace tessera::test {

using nlohmann::json;

namespace {

const std::vector<std::string> small_product{"--backend", "reference", "--sizes", "8", "--repeat", "1"};

struct Outputs : Programs {
  /// Runs a program whose stdout is a full disk.
  Outcome on_full_disk(const std::string& program, const std::vector<std::string>& arguments) const {
    std::vector<std::string> words{"-c", "exec \"$@\" > /dev/full", "sh", program};
    words.insert(words.end(), arguments.begin(), arguments.end());
    return Process("/bin/sh", words, folder.path()).wait();
  }
  /// odd_device with a kernel whose name, summary and reason hold what a terminal or Markdown would act on.
  Outcome rude(std::vector<std::string> arguments) const {
    arguments.insert(arguments.begin(), {"--backend", "cuda"});
    return compare(arguments, {{"TESSERA_PLUGIN_PATH", TESSERA_ODD_DEVICE_FOLDER}, {"ODD_DEVICE_IS_RUDE", "1"}});
  }
};

void expect_full(const Outcome& outcome) {
  BOOST_TEST(outcome.status == 2, outcome.err);
  BOOST_TEST(contains(outcome.err, "No space left on device"), outcome.err);
}

void expect_harmless(const std::string& text) {
  for (const char* part : {"\x1b", "\x07", "\xff", "\r"}) BOOST_TEST(!contains(text, part), text);
  BOOST_TEST(contains(text, "rude"), text);
}

} // namespace

BOOST_FIXTURE_TEST_SUITE(outputs, Outputs)

BOOST_AUTO_TEST_CASE(tables_on_a_full_disk) {
  const std::string compare_program = TESSERA_GEMM_COMPARE, info_program = TESSERA_INFO, bench = TESSERA_BENCH;
  expect_full(on_full_disk(compare_program, small_product));
  expect_full(on_full_disk(compare_program, {"--list"}));
  expect_full(on_full_disk(compare_program, {"--help"}));
  expect_full(on_full_disk(info_program, {}));
  expect_full(on_full_disk(info_program, {"--json"}));
  expect_full(on_full_disk(bench, {"peers", "--shapes", "8x8x8", "--dtype", "f32", "--threads", "1", "--rounds", "1",
                                   "--sample-ms", "0.01"}));
}

BOOST_AUTO_TEST_CASE(reports_on_a_full_disk) {
  for (const char* option : {"--json", "--csv", "--markdown"}) {
    std::vector<std::string> arguments = small_product;
    arguments.insert(arguments.end(), {option, "-"});
    expect_full(on_full_disk(TESSERA_GEMM_COMPARE, arguments));
  }
  for (const char* option : {"--json", "--csv", "--html", "--markdown"}) {
    std::vector<std::string> arguments = small_product;
    arguments.insert(arguments.end(), {option, "/dev/full"});
    expect_full(compare(arguments));
  }
  folder.write("a.npy", npy_bytes<float>("<f4", false, "(1, 1)", {2}));
  expect_full(compare({"--backend", "reference", "--a", "a.npy", "--b", "a.npy", "--out", "/dev/full"}));
  expect_full(info({"--json", "/dev/full"}));
}

BOOST_AUTO_TEST_CASE(names_that_are_empty) {
  for (const char* option : {"--json", "--csv", "--html", "--markdown", "--out", "--a", "--report", "--kernels"}) {
    std::vector<std::string> arguments = small_product;
    arguments.insert(arguments.end(), {option, ""});
    expect_usage_error(compare(arguments), {option, "empty"});
  }
  expect_usage_error(compare({"--json="}), {"--json=", "no value"});
  expect_usage_error(info({"--json", ""}), {"--json", "empty"});
  expect_usage_error(bench({"peers", "--json", ""}), {"--json", "empty"});
}

BOOST_AUTO_TEST_CASE(text_of_kernels_does_nothing_on_a_terminal) {
  const Outcome table =
      rude({"--sizes", "8", "--errors", "--json", "out.json", "--markdown", "out.md", "--csv", "out.csv"});
  expect_harmless(table.out);
  BOOST_TEST(contains(table.out, "rude\\x1b]0;title\\x07\\xff|`\\n"), table.out);
  BOOST_TEST(contains(table.out, "a bad mood\\x1b[2J"), table.out);
  expect_harmless(rude({"--list"}).out);
  BOOST_TEST(contains(rude({"--kernels", "rude*", "--sizes", "8"}).out, "rude"));
  const json report = json::parse(folder.read("out.json")); // data stays what it is, except for bytes that are no UTF-8
  BOOST_TEST(report["results"].dump().find("rude\\u001b]0;title\\u0007\uFFFD|`\\n") != std::string::npos);
  const std::string markdown = folder.read("out.md");
  expect_harmless(markdown);
  BOOST_TEST(contains(markdown, "rude\\\\x1b\\]0;title\\\\x07\uFFFD\\|\\` "), markdown);
  expect_harmless(folder.read("out.csv"));
  BOOST_TEST(json::parse(rude({"--list", "--json", "-"}).out)["kernels"].dump().find("rude") != std::string::npos);
  const Outcome information =
      info({"--all"}, {{"TESSERA_PLUGIN_PATH", TESSERA_ODD_DEVICE_FOLDER}, {"ODD_DEVICE_IS_RUDE", "1"}});
  expect_harmless(information.out);
}

BOOST_AUTO_TEST_SUITE_END()

} // namespace tessera::test
