#include <boost/test/unit_test.hpp>

#include <cstdlib>

#include "documents.hpp"
#include "report/charts/plot.hpp"
#include "report/format.hpp"
#include "report/html_report.hpp"
#include "report/markdown_report.hpp"

using namespace tessera::report;
using namespace tessera::report::testing;

namespace {

const std::string& full_page() {
  static const std::string page = html_report(full_run());
  return page;
}

std::string page_of(const Json& entry) { return html_report(document({entry})); }

/// Returns the number right after `words`. A check fails if the text does not hold them.
double number_after(const std::string& text, const std::string& words) {
  const std::size_t at = text.find(words);
  BOOST_REQUIRE_MESSAGE(at != std::string::npos, "no \"" << words << "\" in " << text);
  return std::atof(text.c_str() + at + words.size());
}

} // namespace

BOOST_AUTO_TEST_CASE(every_chart_has_a_mark_for_each_row_it_is_about) {
  // 2 types × 5 sizes × (2 × 8 + 14) kernels, and two transfers each
  BOOST_TEST(count(section(full_page(), "ladder"), "class=\"mark bar\"") == 300);
  BOOST_TEST(count(section(full_page(), "size"), "<path class=\"mark ") == 300);
  BOOST_TEST(count(section(full_page(), "size"), "<path class=\"line ") == 60);
  BOOST_TEST(count(section(full_page(), "roofline"), "<path class=\"mark ") == 300);
  BOOST_TEST(count(section(full_page(), "error"), "<path class=\"mark ") == 60);
  BOOST_TEST(count(section(full_page(), "offload"), "<path class=\"mark ") == 30);
  BOOST_TEST(count(section(full_page(), "grades"), "<path class=\"mark ") == 30); // Each type has three classes.
  BOOST_TEST(count(section(full_page(), "table"), "<tr><td") == 320);
}

BOOST_AUTO_TEST_CASE(entries_of_operations_are_ranked_by_their_bandwidth) {
  const Json fast = with(passed("copy", 1, 1), {{"op", "copy"},
                                                {"backend", "tbb"},
                                                {"n", 999},
                                                {"sizes", 1},
                                                {"gflops", nullptr},
                                                {"gbytes_per_second", 2500.0},
                                                {"ceiling_gbytes_per_second", 3000.0},
                                                {"ceiling_percent", 80.0}});
  const Json slow = with(fast, {{"backend", "openmp"}, {"gbytes_per_second", 24.0}});
  const Run run = read_run(document({slow, fast}));
  BOOST_TEST(run.entries[0].speed() == 24.0);
  BOOST_TEST(speed_text(run.entries[1]) == "2.50 TB/s");
  BOOST_TEST(product_text(run.entries[0]) == "999 elements");
  BOOST_TEST(sizes_text(run.entries[0]) == "n = 999");
  const std::string page = html_report(document({slow, fast}));
  BOOST_TEST(count(page, "Operations: how fast, how wrong") > 0);
  BOOST_TEST(count(page, "class=\"one-scale\">full width 3.12 TB/s") == 1); // the ceiling: 2500 are 80 % of it
  BOOST_TEST(count(page, "class=\"own-scale\">full width 30.0 GB/s") == 1);
  BOOST_TEST(count(page, "24.0 GB/s") > 0);
  const std::string markdown = markdown_report(document({slow, fast}));
  BOOST_TEST(count(markdown, "| tbb | **copy** ≡ |") == 1);
  BOOST_TEST(count(markdown, " GB/s | ceiling |") > 0);
  BOOST_TEST(count(markdown_report(document({passed("simd", 64, 1)})), " GB/s |") == 0);
}

BOOST_AUTO_TEST_CASE(a_full_run_is_one_page_below_a_megabyte) {
  BOOST_TEST(full_page().size() < 1'000'000);
  for (const char* outside : {"src=", "href=", "@import", "url(", "fetch(", "XMLHttpRequest"})
    BOOST_TEST(!says(full_page(), outside), outside);
}

