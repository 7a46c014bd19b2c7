/// What the page makes of a run of several modes: which entries come first, on which scale, and with which names.

#include <algorithm>
#include <cstdlib>

#include <boost/test/unit_test.hpp>

#include "documents.hpp"
#include "report/charts/panels.hpp"
#include "report/html_report.hpp"
#include "report/markdown_report.hpp"

using namespace tessera::report;
using namespace tessera::report::testing;

namespace {

const std::string& page_of_modes() {
  static const std::string page = html_report(run_of_modes());
  return page;
}

/// Returns the panel of the product 256³.
std::string bars_of_modes() {
  const std::string ladder = section(page_of_modes(), "ladder");
  const std::size_t begin = ladder.find("data-product=\"1\"");
  BOOST_REQUIRE(begin != std::string::npos);
  return ladder.substr(begin);
}

/// Returns the percentage that the bar of this speed takes.
double bar_width(const std::string& ladder, const std::string& speed) {
  const std::string start = "data-v=\"" + speed + "\" width=\"";
  const std::size_t at = ladder.find(start);
  BOOST_REQUIRE_MESSAGE(at != std::string::npos, "no bar of " << speed << " in " << ladder);
  return std::atof(ladder.c_str() + at + start.size());
}

} // namespace

BOOST_AUTO_TEST_CASE(strict_entries_come_first_and_other_modes_are_folded) {
  const std::string ladder = bars_of_modes();
  const std::size_t fold = ladder.find("<details");
  BOOST_REQUIRE(fold != std::string::npos);
  BOOST_TEST(ladder.find("openmp, strict") < fold);
  for (const char* list : {"openmp, tf32", "openmp, compensated"}) BOOST_TEST(ladder.find(list) > fold, list);
  BOOST_TEST(says(ladder, "<summary>Other modes: tf32, compensated (the fastest 10.0 GFLOP/s)</summary>"));
  Json alone = run_of_modes();
  Json& entries = alone["results"];
  for (auto entry = entries.begin(); entry != entries.end();)
    entry = (*entry)["math"] == "strict" ? entries.erase(entry) : entry + 1;
  const std::string page = html_report(alone);
  BOOST_TEST(!says(page, "<details class=\"folded\"")); // there is nothing else to see
  BOOST_TEST(count(section(page, "ladder"), "class=\"mark bar\"") == 4);
}

BOOST_AUTO_TEST_CASE(a_product_has_one_scale) {
  const std::string ladder = bars_of_modes();
  const double fast = bar_width(ladder, "100");
  BOOST_TEST(fast > 90);
  BOOST_TEST(bar_width(ladder, "10") == fast / 10, boost::test_tools::tolerance(1e-4));
  BOOST_TEST(bar_width(ladder, "0.04") == fast * 0.0004, boost::test_tools::tolerance(1e-2));
  BOOST_TEST(count(ladder, "class=\"one-scale\"") == 1);
  BOOST_TEST(count(ladder, "--stretch:2500") == 1); // what the checkbox stretches the model's bar by
  BOOST_TEST(says(section(page_of_modes(), "ladder"), "id=\"own-scales\""));
  BOOST_TEST(!says(section(html_report(document({passed("simd", 64, 1)})), "ladder"), "id=\"own-scales\""));
}

BOOST_AUTO_TEST_CASE(lists_have_scales_of_their_own_where_strict_bars_would_be_too_short) {
  const auto beside_units = [](double strict_speed) {
    const Json strict = with(passed("simd", 64, 1), {{"gflops", strict_speed}});
    const Json units = with(passed("units", 64, 1), {{"math", "tf32"}, {"gflops", 800}});
    return section(html_report(document({strict, units})), "ladder");
  };
  BOOST_TEST(says(beside_units(50), "id=\"own-scales\" checked"));
  BOOST_TEST(says(beside_units(200), "id=\"own-scales\">"));
}

BOOST_AUTO_TEST_CASE(names_in_charts_carry_the_mode) {
  for (const char* id : {"size", "error", "roofline"})
    BOOST_TEST(says(section(page_of_modes(), id), ">simd</text>"), id);
  for (const char* id : {"size", "error"}) {
    BOOST_TEST(says(section(page_of_modes(), id), ">model, tf32</text>"), id);
    BOOST_TEST(says(section(page_of_modes(), id), ">exact, compensated</text>"), id);
  }
  const Json named = with(passed("wgmma_tf32", 64, 1), {{"math", "tf32"}});
  const Run run = read_run(document({named}));
  BOOST_TEST(run.label_with_mode(run.entries.front()) == "wgmma_tf32"); // the name says it
}

BOOST_AUTO_TEST_CASE(kernels_of_the_contract_are_marked_in_every_report) {
  const std::string table = section(page_of_modes(), "table");
  BOOST_TEST(count(table, ">simd<i> ≡</i></th>") == 2);
  BOOST_TEST(count(table, ">tiled</th>") == 2);
  const std::string markdown = markdown_report(run_of_modes());
  BOOST_TEST(count(markdown, "| **simd** ≡ |") == 2);
  BOOST_TEST(count(markdown, "| tiled |") == 2);
}

BOOST_AUTO_TEST_CASE(the_last_chart_of_an_odd_number_is_as_wide_as_the_page) {
  std::vector<double> widths;
  const Panel panel{"name", [&](double width) { return widths.push_back(width), std::string("<svg/>"); }, ""};
  const std::string two = laid_out({panel, panel});
  BOOST_TEST(widths == (std::vector<double>{panel_width, panel_width}), boost::test_tools::per_element());
  BOOST_TEST(count(two, "<figure>") == 2);
  widths.clear();
  const std::string three = laid_out({panel, panel, panel});
  BOOST_TEST(count(three, "<figure class=\"whole\">") == 1);
  BOOST_TEST(count(three, "on-wide") == 1);
  BOOST_TEST(widths.size() == 4u);
  BOOST_TEST(std::count(widths.begin(), widths.end(), page_width) == 1);
}
