/// Tests the data sets of --dist. Every kernel keeps its bound on the hard data sets too, and they are as hard as
/// stated.

#include <cmath>

#include <boost/test/unit_test.hpp>

#include <nlohmann/json.hpp>

#include "results.hpp"
#include "support/process.hpp"
#include "support/test_all.hpp"

namespace tessera::test {

using nlohmann::json;

namespace {

struct DataSets : Programs {
  json report(std::vector<std::string> arguments) const {
    arguments.insert(arguments.end(), {"--repeat", "1", "--json", "-"});
    const Outcome outcome = compare(arguments);
    BOOST_TEST_REQUIRE(outcome.status == 0, outcome.err << outcome.out);
    return json::parse(outcome.out);
  }
  static void expect_all_pass(const json& document, const char* data) {
    BOOST_TEST(!document["results"].empty());
    for (const json& result : document["results"])
      BOOST_TEST(passes_or_lacks_amx(result), data << ": " << result.dump());
  }
  static double mean_error(const json& document, const std::string& backend, const std::string& kernel) {
    return result_of(document, kernel, backend)["error"]["mean_rel"];
  }
};

} // namespace

BOOST_FIXTURE_TEST_SUITE(data_sets, DataSets)

BOOST_AUTO_TEST_CASE(every_kernel_is_within_its_bound) {
  const char* sizes = sanitized ? "97" : everything_is_tested() ? "97,256" : "97,128";
  for (const char* data : {"cancel", "wide", "wide:56", "scaled", "special"})
    expect_all_pass(report({"--cpu", "--dist", data, "--sizes", sizes, "--dtype", "f32,f64"}), data);
}

BOOST_AUTO_TEST_CASE(transposes_scalars_and_odd_shapes_too) {
  for (const char* data : {"cancel", "wide", "special"})
    for (const char* shape : {"31x17x45", "1x9x1", "8x8x2"})
      expect_all_pass(report({"--cpu", "--dist", data, "--shape", shape, "--transA", "--transB", "--alpha", "-0.5",
                              "--beta", "2", "--dtype", "f32,f64"}),
                      data);
}

/// If terms cancel, a plain sum keeps few digits and a compensated sum keeps more.
BOOST_AUTO_TEST_CASE(cancelling_sums_show_what_compensation_is_worth) {
  const char* kernels = "canonical,gold,kahan,transposed";
  const json uniform = report({"--cpu", "--kernels", kernels, "--sizes", "256"});
  const json cancel = report({"--cpu", "--kernels", kernels, "--sizes", "256", "--dist", "cancel"});
  const double condition = mean_error(cancel, "reference", "canonical") / mean_error(uniform, "reference", "canonical");
  BOOST_TEST(condition > 300);
  BOOST_TEST(mean_error(cancel, "reference", "gold") < 1e-7);
  for (const char* backend : {"openmp", "tbb"})
    if (has_backend(cancel, backend))
      BOOST_TEST(4 * mean_error(cancel, backend, "kahan") < mean_error(cancel, backend, "transposed"));
}

/// Checks the condition number that data_sets.hpp states. An error of u/2 in each |a||b| would be this large.
BOOST_AUTO_TEST_CASE(transposed_operands_cancel_as_well) {
  for (const std::vector<std::string>& layout : {std::vector<std::string>{}, {"--transA"}, {"--transB"}}) {
    std::vector<std::string> arguments{"--backend", "reference", "--kernels", "canonical", "--sizes",
                                       "128",       "--dist",    "cancel",    "--dtype",   "f64"};
    arguments.insert(arguments.end(), layout.begin(), layout.end());
    const double error = mean_error(report(arguments), "reference", "canonical");
    BOOST_TEST(error > 1e-11);
    BOOST_TEST(error < 1e-6);
  }
}

BOOST_AUTO_TEST_CASE(special_values_reach_the_result) {
  const json sums = report({"--backend", "reference", "--kernels", "canonical", "--sizes", "64", "--dist", "special"});
  const Outcome other = compare({"--backend", "reference", "--op", "sum_of_squares", "--dist", "special"});
  expect_usage_error(other, {"--dist", "special", "--op gemm"});
  BOOST_TEST(sums["results"].size() == 1u);
}

/// Strassen's sums mix rows and columns, so that small ones lose digits to large ones.
BOOST_AUTO_TEST_CASE(scaled_rows_and_columns_show_what_strassen_loses) {
  const json document = report(
      {"--cpu", "--kernels", "simd,strassen", "--sizes", "512,640,768", "--dist", "scaled", "--dtype", "f32,f64"});
  expect_all_pass(document, "scaled");
  for (const json& grade : document["grades"])
    BOOST_TEST(grade["grade"] == (grade["kernel"] == "strassen" ? "C" : "A"), grade.dump());
  if (has_backend(document, "openmp") || has_backend(document, "tbb")) BOOST_TEST(document["grades"].size() >= 4u);
}

BOOST_AUTO_TEST_CASE(sets_that_make_no_sense) {
  expect_usage_error(compare({"--dist", "scaled:57"}), {"--dist", "scaled:57", "f32", "scaled:56"});
  expect_usage_error(compare({"--dist", "scaled", "--op", "sum_of_squares"}), {"scaled", "--op gemm"});
  expect_usage_error(compare({"--dist", "wide:57"}), {"--dist", "wide:57", "f32", "wide:56"});
  expect_usage_error(compare({"--dist", "wide:501", "--dtype", "f64"}), {"wide:501", "f64", "wide:500"});
  expect_usage_error(compare({"--dist", "wide:1:2"}), {"--dist", "wide", "2 numbers"});
  expect_usage_error(compare({"--dist", "wide:x"}), {"--dist", "x"});
  expect_usage_error(compare({"--dist", "cancel:3"}), {"--dist", "cancel", "no numbers"});
  expect_usage_error(compare({"--dist", "cancle"}), {"--dist", "cancle", "cancel"});
  expect_usage_error(compare({"--dist", "cancel", "--op", "sum_of_squares"}), {"cancel", "--op gemm"});
}

BOOST_AUTO_TEST_SUITE_END()

} // namespace tessera::test