BOOST_AUTO_TEST_CASE(a_bar_is_as_long_as_the_row_is_fast) {
  const Json slow = with(passed("slow", 64, 1), {{"gflops", 25.0}, {"ceiling_percent", 25.0}});
  const Json fast = with(passed("fast", 64, 1), {{"gflops", 50.0}, {"ceiling_percent", 50.0}});
  const std::string ladder = section(html_report(document({slow, fast})), "ladder");
  BOOST_TEST(says(ladder, "data-v=\"25\" width=\"25.0000%\"")); // of the ceiling, 100 GFLOP/s
  BOOST_TEST(says(ladder, "data-v=\"50\" width=\"50.0000%\""));
  BOOST_TEST(says(ladder, "full width 100 GFLOP/s"));
}

BOOST_AUTO_TEST_CASE(the_table_has_the_error_in_units_of_the_roundoff) {
  Json entry = passed("simd", 64, 1);
  BOOST_TEST(
      !says(section(html_report(document({entry})), "table"), "data-s=\"12.5\"")); // Older reports lack the number.
  entry["error"]["componentwise"] = 12.5;
  BOOST_TEST(says(section(html_report(document({entry})), "table"), "<td data-s=\"12.5\">12.5</td></tr>"));
}

BOOST_AUTO_TEST_CASE(the_table_has_resources_where_a_row_has_them) {
  Json entry = passed("simd", 64, 1);
  BOOST_TEST(!says(section(html_report(document({entry})), "table"), ">occupancy<"));
  entry["resources"] = {{"registers", 168}, {"occupancy_percent", 12.5}};
  const std::string table = section(html_report(document({entry})), "table");
  BOOST_TEST(says(table, ">occupancy<"));
  BOOST_TEST(says(table, "<td data-s=\"168\">168</td>"));
}

BOOST_AUTO_TEST_CASE(kernels_whose_errors_agree_are_one_line_of_the_grades) {
  const std::string grades = section(full_page(), "grades");
  BOOST_TEST(count(grades, "<tr><th scope=\"row\"") == 6);
  BOOST_TEST(count(grades, "<path class=\"line b-several\"") == 2); // openmp and tbb
  BOOST_TEST(count(grades, "<path class=\"line b-cuda\"") == 4);
  BOOST_TEST(says(grades,
                  "<summary>host_0 and 15 more</summary>openmp host_0, host_1, host_2, host_3, host_4, host_5, "
                  "host_6, host_7; tbb host_0,"));
  BOOST_TEST(count(grades, "class=\"good\">A</th>") == 4);
  BOOST_TEST(count(grades, "class=\"bad\">none</th>") == 2);
  BOOST_TEST(says(grades, "<td>1.50</td><td class=\"names\">cuda device_13</td>"));
  BOOST_TEST(says(grades, "<span>256: 8.00</span>"));
}

/// A kernel that was too slow for the largest size is listed with the kernels that it agrees with. A kernel that
/// differs at any size is not.
BOOST_AUTO_TEST_CASE(a_kernel_that_was_run_at_fewer_sizes_joins_those_it_agrees_with) {
  Json whole = document({});
  whole["grades"] = Json::parse(R"([
    {"backend": "openmp", "kernel": "slow", "threads": 2, "grade": "A", "slope": 0.1,
     "sizes": [{"n": 64, "componentwise": 1}, {"n": 128, "componentwise": 2}, {"n": 256, "componentwise": 3}]},
    {"backend": "openmp", "kernel": "fast", "threads": 2, "grade": "A", "slope": 0.2, "sizes": [
     {"n": 64, "componentwise": 1}, {"n": 128, "componentwise": 2}, {"n": 256, "componentwise": 3},
     {"n": 512, "componentwise": 4}]},
    {"backend": "openmp", "kernel": "other", "threads": 2, "grade": "A", "slope": 0.3,
     "sizes": [{"n": 64, "componentwise": 1}, {"n": 128, "componentwise": 2}, {"n": 256, "componentwise": 2.5}]}])");
  const std::string grades = section(html_report(whole), "grades");
  BOOST_TEST(count(grades, "<tr><th scope=\"row\"") == 2);
  BOOST_TEST(says(grades, "<td>0.20</td><td class=\"names\">openmp slow, fast</td>"));
  BOOST_TEST(says(grades, "<td>0.30</td><td class=\"names\">openmp other</td>"));
  // No sum of whole numbers rounds, so there is a table and no chart on a logarithmic axis.
  for (Json& grade : whole["grades"])
    for (Json& size : grade["sizes"]) size["componentwise"] = 0.0;
  const std::string exact = section(html_report(whole), "grades");
  BOOST_TEST(!says(exact, "<svg"));
  BOOST_TEST(says(exact, "<span>64: 0</span>"));
}

