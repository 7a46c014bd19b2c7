/// Tests gemm_compare --op on linear algebra where a device computes it. The device is
/// tests/system/plugin/small_device, and what stands in for cuSOLVER and cuBLAS is device_solver.cpp.

#include <map>
#include <set>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include <boost/test/unit_test.hpp>

#include <nlohmann/json.hpp>

#include "results.hpp"
#include "support/expect.hpp"
#include "support/process.hpp"

namespace tessera::test {

using nlohmann::json;

namespace {

struct Device : Programs {
  Variables variables{{"TESSERA_PLUGIN_PATH", TESSERA_SMALL_DEVICE_FOLDER},
                      {"SMALL_DEVICE", "1000000000"},
                      {"TESSERA_CUSOLVER", TESSERA_DEVICE_SOLVER},
                      {"TESSERA_CUBLAS", TESSERA_DEVICE_SOLVER}};

  Outcome race(std::vector<std::string> arguments, const Variables& more = {}) const {
    Variables all = more; // the first of a name counts
    all.insert(all.end(), variables.begin(), variables.end());
    arguments.insert(arguments.end(), {"--repeat", "2", "--cblas", "none"});
    return compare(arguments, all);
  }
  /// Returns the only result of cuSOLVER's for potrf or another operation with this fault of the library.
  json with_fault(const char* operation, const char* fault) const {
    const Outcome outcome =
        race({"--backend", "cuda", "--op", operation, "--sizes", "40", "--kernels", "blocked,cusolver", "--json", "-"},
             {{"DEVICE_SOLVER", fault}});
    const json report = json::parse(outcome.out);
    BOOST_TEST(result_of(report, "blocked")["verdict"] == "pass");
    return result_of(report, "cusolver");
  }
};

bool has(const json& text, const std::string& part) { return contains(text.get<std::string>(), part); }

} // namespace

BOOST_FIXTURE_TEST_SUITE(device_systems, Device)

BOOST_AUTO_TEST_CASE(every_way_of_a_device_is_right) {
  const Outcome outcome =
      race({"--backend", "reference,cuda", "--op", "syrk,trsm,potrf,getrf,geqrf,posv,gesv", "--dtype", "f32,f64",
            "--sizes", "1,150", "--kernels", "formulas,blocked,cusolver,cublas", "--json", "-"});
  BOOST_TEST_REQUIRE(outcome.status == 0, outcome.err);
  std::map<std::string, std::set<std::string>> passed; // operations by ways
  int without_function = 0;
  const json report = json::parse(outcome.out);
  for (const json& result : report["results"]) {
    if (result["backend"] != "cuda") continue;
    const std::string way = result["kernel"], operation = result["op"], name = operation + " " + way;
    if (way == "cusolver" && operation == "geqrf" && result["dtype"] == "f64") {
      BOOST_TEST(result["verdict"] == "rejected");
      BOOST_TEST(has(result["reason"], "this cuSOLVER has no cusolverDnDgeqrf"), result["reason"]);
      BOOST_TEST(has(result["reason"], "TESSERA_CUSOLVER"), result["reason"]);
      ++without_function;
      continue;
    }
    BOOST_TEST(result["verdict"] == "pass", name + ": " + result["reason"].get<std::string>());
    BOOST_TEST(result["canonical"] == (way == "blocked"), name);
    if (way == "blocked") BOOST_TEST(result["error"]["differing_bits"] == 0, name); // from the reference's
    BOOST_TEST(result["error"]["max_over_bound"].get<double>() <= 1, name);
    BOOST_TEST(result["gflops"].get<double>() > 0, name);
    passed[way].insert(operation);
  }
  BOOST_TEST(without_function == 2);
  BOOST_TEST(passed["blocked"].size() == 7);
  BOOST_TEST((passed["cusolver"] == std::set<std::string>{"potrf", "getrf", "geqrf", "posv", "gesv"}));
  BOOST_TEST((passed["cublas"] == std::set<std::string>{"syrk", "trsm"}));
}

/// Factorisations and systems by the device's steps.
BOOST_AUTO_TEST_CASE(the_librarys_way_is_the_one_of_matrices) {
  for (const auto& [operation, step, complex_step] : {std::tuple{"trsm", "solve_triangle", "solve_columns"},
                                                      {"potrf", "cholesky_panel", "cholesky_panel"},
                                                      {"getrf", "lu_panel", "lu_panel"},
                                                      {"geqrf", "reflections", "reflections"},
                                                      {"posv", "cholesky_panel", "cholesky_panel"},
                                                      {"gesv", "lu_panel", "lu_panel"}}) {
    const auto has_step = [&](const char* type, const char* name) {
      const Outcome outcome =
          race({"--backend", "cuda", "--op", operation, "--dtype", type, "--sizes", "70", "--kernels", "blocked"},
               {{"TESSERA_PROFILE", "summary"}});
      BOOST_TEST(outcome.status == 0, outcome.err);
      return contains(outcome.err, name);
    };
    BOOST_TEST(has_step("f32", step), operation);
    BOOST_TEST(has_step("f64", step), operation);
    BOOST_TEST(has_step("complex64", complex_step), operation);
  }
}

BOOST_AUTO_TEST_CASE(a_vendors_library_that_is_wrong_or_fails_is_found) {
  const json wrong = with_fault("potrf", "wrong");
  BOOST_TEST(wrong["verdict"] == "wrong");
  BOOST_TEST(wrong["error"]["max_over_bound"].get<double>() > 1);
  for (const auto& [operation, fault, reason] : {std::tuple{"potrf", "info", "cusolverDnSpotrf: info = 2"},
                                                 {"posv", "status", "cusolverDnSpotrf_bufferSize: status 7"},
                                                 {"getrf", "pivots", "cusolverDnSgetrf: pivot 1 is row "},
                                                 {"gesv", "handle", "cusolverDnCreate: status 1"}}) {
    const json result = with_fault(operation, fault);
    BOOST_TEST(result["verdict"] == "failed", result.dump());
    BOOST_TEST(has(result["reason"], reason), result["reason"]);
  }
}

BOOST_AUTO_TEST_CASE(a_vendors_library_that_is_missing_is_named) {
  const Outcome outcome = race(
      {"--backend", "cuda", "--op", "potrf,trsm", "--sizes", "40", "--json", "-"},
      {{"TESSERA_CUSOLVER", "/nonexistent/libcusolver.so.12"}, {"TESSERA_CUBLAS", "/nonexistent/libcublas.so.13"}});
  const json report = json::parse(outcome.out);
  for (const auto& [way, reason, files] :
       {std::tuple{"cusolver", "cuSOLVER could not be opened at TESSERA_CUSOLVER=/nonexistent/libcusolver.so.12",
                   "libcusolver.so.12 or .11"},
        {"cublas", "cuBLAS could not be opened at TESSERA_CUBLAS=/nonexistent/libcublas.so.13",
         "libcublas.so.13 or .12"}}) {
    const json result = result_of(report, way);
    BOOST_TEST(result["verdict"] == "rejected");
    BOOST_TEST(has(result["reason"], reason), result["reason"]);
    BOOST_TEST(has(result["reason"], files), result["reason"]);
  }
  BOOST_TEST(outcome.status == 0, outcome.err); // the library's own way ran
}

BOOST_AUTO_TEST_CASE(a_vendors_library_is_not_asked_for_complex_numbers) {
  const Outcome outcome =
      race({"--backend", "cuda", "--op", "herk,potrf,trsm", "--dtype", "complex64", "--sizes", "40", "--json", "-"});
  BOOST_TEST(outcome.status == 0, outcome.err);
  const json report = json::parse(outcome.out);
  BOOST_TEST(report["results"].size() == 3);
  for (const json& result : report["results"]) BOOST_TEST(result["kernel"] == "blocked");
}

/// The matrix does not fit on the device: the entry says so, and the others go on.
BOOST_AUTO_TEST_CASE(a_device_that_is_too_small) {
  const Outcome outcome =
      race({"--backend", "reference,cuda", "--op", "getrf", "--dtype", "f64", "--sizes", "300", "--json", "-"},
           {{"SMALL_DEVICE", "200000"}});
  const json report = json::parse(outcome.out);
  BOOST_TEST(result_of(report, "formulas")["verdict"] == "pass");
  for (const char* way : {"blocked", "cusolver"}) {
    const json result = result_of(report, way);
    BOOST_TEST(result["verdict"] == "failed", result.dump());
    BOOST_TEST(has(result["reason"], "the small device is full"), result["reason"]);
  }
}

/// Where each call takes 100 ms, 192 rows would let 1600 rows seem to take 58 s, and 768 rows 0.9 s.
BOOST_AUTO_TEST_CASE(small_runs_say_little_of_large_ones) {
  const auto verdict = [&](const char* limit) -> std::string {
    const Outcome outcome = race({"--backend", "cuda", "--op", "syrk", "--sizes", "1600", "--kernels", "cublas",
                                  "--time-limit", limit, "--json", "-"},
                                 {{"DEVICE_SOLVER", "idle"}});
    return result_of(json::parse(outcome.out), "cublas")["verdict"];
  };
  BOOST_TEST(verdict("20") == "wrong"); // it ran
  BOOST_TEST(verdict("0.05") == "skipped");
}

BOOST_AUTO_TEST_SUITE_END()

} // namespace tessera::test
