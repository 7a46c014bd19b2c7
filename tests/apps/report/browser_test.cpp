/// Tests the page in headless Chromium: what a person should see is there, has the right size, and works.

#include <boost/test/unit_test.hpp>

#include <cstdio>
#include <fstream>
#include <sstream>

#include "chromium.hpp"
#include "documents.hpp"
#include "report/html_report.hpp"

using namespace tessera::report;
using namespace tessera::report::testing;

namespace {

std::string probed_page(const Json& document, const char* probe_file) {
  std::ostringstream probe;
  probe << std::ifstream(probe_file).rdbuf();
  std::string page = html_report(document);
  page.insert(page.find("</body>"), "<script>" + probe.str() + "</script>");
  return page;
}

/// Returns what a probe found. If it found nothing, a check fails with the browser's messages.
Json look_at(const std::string& page, const std::vector<std::string>& options) {
  const Visit seen = visit(*find_chromium(), page, options);
  BOOST_TEST(seen.status == 0);
  BOOST_TEST(seen.console == "");
  const std::string begin = "<pre id=\"found\">";
  const std::size_t at = seen.dom.find(begin);
  BOOST_REQUIRE_MESSAGE(at != std::string::npos, "the probe left nothing; console: " + seen.console);
  const std::size_t from = at + begin.size();
  return Json::parse(seen.dom.substr(from, seen.dom.find("</pre>", from) - from));
}

/// Returns what the probe found on the page of a full run.
Json look(const std::vector<std::string>& options) { return look_at(probed_page(full_run(), TESSERA_PROBE), options); }

/// Returns what the probe found on a page with one chart in each section and with folded modes.
Json look_at_modes(const std::vector<std::string>& options) {
  return look_at(probed_page(run_of_modes(), TESSERA_LAYOUT_PROBE), options);
}

void check_marks(const Json& found) {
  BOOST_TEST(found["marks"]["ladder"] == 30); // The marks belong to the product that is shown.
  BOOST_TEST(found["marks"]["size"] == 300);
  BOOST_TEST(found["marks"]["roofline"] == 300);
  BOOST_TEST(found["marks"]["error"] == 60);
  BOOST_TEST(found["marks"]["offload"] == 30);
  BOOST_TEST(found["marks"]["grades"] == 30);
  BOOST_TEST(found["rows"] == 320);
}

boost::test_tools::assertion_result there_is_a_chromium(boost::unit_test::test_unit_id) {
  boost::test_tools::assertion_result found(find_chromium().has_value());
  if (!found) found.message() << "no chromium on PATH (Debian package chromium)";
  return found;
}

} // namespace

BOOST_AUTO_TEST_SUITE(browser, *boost::unit_test::precondition(there_is_a_chromium))

BOOST_AUTO_TEST_CASE(on_a_desk) {
  const Json found = look({"--window-size=1280,900"});
  check_marks(found);
  BOOST_TEST(found["bar_scales"][0].get<double>() == found["bar_scales"][1].get<double>(),
             boost::test_tools::tolerance(0.02));
  BOOST_TEST(found["time_slope"].get<double>() < 0); // More time is higher up.
  BOOST_TEST(found["time_off_line"].get<double>() < 0.5);
  BOOST_TEST(found["too_wide"] <= 0);
  BOOST_TEST(!found["dark"].get<bool>());
}

BOOST_AUTO_TEST_CASE(the_table_sorts_and_filters) {
  const Json found = look({"--window-size=1280,900"});
  BOOST_TEST(found["sorted_up"].get<bool>());
  BOOST_TEST(found["sorted_down"].get<bool>());
  BOOST_TEST(found["unknown_last"].get<bool>());
  BOOST_TEST(found["rows_named"] == 10);
  BOOST_TEST(found["rows_wrong"] == 1);
  BOOST_TEST(found["count_text"] == "1 of 320 rows");
  BOOST_TEST(found["rows_again"] == 320);
  BOOST_TEST(found["first_product"] == Json::array({"f32, 256³"}));
}

BOOST_AUTO_TEST_CASE(on_a_phone) {
  const Json found = look({"--window-size=390,844"});
  check_marks(found);
  BOOST_TEST(found["too_wide"] <= 0); // Nothing makes the page scroll sideways.
  BOOST_TEST(found["smallest_text"].get<double>() >= 8);
}

BOOST_AUTO_TEST_CASE(a_lone_chart_takes_the_width_of_the_page) {
  for (const char* width : {"--window-size=1280,900", "--window-size=400,844"}) {
    const Json found = look_at_modes({width});
    for (const char* id : {"size", "error", "roofline"}) {
      BOOST_TEST(found[id]["charts"] == 1, id << " at " << width);
      BOOST_TEST(found[id]["share"].get<double>() > 0.9, id << " at " << width);
    }
    BOOST_TEST(found["too_wide"] <= 0);
    BOOST_TEST(found["text_heights"][0].get<double>() >= 8);
    BOOST_TEST(found["text_heights"][1].get<double>() <= 20); // A narrow chart is not blown up to a wide one.
  }
}

BOOST_AUTO_TEST_CASE(bars_share_a_scale_until_the_reader_asks_for_others) {
  const Json found = look_at_modes({"--window-size=1280,900"});
  BOOST_TEST(found["bars_folded"] == 2); // the strict ones
  BOOST_TEST(found["scales"][0].get<double>() == found["scales"][1].get<double>(), boost::test_tools::tolerance(0.02));
  BOOST_TEST(found["own_scales"][1].get<double>() > 1000 * found["own_scales"][0].get<double>());
  BOOST_TEST(found["shortest_list"].get<double>() > 0.9); // The best bar of each list nearly fills its width.
}

BOOST_AUTO_TEST_CASE(in_the_dark) {
  const Json light = look({});
  const Json dark = look({"--blink-settings=preferredColorScheme=0"});
  BOOST_TEST(dark["dark"].get<bool>());
  BOOST_TEST(dark["background"] != light["background"]);
}

/// What a browser does before it shows a page grows with the page's elements, which are the same on every machine. A
/// clock would measure the other programs of the machine as well.
BOOST_AUTO_TEST_CASE(it_opens_quickly) {
  const Json found = look({});
  BOOST_TEST_MESSAGE("load event after " << found["load_ms"] << " ms, " << found["elements"] << " elements");
  BOOST_TEST(found["elements"].get<int>() < 20000);
}

BOOST_AUTO_TEST_SUITE_END()