BOOST_AUTO_TEST_CASE(the_roof_is_what_the_percentages_were_taken_of) {
  const std::string roofline = section(full_page(), "roofline");
  BOOST_TEST(says(roofline, "strict: 100 GFLOP/s"));
  BOOST_TEST(says(roofline, "strict: 60.0 TFLOP/s"));
  // The memory limits this product: 8×8×8 does 1.33 operations a byte, so that 10 GFLOP/s are 7.5 GB/s.
  const Json bound = with(passed("simd", 8, 1), {{"gflops", 5.0}, {"ceiling_percent", 50.0}});
  const Json free = with(passed("simd", 4096, 1), {{"gflops", 50.0}, {"ceiling_percent", 50.0}});
  BOOST_TEST(says(section(html_report(document({bound, free})), "roofline"), "memory 7.50 GB/s"));
  // A backend that measured a lower peak is not taken for one that the memory limits.
  const Json low = with(free, {{"backend", "tbb"}, {"ceiling_percent", 100.0}});
  BOOST_TEST(!says(section(html_report(document({low, free})), "roofline"), "GB/s"));
}

BOOST_AUTO_TEST_CASE(measured_ceilings_are_the_roof) {
  Json whole = document({with(passed("simd", 64, 1e-4), {{"ceiling_percent", 50.0}})});
  whole["machine"]["ceilings"] = Json::parse(R"([
    {"device": "cpu", "dtype": "f32", "math": "strict", "threads": 2, "flops": 234e9, "bytes_per_second": 45e9,
     "caches": [{"level": 1, "bytes": 65536, "bytes_per_second": 363e9},
                {"level": 2, "bytes": 2097152, "bytes_per_second": 223e9}], "peaks": {"portable": 18e9, "avx2": 234e9}},
    {"device": "cpu", "dtype": "f64", "math": "strict", "threads": 2, "flops": 117e9, "bytes_per_second": 45e9,
     "caches": [], "peaks": {}}])");
  const std::string page = html_report(whole);
  const std::string roofline = section(page, "roofline");
  for (const char* part : {"strict: 234 GFLOP/s", "L1 363 GB/s", "L2 223 GB/s", "memory 45"})
    BOOST_TEST(says(roofline, part), part);
  BOOST_TEST(count(roofline, "class=\"line roof cache\"") ==
             4);                              // two caches, in the wide drawing and in the narrow one
  BOOST_TEST(!says(roofline, "117 GFLOP/s")); // No entry has that type.
  const std::string machine = section(page, "machine");
  for (const char* part : {"portable 18.0 GFLOP/s", "avx2 234 GFLOP/s", "L1 363, L2 223, memory 45", "117 GFLOP/s"})
    BOOST_TEST(says(machine, part), part);
  whole["machine"]["ceilings"] =
      Json::parse(R"([7, {"device": "cpu"}, {"device": "cpu", "dtype": "f32", "math": "strict",
    "threads": 2, "flops": 1e9, "bytes_per_second": "much", "caches": [{}], "peaks": 3}])");
  BOOST_TEST(says(section(html_report(whole), "roofline"), "strict: 1.00 GFLOP/s")); // Odd values are left out.
}

