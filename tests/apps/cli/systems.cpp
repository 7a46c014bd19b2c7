/// Tests gemm_compare --op on linear algebra: all ways are right, the contract's have one result, and what is refused.

#include <cmath>
#include <set>
#include <string>

#include <boost/test/unit_test.hpp>

#include <nlohmann/json.hpp>

#include "results.hpp"
#include "support/process.hpp"

namespace tessera::test {

using nlohmann::json;

BOOST_FIXTURE_TEST_SUITE(systems, Programs)

BOOST_AUTO_TEST_CASE(every_way_is_right) {
  const Outcome outcome =
      compare({"--cpu", "--op", "syrk,trsm,potrf,getrf,geqrf,posv,gesv", "--dtype", "f32,f64", "--sizes", "1,70,130",
               "--threads", "1,2", "--repeat", "2", "--cblas", "none", "--json", "-"});
  BOOST_TEST_REQUIRE(outcome.status == 0, outcome.err);
  const json report = json::parse(outcome.out);
  std::set<std::string> ways, operations;
  for (const json& result : report["results"]) {
    const std::string way = result["kernel"], name = result["op"].get<std::string>() + " " + way;
    BOOST_TEST(result["verdict"] == "pass", name + ": " + result["reason"].get<std::string>());
    BOOST_TEST(result["canonical"] == (way == "formulas" || way == "blocked"), name);
    if (result["canonical"]) BOOST_TEST(result["error"]["differing_bits"] == 0, name);
    BOOST_TEST(result["error"]["max_over_bound"].get<double>() <= 1, name);
    BOOST_TEST(result["seconds"]["samples"] == 2, name);
    BOOST_TEST(result["gflops"].get<double>() > 0, name);
    BOOST_TEST(result["m"] == result["n"], name);
    ways.insert(way);
    operations.insert(result["op"]);
  }
  for (const char* way : {"formulas", "unblocked", "left_looking", "right_looking", "three_loops", "substitution"})
    BOOST_TEST(ways.count(way) == 1, way);
  BOOST_TEST(operations.size() == 7);
}

BOOST_AUTO_TEST_CASE(every_way_is_right_with_complex_numbers) {
  const Outcome outcome =
      compare({"--cpu", "--op", "syrk,herk,trsm,potrf,getrf,geqrf,posv,gesv", "--dtype", "complex64,complex128",
               "--sizes", "1,70", "--threads", "2", "--repeat", "2", "--cblas", "none", "--json", "-"});
  BOOST_TEST_REQUIRE(outcome.status == 0, outcome.err);
  const json report = json::parse(outcome.out);
  std::set<std::string> kinds, ways;
  for (const json& result : report["results"]) {
    const std::string way = result["kernel"], name = result["op"].get<std::string>() + " " + way;
    BOOST_TEST(result["verdict"] == "pass", name + ": " + result["reason"].get<std::string>());
    if (result["canonical"]) BOOST_TEST(result["error"]["differing_bits"] == 0, name);
    BOOST_TEST(result["error"]["max_over_bound"].get<double>() <= 1, name);
    if (result["n"] == 70) BOOST_TEST(result["error"]["max_over_bound"].get<double>() > 0, name); // rounding shows
    kinds.insert(result["op"].get<std::string>() + " " + result["dtype"].get<std::string>());
    ways.insert(way);
  }
  BOOST_TEST(kinds.size() == 16);
  BOOST_TEST(kinds.count("herk complex128") == 1);
  for (const char* way : {"formulas", "unblocked", "left_looking", "right_looking", "three_loops", "substitution"})
    BOOST_TEST(ways.count(way) == 1, way);
}

BOOST_AUTO_TEST_CASE(a_library_that_forgets_a_conjugate_is_wrong) {
  const Outcome outcome = compare({"--cpu", "--op", "potrf", "--dtype", "complex64,complex128", "--sizes", "40",
                                   "--threads", "1", "--repeat", "2", "--cblas", TESSERA_SCIPY_BLAS, "--json", "-"});
  const json report = json::parse(outcome.out);
  if (!has_backend(report, "openmp")) return;
  int seen = 0;
  for (const json& result : report["results"]) {
    if (result["kernel"] != "cblas:scipy_blas") continue;
    ++seen;
    const bool is_right = result["dtype"] == "complex128";
    BOOST_TEST(result["verdict"] == (is_right ? "pass" : "wrong"), result.dump());
    BOOST_TEST((result["error"]["max_over_bound"].get<double>() <= 1) == is_right);
    BOOST_TEST(result["processor_seconds"].get<double>() > 0);
  }
  BOOST_TEST(seen == 2);
  const Outcome missing = compare({"--backend", "openmp", "--op", "getrf", "--dtype", "complex64", "--sizes", "40",
                                   "--cblas", TESSERA_SCIPY_BLAS, "--repeat", "2"});
  BOOST_TEST(missing.out.find("'scipy_blas' has no cgetrf_") != std::string::npos, missing.out);
}

BOOST_AUTO_TEST_CASE(complex_products_count_as_four) {
  const auto gflops_times_seconds = [&](const char* type) {
    const Outcome outcome = compare({"--backend", "reference", "--op", "getrf", "--dtype", type, "--sizes", "90",
                                     "--kernels", "unblocked", "--repeat", "2", "--json", "-"});
    BOOST_TEST_REQUIRE(outcome.status == 0, outcome.err);
    const json result = json::parse(outcome.out)["results"][0];
    return result["gflops"].get<double>() * result["seconds"]["median"].get<double>();
  };
  BOOST_TEST(std::abs(gflops_times_seconds("complex128") / gflops_times_seconds("f64") - 4) < 1e-6);
}

BOOST_AUTO_TEST_CASE(a_table_names_the_operation) {
  const Outcome outcome = compare({"--backend", "reference", "--op", "potrf", "--sizes", "200", "--kernels",
                                   "*_looking,formulas", "--repeat", "2"});
  BOOST_TEST_REQUIRE(outcome.status == 0, outcome.err);
  for (const char* part : {"potrf: Cholesky's factor of a symmetric positive definite matrix, n = 200, f32",
                           "left_looking", "right_looking", "formulas ≡", "reference f32 potrf: the fastest"})
    BOOST_TEST(outcome.out.find(part) != std::string::npos, outcome.out);
  BOOST_TEST(outcome.out.find("unblocked") == std::string::npos);
  const Outcome skipped =
      compare({"--backend", "reference", "--op", "getrf", "--sizes", "1500", "--time-limit", "0.001"});
  BOOST_TEST(skipped.status == 2);
  BOOST_TEST((skipped.out + skipped.err).find("a run takes longer than --time-limit") != std::string::npos);
}

BOOST_AUTO_TEST_CASE(what_makes_no_sense_is_refused) {
  expect_usage_error(compare({"--op", "potrf,copy"}), {"--op", "'copy' is raced apart from linear algebra"});
  expect_usage_error(compare({"--op", "potrf,gemm"}), {"--op", "'gemm'"});
  expect_usage_error(compare({"--op", "potrff"}), {"--op", "potrff"});
  expect_usage_error(compare({"--op", "potrf", "--dtype", "f16"}),
                     {"--dtype", "f16 is not for linear algebra", "f32, f64, complex64 and complex128"});
  expect_usage_error(compare({"--op", "herk", "--dtype", "f64"}), {"--op", "herk is of complex numbers", "f64"});
  expect_usage_error(compare({"--dtype", "complex64"}), {"--dtype", "complex64"});
  expect_usage_error(compare({"--op", "potrf", "--shape", "8x8x8"}), {"--shape", "--sizes"});
  expect_usage_error(compare({"--op", "potrf", "--sizes", "0"}), {"--sizes"});
  expect_usage_error(compare({"--op", "potrf", "--dist", "cancel"}), {"--dist"});
  expect_usage_error(compare({"--op", "potrf", "--kernels", "blokced"}), {"--kernels", "did you mean 'blocked'"});
  expect_usage_error(compare({"--op", "syrk", "--kernels", "left_looking"}), {"--kernels"});
  for (const char* option : {"--alpha", "--beta", "--math", "--timing", "--check-rows"}) {
    const char* const word = std::string(option) == "--math"     ? "tf32"
                             : std::string(option) == "--timing" ? "graph"
                                                                 : "2";
    expect_usage_error(compare({"--op", "potrf", option, word}), {option, "not for linear algebra"});
  }
  BOOST_TEST(compare({"--op"}).out.find("potrf") != std::string::npos);
}

BOOST_AUTO_TEST_SUITE_END()

} // namespace tessera::test
