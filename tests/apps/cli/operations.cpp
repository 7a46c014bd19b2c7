/// Tests gemm_compare --op on operations that run functors: its own, the ones of the examples, and odd ones of the
/// tests. The device is odd_device, whose "device code" is tests/apps/operations/standin_table.cpp.

#include <filesystem>
#include <set>

#include <boost/test/unit_test.hpp>

#include <nlohmann/json.hpp>

#include "report/shell.hpp"
#include "results.hpp"
#include "support/process.hpp"

namespace tessera::test {

using nlohmann::json;

namespace {

const std::string odd = TESSERA_OPERATIONS_DIR "/odd/libodd.so";
const std::string example_operations = TESSERA_EXAMPLE_OPERATIONS;

struct Operations : Programs {
  static json report_of(const Outcome& outcome, int status = 0) {
    BOOST_TEST_REQUIRE(outcome.status == status, outcome.err);
    return json::parse(outcome.out);
  }
  /// Races an operation of odd.cpp on 50 elements.
  Outcome race_odd(const std::string& name, std::vector<std::string> more = {}) const {
    more.insert(more.begin(), {"--cpu", "--op-plugin", odd, "--op", name, "--sizes", "50", "--repeat", "2"});
    return compare(more);
  }
  /// Races operations on the odd device, with the stand-in's device code.
  Outcome on_device(std::vector<std::string> arguments, const char* fault = "none") const {
    arguments.insert(arguments.begin(), {"--dtype", "f64", "--sizes", "5000", "--repeat", "3", "--json", "-"});
    return compare(arguments, {{"TESSERA_PLUGIN_PATH", TESSERA_ODD_DEVICE_FOLDER ":" TESSERA_OPERATIONS_DIR "/standin"},
                               {"STANDIN_FAULT", fault}});
  }
};

std::string reason_of(const json& result) { return result["reason"].get<std::string>(); }

} // namespace

BOOST_FIXTURE_TEST_SUITE(operations, Operations)

BOOST_AUTO_TEST_CASE(every_operation_of_its_own_has_the_references_bits_everywhere) {
  const json report =
      report_of(compare({"--cpu", "--op", "*", "--sizes", "1,1000,70001", "--repeat", "2", "--json", "-"}));
  std::set<std::string> names, backends;
  for (const json& result : report["results"]) {
    const std::string name = result["backend"].get<std::string>() + " " + result["op"].get<std::string>();
    BOOST_TEST(result["verdict"] == "pass", name + ": " + reason_of(result));
    BOOST_TEST(result["error"]["differing_bits"] == 0, name);
    BOOST_TEST(result["seconds"]["samples"] == 2, name);
    BOOST_TEST(result["gbytes_per_second"].get<double>() > 0, name);
    BOOST_TEST(result["canonical"] == true);
    names.insert(result["op"].get<std::string>() + " " + result["dtype"].get<std::string>());
    backends.insert(result["backend"].get<std::string>());
  }
  BOOST_TEST(names.size() == 18u);
  BOOST_TEST(names.contains("triad f32"));
  BOOST_TEST(names.contains("inclusive_scan f64"));
  BOOST_TEST(report["results"].size() == 18 * 3 * backends.size());
}

BOOST_AUTO_TEST_CASE(bandwidth_is_the_bytes_of_the_arrays_over_the_time) {
  const json report = report_of(compare(
      {"--backend", "reference", "--op", "triad,copy,dot", "--dtype", "f32", "--sizes", "30000", "--json", "-"}));
  for (const auto& [op, arrays, flops] :
       {std::tuple{"triad", 3, 2.0}, std::tuple{"copy", 2, 0.0}, std::tuple{"dot", 2, 2.0}}) {
    const json result = result_of(report, op);
    const double seconds = result["seconds"]["median"];
    BOOST_TEST(result["gbytes_per_second"].get<double>() == arrays * 4 * 30000 / seconds * 1e-9,
               boost::test_tools::tolerance(1e-12));
    if (flops > 0)
      BOOST_TEST(result["gflops"].get<double>() == flops * 30000 / seconds * 1e-9, boost::test_tools::tolerance(1e-12));
    else
      BOOST_TEST(result["gflops"].is_null());
  }
}

BOOST_AUTO_TEST_CASE(the_ceiling_stands_beside_the_bandwidth) {
  const json report = report_of(on_device({"--backend", "cuda", "--op", "triad"})); // 1 TB/s of memory, 2 of its L2
  const json result = result_of(report, "triad", "cuda");
  BOOST_TEST(result["ceiling_gbytes_per_second"].get<double>() == 1000.0, boost::test_tools::tolerance(1e-12));
  BOOST_TEST(result["ceiling_percent"].get<double>() == result["gbytes_per_second"].get<double>() / 10,
             boost::test_tools::tolerance(1e-12));
  const Outcome table =
      compare({"--backend", "cuda", "--op", "triad", "--dtype", "f64", "--sizes", "100"},
              {{"TESSERA_PLUGIN_PATH", TESSERA_ODD_DEVICE_FOLDER ":" TESSERA_OPERATIONS_DIR "/standin"}});
  for (const char* part : {"triad: a(i) = b(i) + 0.4·c(i)", "n = 100, f64", "GB/s", "ceiling", "2000.00", "pass"})
    BOOST_TEST(contains(table.out, part), table.out);
}

BOOST_AUTO_TEST_CASE(each_number_of_threads_is_an_entry) {
  const json report = report_of(compare({"--cpu", "--op", "add", "--dtype", "f64", "--sizes", "100", "--threads", "1,2",
                                         "--repeat", "1", "--json", "-"}));
  std::set<std::pair<std::string, int>> entries;
  for (const json& result : report["results"]) entries.emplace(result["backend"], result["threads"]);
  BOOST_TEST(entries.contains({"reference", 1}));
  BOOST_TEST(entries.size() == report["results"].size());
  BOOST_TEST(entries.size() % 2 == 1u); // the reference is serial, and each other backend has two entries
}

BOOST_AUTO_TEST_CASE(the_examples_operations_are_raced) {
  const json report = report_of(compare({"--cpu", "--op-plugin", example_operations, "--sizes", "20", "--dist",
                                         "normal", "--repeat", "2", "--json", "-"}));
  std::set<std::string> names;
  for (const json& result : report["results"]) {
    names.insert(result["op"]);
    BOOST_TEST(result["verdict"] == "pass", reason_of(result));
  }
  BOOST_TEST(names == (std::set<std::string>{"bias_and_tanh", "jacobi", "kmeans"}), boost::test_tools::per_element());
  BOOST_TEST(report["inputs"]["op_plugins"]["jacobi f64"] == example_operations);
  const json jacobi = result_of(report, "jacobi", "reference");
  BOOST_TEST(jacobi["sizes"] == 2);
  BOOST_TEST((jacobi["m"] == 20 && jacobi["n"] == 20 && jacobi["k"] == 1));
  const double seconds = jacobi["seconds"]["median"];
  BOOST_TEST(jacobi["gbytes_per_second"].get<double>() == 8 * (22 * 22 + 20 * 20) / seconds * 1e-9,
             boost::test_tools::tolerance(1e-12));
}

BOOST_AUTO_TEST_CASE(shapes_have_as_many_sizes_as_the_operation) {
  const json report = report_of(compare({"--backend", "reference", "--op-plugin", example_operations, "--op", "kmeans",
                                         "--shape", "30x5x3", "--repeat", "1", "--json", "-"}));
  BOOST_TEST((report["results"][0]["m"] == 30 && report["results"][0]["n"] == 5 && report["results"][0]["k"] == 3));
  expect_usage_error(compare({"--op-plugin", example_operations, "--op", "jacobi", "--shape", "30x5x3"}),
                     {"--shape", "'30x5x3' has 3 sizes", "'jacobi' has 2", "MxN"});
  expect_usage_error(compare({"--op", "copy", "--shape", "30x5"}), {"--shape", "'30x5' has 2 sizes", "'copy' has 1"});
  expect_usage_error(compare({"--op", "copy", "--sizes", "0"}), {"--sizes", "0 is less than 1"});
  expect_usage_error(compare({"--op-plugin", example_operations, "--op", "kmeans", "--sizes", "4000000000"}),
                     {"--sizes", "4000000000", "'kmeans' overflow"});
  expect_usage_error(compare({"--op", "copy", "--sizes", "4000000000000000000"}), {"4000000000000000000", "overflows"});
  expect_usage_error(compare({"--op-plugin", odd, "--op", "negative", "--sizes", "5"}),
                     {"'negative'", "1×-5", "reject()"});
}

BOOST_AUTO_TEST_CASE(arrays_of_each_type_are_filled_and_compared) {
  for (const char* name : {"whole_numbers", "narrow"}) {
    const json report = report_of(race_odd(name, {"--json", "-"}));
    for (const json& result : report["results"]) {
      BOOST_TEST(result["verdict"] == "pass", reason_of(result));
      // An updated array of 50 and a number, or a matrix of 50×50.
      BOOST_TEST(result["error"]["ulps"]["0"] == (name == std::string("narrow") ? 2500 : 51));
    }
  }
  const json narrow = report_of(race_odd("narrow", {"--json", "-"}))["results"][0];
  const double seconds = narrow["seconds"]["median"];
  BOOST_TEST(narrow["gbytes_per_second"].get<double>() == 100.0 * 2500 / seconds * 1e-9, // as the operation says
             boost::test_tools::tolerance(1e-12));
}

BOOST_AUTO_TEST_CASE(other_bits_are_counted_and_named) {
  const json report = report_of(race_odd("other_bits", {"--json", "-"}), 1);
  BOOST_TEST(result_of(report, "other_bits", "reference")["verdict"] == "pass");
  for (const json& result : report["results"]) {
    if (result["backend"] == "reference") continue;
    BOOST_TEST(result["verdict"] == "wrong");
    BOOST_TEST(result["error"]["differing_bits"] == 1);
    BOOST_TEST(result["error"]["ulps"]["1"] == 1);
    BOOST_TEST(contains(reason_of(result), "(0, 11) of array 2"), reason_of(result));
  }
  BOOST_TEST(contains(race_odd("other_bits").out, "to see it again"));
}

BOOST_AUTO_TEST_CASE(an_operation_may_allow_a_distance) {
  const json report = report_of(race_odd("within_one_ulp", {"--json", "-"}));
  BOOST_TEST(report["results"].size() > 1u);
  for (const json& result : report["results"]) {
    const bool reference = result["backend"] == "reference";
    BOOST_TEST(result["verdict"] == "pass");
    BOOST_TEST(result["canonical"] == false);
    BOOST_TEST(result["error"]["differing_bits"] == (reference ? 0 : 1));
    BOOST_TEST(result["error"]["max_over_bound"] == (reference ? 0.0 : 1.0));
  }
}

BOOST_AUTO_TEST_CASE(an_element_that_is_not_written_is_found) {
  const json report = report_of(race_odd("unwritten", {"--json", "-"}), 1);
  for (const json& result : report["results"]) {
    BOOST_TEST(result["verdict"] == "wrong");
    BOOST_TEST(result["error"]["misplaced"] == 1);
    BOOST_TEST(contains(reason_of(result), "(0, 3) of array 2 is not written"), reason_of(result));
  }
}

BOOST_AUTO_TEST_CASE(a_returned_number_is_compared) {
  const json report = report_of(race_odd("number", {"--json", "-"}), 1);
  for (const json& result : report["results"]) {
    BOOST_TEST(!result.contains("gbytes_per_second")); // it moves nothing
    if (result["backend"] == "reference") continue;
    BOOST_TEST(contains(reason_of(result), "the number that it returns is 0.75 instead of 0.5"), reason_of(result));
  }
}

BOOST_AUTO_TEST_CASE(what_an_operation_throws_is_its_entrys_reason) {
  const Outcome everywhere = race_odd("throws");
  BOOST_TEST(everywhere.status == 1);
  BOOST_TEST(contains(everywhere.out, "failed: throws (reference"), everywhere.out);
  BOOST_TEST(contains(everywhere.out, "on the reference backend: it threw: index 7 threw"), everywhere.out);
  const json report = report_of(race_odd("throws_elsewhere", {"--json", "-"}), 1);
  for (const json& result : report["results"]) {
    const bool reference = result["backend"] == "reference";
    BOOST_TEST(result["verdict"] == (reference ? "pass" : "failed"));
    BOOST_TEST(reason_of(result) == (reference ? "" : "it threw something that is no std::exception"));
  }
}

BOOST_AUTO_TEST_CASE(an_operation_may_refuse_sizes) {
  const Outcome both = compare({"--cpu", "--op-plugin", odd, "--op", "refuses", "--sizes", "100,101", "--repeat", "1"});
  BOOST_TEST(both.status == 0);
  BOOST_TEST(contains(both.out, "not run: refuses (reference"), both.out);
  BOOST_TEST(contains(both.out, "more than 100 elements"), both.out);
  const Outcome none = compare({"--cpu", "--op-plugin", odd, "--op", "refuses", "--sizes", "101"});
  BOOST_TEST(none.status == 2);
  BOOST_TEST(contains(none.err, "no operation ran"), none.err);
}

BOOST_AUTO_TEST_CASE(a_slow_operation_is_skipped_visibly) {
  const Outcome outcome =
      compare({"--cpu", "--op", "sum", "--dtype", "f64", "--sizes", "100000", "--time-limit", "1e-9"});
  BOOST_TEST(outcome.status == 2);
  BOOST_TEST(contains(outcome.out, "skipped"));
  BOOST_TEST(contains(outcome.out, "--time-limit"));
}

BOOST_AUTO_TEST_CASE(a_device_runs_its_own_code) {
  const json report = report_of(on_device({"--backend", "cuda,reference", "--op", "triad,dot"}));
  for (const char* op : {"triad", "dot"}) {
    const json result = result_of(report, op, "cuda");
    BOOST_TEST(result["verdict"] == "pass", reason_of(result));
    BOOST_TEST(result["threads"] == 0);
    BOOST_TEST(result["error"]["differing_bits"] == 0);
    BOOST_TEST(result["seconds"]["samples"] == 3);
  }
}

BOOST_AUTO_TEST_CASE(faults_of_device_code_are_told_apart) {
  const auto result = [&](const char* fault, const char* op) {
    return result_of(report_of(on_device({"--backend", "cuda", "--op", "triad,dot"}, fault), 1), op, "cuda");
  };
  BOOST_TEST(result("fails", "triad")["verdict"] == "failed");
  BOOST_TEST(contains(reason_of(result("fails", "triad")), "the stand-in failed"));
  BOOST_TEST(result("fails", "dot")["verdict"] == "pass");
  BOOST_TEST(result("other_bits", "triad")["verdict"] == "wrong");
  BOOST_TEST(result("other_bits", "triad")["error"]["differing_bits"] == 1);
  BOOST_TEST(contains(reason_of(result("other_bits", "triad")), "(0, 3) of array 3"));
  BOOST_TEST(contains(reason_of(result("other_bits", "dot")), "the number that it returns"));
  BOOST_TEST(contains(reason_of(result("unwritten", "triad")), "(0, 0) of array 3 is not written"));
  BOOST_TEST(contains(reason_of(result("nan", "triad")), "(0, 5) of array 3 is nan"));
}

BOOST_AUTO_TEST_CASE(a_functor_without_device_code_fails_where_the_backend_was_named) {
  const Outcome named = on_device({"--backend", "cuda,reference", "--op", "copy"});
  const json report = report_of(named, 2);
  BOOST_TEST(result_of(report, "copy", "cuda")["verdict"] == "rejected");
  BOOST_TEST(contains(reason_of(result_of(report, "copy", "cuda")), "no functor of this name"));
  BOOST_TEST(result_of(report, "copy", "reference")["verdict"] == "pass");
  BOOST_TEST(contains(named.err, "cuda: functor 'stream_copy f64' cannot run on cuda"), named.err);
  const Outcome found = on_device({"--op", "copy"}); // every backend that is there
  BOOST_TEST(result_of(report_of(found), "copy", "cuda")["verdict"] == "rejected");
  BOOST_TEST(!contains(found.err, "stream_copy"), found.err);
}

BOOST_AUTO_TEST_CASE(a_plugin_with_device_code_that_is_missing_says_what_to_build) {
  const Outcome outcome =
      compare({"--backend", "cuda", "--op-plugin", example_operations, "--op", "jacobi", "--sizes", "20"},
              {{"TESSERA_PLUGIN_PATH", TESSERA_ODD_DEVICE_FOLDER}});
  if (std::filesystem::exists(
          std::filesystem::path(example_operations)
              .replace_filename(
                  "libtessera_example_operations_kernels_cuda.so"))) // which is CUDA's, and the stand-in has no GPU
    return;
  BOOST_TEST(outcome.status == 2);
  BOOST_TEST(contains(outcome.out, "not run: jacobi (cuda): functor 'jacobi_step' cannot run on cuda"), outcome.out);
  BOOST_TEST(contains(outcome.err, "tessera_add_kernels()"), outcome.err);
}

BOOST_AUTO_TEST_CASE(operations_are_listed) {
  const Outcome all = compare({"--op"});
  BOOST_TEST(all.status == 0);
  for (const char* part : {"triad", "f32", "m, n", "inclusive_scan"})
    BOOST_TEST(contains(all.out, part) == (part != std::string("m, n")), all.out);
  BOOST_TEST(!contains(all.out, "canonical"));
  const json list = json::parse(compare({"--op", "--op-plugin", example_operations, "--json", "-"}).out);
  BOOST_TEST(list["operations"].size() == 18u + 3u);
  const json kmeans = list["operations"].back();
  BOOST_TEST(kmeans["op"] == "kmeans");
  BOOST_TEST(kmeans["sizes"] == 3);
  BOOST_TEST(kmeans["file"] == example_operations);
  BOOST_TEST(kmeans["arrays"][3]["access"] == "written");
  BOOST_TEST(kmeans["arrays"][3]["dtype"] == "f64");
  BOOST_TEST(contains(compare({"--list"}).out, "inclusive_scan"));
}

BOOST_AUTO_TEST_CASE(every_report_has_operations) {
  const Outcome outcome = compare({"--backend", "reference", "--op-plugin", example_operations, "--op", "copy,jacobi",
                                   "--shape", "40x30", "--json", "out.json"});
  BOOST_TEST(outcome.status == 2); // copy has one size
  const Outcome good = compare({"--backend", "reference", "--op-plugin", example_operations, "--op", "copy,jacobi",
                                "--dtype", "f64", "--sizes", "40,50", "--json", "out.json", "--html", "out.html",
                                "--csv", "out.csv", "--markdown", "out.md"});
  BOOST_TEST_REQUIRE(good.status == 0, good.err);
  BOOST_TEST(contains(good.out, "jacobi: the mean of four neighbours, m = 50, n = 50, f64"), good.out);
  BOOST_TEST(contains(good.out, "reference f64 jacobi: the fastest run is jacobi"), good.out);
  BOOST_TEST(contains(folder.read("out.csv"), "gbytes_per_second"));
  BOOST_TEST(contains(folder.read("out.md"), "jacobi f64, 40×40"));
  BOOST_TEST(contains(folder.read("out.md"), "GB/s |"));
  BOOST_TEST(contains(folder.read("out.html"), "Operations: how fast"));
  BOOST_TEST(contains(folder.read("out.html"), "GB/s"));
  BOOST_TEST(compare({"--report", "out.json", "--markdown", "again.md"}).status == 0);
  BOOST_TEST(folder.read("again.md") == folder.read("out.md"));
  BOOST_TEST(compare({"--diff", "out.json", "out.json"}).status == 0);
}

BOOST_AUTO_TEST_CASE(a_command_shows_an_entry_again) {
  const Outcome outcome =
      compare({"--cpu", "--op-plugin", odd, "--op", "other_bits", "--shape", "50", "--repeat", "1"});
  const std::string start = "gemm_compare --op-plugin " + report::shell_quoted(odd) + " --op other_bits --backend ";
  BOOST_TEST(contains(outcome.out, start), outcome.out);
  BOOST_TEST(contains(outcome.out, "--sizes 50 --dtype f32"), outcome.out);
}

BOOST_AUTO_TEST_CASE(bad_words_are_explained) {
  expect_usage_error(compare({"--op", "triadd"}),
                     {"--op", "'triadd'", "did you mean 'triad'", "gemm", "inclusive_scan"});
  expect_usage_error(compare({"--op", "x*"}), {"--op", "'x*'", "Known:"});
  expect_usage_error(compare({"--op", "copy", "--dtype", "f16"}), {"--dtype", "'copy' of f32", "'copy' of f64"});
  expect_usage_error(compare({"--op", "copy,gemm"}), {"--op", "gemm is raced by itself"});
  expect_usage_error(compare({"--op", "gemm", "--op-plugin", odd}), {"--op-plugin", "--op gemm"});
  for (const auto& [option, word] :
       {std::pair{"--kernels", "simd"}, std::pair{"--math", "tf32"}, std::pair{"--alpha", "2"},
        std::pair{"--check-rows", "all"}, std::pair{"--timing", "graph"}, std::pair{"--cblas", "none"}})
    expect_usage_error(compare({"--op", "copy", option, word}), {option, "--op gemm"});
  expect_usage_error(compare({"--op", "copy", "--transA"}), {"--transA", "--op gemm"});
  expect_usage_error(compare({"--op", "copy", "--result", "f16"}), {"--result", "--op gemm"});
  expect_usage_error(compare({"--op", "copy", "--dist", "cancel"}), {"--dist", "--op gemm"});
  expect_usage_error(compare({"--op", "copy", "--kernel", "mine.so"}), {"--kernel", "--op gemm"});
  expect_usage_error(compare({"--op", "copy", "--preset", "blog"}), {"--preset", "--op copy"});
  expect_usage_error(compare({"--op", "copy", "--a", "A.npy", "--b", "B.npy"}), {"--a", "--op gemm"});
  expect_usage_error(compare({"tune", "--op-plugin", odd}), {"tune"});
  expect_usage_error(compare({"--backend", "reference", "--op", "copy", "--sizes", "400000000000"}), {"memory"});
}

BOOST_AUTO_TEST_CASE(a_library_that_cannot_be_used_is_explained) {
  const std::string folder_of_libraries = TESSERA_OPERATIONS_DIR;
  expect_usage_error(compare({"--op-plugin", "nowhere.so"}), {"there is no library of operations", "nowhere.so"});
  expect_usage_error(compare({"--op-plugin", folder_of_libraries + "/no_symbol/libbroken.so"}),
                     {"does not export tessera_operations", "TESSERA_OPERATIONS"});
  expect_usage_error(compare({"--op-plugin", folder_of_libraries + "/wrong_abi/libbroken.so"}), {"ABI", "rebuild"});
  expect_usage_error(compare({"--op-plugin", folder_of_libraries + "/taken_name/libbroken.so"}),
                     {"'copy' of f32", "gemm_compare itself", "rename"});
  expect_usage_error(compare({"--op-plugin", folder_of_libraries + "/own_name/libbroken.so"}),
                     {"'gemm'", "another name"});
  expect_usage_error(compare({"--op-plugin", odd, "--op-plugin", odd}), {"'throws' of f32", odd});
}

BOOST_AUTO_TEST_SUITE_END()

} // namespace tessera::test