BOOST_AUTO_TEST_CASE(the_offload_threshold_is_where_the_curves_cross) {
  const std::string offload = section(full_page(), "offload");
  BOOST_TEST(std::abs(number_after(offload, "device already: the device is faster from <b>n ≈ ") - 396) < 8);
  BOOST_TEST(std::abs(number_after(offload, "in and out: the device is faster from <b>n ≈ ") - 597) < 12);
}

BOOST_AUTO_TEST_CASE(a_kernel_from_outside_counts_where_it_ran) {
  const auto external = [](const char* device, double seconds) {
    return with(passed("mine", 256, seconds), {{"backend", "external"}, {"device", device}});
  };
  const Json gpu = with(passed("cublas", 256, 1e-3), {{"backend", "cuda"}, {"threads", 0}});
  const Json host = passed("simd", 256, 2e-3);
  // The kernel is faster than all others. It is the device's best or the CPU's best and decides what the page says.
  const std::string on_gpu = section(html_report(document({host, with(gpu, {}), external("cuda", 1e-4)})), "offload");
  BOOST_TEST(says(on_gpu, "device, n = 256: 100 µs"));
  BOOST_TEST(says(on_gpu, "best on processor, n = 256: 2.00 ms"));
  const std::string on_host = section(html_report(document({host, with(gpu, {}), external("cpu", 1e-4)})), "offload");
  BOOST_TEST(says(on_host, "best on processor, n = 256: 100 µs"));
  BOOST_TEST(says(on_host, "the processor is faster at every size"));
  BOOST_TEST(count(on_gpu, "<figcaption>") == 1); // It does not count as another device.
}

BOOST_AUTO_TEST_CASE(no_chart_without_something_to_show) {
  const std::string page = page_of(passed("simd", 64, 1));
  BOOST_TEST(section(page, "size").empty());    // One size makes no curve.
  BOOST_TEST(section(page, "offload").empty()); // There is no device.
  BOOST_TEST(section(page, "failures").empty());
  BOOST_TEST(!section(page, "ladder").empty());
  const std::string empty = html_report(document({}));
  for (const char* id : {"ladder", "size", "offload", "roofline", "error", "grades"})
    BOOST_TEST(section(empty, id).empty());
  BOOST_TEST(says(section(empty, "table"), "0 rows"));
}

BOOST_AUTO_TEST_CASE(entries_without_numbers_do_not_break_the_charts) {
  const Json entry = passed("simd", 64, 1);
  const std::string page = html_report(document(
      {with(entry, {{"gflops", nullptr}, {"seconds", nullptr}, {"error", nullptr}, {"verdict", "rejected"}}),
       with(entry, {{"m", 0}, {"n", 0}, {"k", 0}, {"gflops", 0.0}}), with(entry, {{"ceiling_percent", nullptr}}),
       with(passed("exact", 64, 2), {{"error", {{"mean_rel", 0.0}, {"max_rel", 0.0}}}})}));
  for (const char* wrong : {"nan", "NaN", "inf\"", "-inf"}) BOOST_TEST(!says(section(page, "ladder"), wrong));
  for (const char* id : {"roofline", "error"})
    for (const char* before : {"\"", " ", "("})
      for (const char* wrong : {"nan", "-nan", "inf", "-inf"})
        BOOST_TEST(!says(section(page, id), before + std::string(wrong)));
  BOOST_TEST(count(section(page, "error"), "<path class=\"mark ") == 4); // two rows, wide and narrow
}

BOOST_AUTO_TEST_CASE(failing_entries_say_why_and_how_to_see_it_again) {
  const std::string failures = section(full_page(), "failures");
  BOOST_TEST(count(failures, "<li>") == 1);
  BOOST_TEST(says(failures, "gemm_compare --backend cuda --kernels device_9 --sizes 1024</code>"));
  BOOST_TEST(says(section(full_page(), "table"), "gemm_compare --backend cuda --kernels device_9 --sizes 1024</code>"));
  BOOST_TEST(says(section(full_page(), "summary"), "299 of 300"));
  BOOST_TEST(count(section(full_page(), "roofline"), " failing\"") == 1);
}

