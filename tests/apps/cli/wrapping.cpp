/// Tests that --help, --list and tessera_info fit a terminal, and that each record is one line elsewhere.

#include <algorithm>
#include <boost/test/unit_test.hpp>
#include <sstream>

#include "support/process.hpp"

namespace tessera::test {

namespace {

std::vector<std::string> lines_in(const std::string& text) {
  std::istringstream stream(text);
  std::vector<std::string> lines;
  for (std::string line; std::getline(stream, line);) lines.push_back(line);
  return lines;
}

std::size_t columns_of(const std::string& line) {
  return static_cast<std::size_t>(
      std::count_if(line.begin(), line.end(), [](char c) { return (static_cast<unsigned char>(c) & 0xC0u) != 0x80u; }));
}

std::size_t longest_in(const std::string& text) {
  std::size_t longest = 0;
  for (const std::string& line : lines_in(text)) longest = std::max(longest, columns_of(line));
  return longest;
}

/// Returns the words of a text, which wrapping must not change.
std::vector<std::string> words_in(const std::string& text) {
  std::istringstream stream(text);
  return {std::istream_iterator<std::string>(stream), {}};
}

} // namespace

BOOST_FIXTURE_TEST_SUITE(wrapping, Programs, *boost::unit_test::precondition(there_are_terminals))

BOOST_AUTO_TEST_CASE(help_fits) {
  constexpr unsigned short widths[]{60, 80, 120};
  for (const unsigned short width : widths) {
    BOOST_TEST(longest_in(compare_in({width}, {"--help"}).out) <= width);
    BOOST_TEST(longest_in(compare_in({width}, {"tune", "--help"}).out) <= width);
    BOOST_TEST(longest_in(info_in({width}, {"--help"}).out) <= width);
  }
  const std::string help = compare({"--help"}).out;
  BOOST_TEST(longest_in(help) <= 100u); // where stdout is no terminal
  BOOST_TEST(longest_in(bench({"peers", "--help"}).out) <= 100u);
  BOOST_TEST(words_in(help) == words_in(compare_in({60}, {"--help"}).out), boost::test_tools::per_element());
}

BOOST_AUTO_TEST_CASE(what_goes_on_in_the_next_line_stands_below_its_column) {
  const std::vector<std::string> lines = lines_in(compare_in({80}, {"--help"}).out);
  const auto at =
      std::find_if(lines.begin(), lines.end(), [](const auto& line) { return line.starts_with("  --dtype"); });
  BOOST_REQUIRE(at != lines.end());
  const std::size_t column = at->find("f32");
  BOOST_TEST((at + 1)->find_first_not_of(' ') == column, *at << '\n' << *(at + 1));
}

BOOST_AUTO_TEST_CASE(lists_fit) {
  const std::string whole = compare({"--list"}).out;
  constexpr unsigned short widths[]{60, 80, 140};
  for (const unsigned short width : widths) {
    const std::string shown = compare_in({width}, {"--list"}).out;
    BOOST_TEST(longest_in(shown) <= width);
    BOOST_TEST(words_in(shown).size() >= words_in(whole).size()); // a long word may be cut in two
  }
  BOOST_TEST(longest_in(compare_in({80}, {"--preset", "course", "--list"}).out) <= 80u);
  // A record is one line in a file.
  const std::vector<std::string> lines = lines_in(whole);
  const auto rung = [](const std::string& line) {
    return line.starts_with("  gemm ") && contains(line, " canonical ");
  };
  BOOST_TEST(std::count_if(lines.begin(), lines.end(), rung) > 0);
  for (const std::string& line : lines)
    if (rung(line)) BOOST_TEST(line.ends_with("]"), line);
}

BOOST_AUTO_TEST_CASE(what_the_machine_has_is_one_screen) {
  const std::string shown = info_in({80}, {}).out;
  BOOST_TEST(longest_in(shown) <= 80u);
  BOOST_TEST(lines_in(shown).size() <= 40u, shown);
  for (const char* part :
       {"Processor", "Threads", "Cache L1", "reference", "openmp", "tbb", "cuda", "--all lists them"})
    BOOST_TEST(contains(shown, part), part);
  BOOST_TEST(!contains(shown, "gold"));
  const std::string all = info_in({80}, {"--all"}).out;
  BOOST_TEST(longest_in(all) <= 80u);
  BOOST_TEST(contains(all, "gold"));
  BOOST_TEST(contains(all, "Kernels of reference, best first"));
  const std::string without = info({"--no-kernels"}).out;
  BOOST_TEST(!contains(without, "ernels"));
  for (const char* part : {"Processor", "Backends", "reference"}) BOOST_TEST(contains(without, part), part);
  expect_usage_error(info({"--all", "--no-kernels"}), {"--no-kernels", "--all"});
}

BOOST_AUTO_TEST_SUITE_END()

} // namespace tessera::test