BOOST_AUTO_TEST_CASE(text_of_the_document_stays_text) {
  const std::string evil = "<script>alert('x')</script>\"><img onerror=1>&\x01";
  Json whole =
      document({with(passed(evil, 64, 1),
                     {{"backend", evil}, {"dtype", evil}, {"math", evil}, {"verdict", evil}, {"reason", evil}}),
                with(passed(evil, 128, 1), {{"verdict", evil}})});
  whole["machine"]["cpu"] = evil;
  whole["machine"][evil] = {{evil, evil}, {"list", {evil}}};
  whole["command"] = {evil};
  whole["missing_backends"] = {{{"backend", evil}, {"reason", evil}}};
  whole["grades"] = {{{"backend", evil},
                      {"kernel", evil},
                      {"dtype", evil},
                      {"math", evil},
                      {"grade", evil},
                      {"sizes", {{{"n", 8}, {"componentwise", 1.0}}, {{"n", 16}, {"componentwise", 1.5}}}}}};
  const std::string page = html_report(whole);
  BOOST_TEST(count(page, "<script>") == 1);
  BOOST_TEST(!says(page, "<img"));
  BOOST_TEST(!says(page, "\x01"));
  BOOST_TEST(!says(page, "x')"));
}

BOOST_AUTO_TEST_CASE(another_schema_is_refused) {
  Json whole = document({});
  whole["schema"] = "something";
  BOOST_CHECK_THROW(html_report(whole), DocumentError);
  BOOST_CHECK_THROW(markdown_report(whole), DocumentError);
}

BOOST_AUTO_TEST_CASE(markdown_has_a_table_for_each_product) {
  const std::string text = markdown_report(full_run());
  BOOST_TEST(count(text, "\n### ") == 12); // ten products, grades, and what fails
  BOOST_TEST(count(text, "\n| ") == 317);  // 300 rows and ten heads; six grades and a head
  BOOST_TEST(says(text, "### f32, 1024³\n"));
  BOOST_TEST(says(text, "| **device\\_13** ≡ |")); // the best
  BOOST_TEST(says(text, "| none | cuda device\\_13 | f32 | strict | 1.50 | 8.00 at 256, "));
  BOOST_TEST(says(text, "Again: `gemm_compare --backend cuda --kernels device_9 --sizes 1024`"));
}

BOOST_AUTO_TEST_CASE(markdown_cells_cannot_be_broken) {
  const std::string text = markdown_report(document({with(passed("a|b*`\n<c>", 64, 1), {{"verdict", "wrong"}})}));
  BOOST_TEST(says(text, "| a\\|b\\*\\` \\<c\\> ≡ |"));
  const Json rude = with(passed("simd", 64, 1), {{"verdict", "failed"}, {"reason", "\x1b[2J\r\u009b31m&lt;\u202e"}});
  const std::string shown = markdown_report(document({rude}));
  BOOST_TEST(says(shown, ", \\\\x1b\\[2J \\\\u{9b}31m\\&lt;\\\\u{202e}. Again:"), shown);
}

BOOST_AUTO_TEST_CASE(labels_keep_their_distance_and_their_order) {
  const std::vector<double> places = spread_out({10, 11, 12, 50, 100, 100}, 10, 0, 105);
  const std::vector<double> expected{1, 11, 21, 50, 95, 105};
  BOOST_TEST(places == expected, boost::test_tools::per_element());
}

BOOST_AUTO_TEST_CASE(axes_put_values_where_they_belong) {
  Axis axis(Axis::Kind::Log, {1, 10000}, "x");
  axis.place(0, 100);
  BOOST_TEST(axis.at(100) == 50, boost::test_tools::tolerance(1e-9));
  BOOST_TEST(axis.shows(1));
  BOOST_TEST(!axis.shows(100000));
  Axis one(Axis::Kind::Log, {5}, "a single value");
  one.place(0, 100);
  BOOST_TEST(one.at(5) == 50, boost::test_tools::tolerance(1e-9));
}
