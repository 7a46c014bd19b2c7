/// Tests gemm_compare on products that work.

#include <boost/test/unit_test.hpp>
#include <set>

#include <nlohmann/json.hpp>

#include "report/shell.hpp"
#include "results.hpp"
#include "support/process.hpp"

namespace tessera::test {

using nlohmann::json;

namespace {

json report_of(const Outcome& outcome) {
  BOOST_TEST_REQUIRE(outcome.status == 0, outcome.err);
  return json::parse(outcome.out);
}

std::set<std::string> kernels_of(const json& report, const std::string& backend) {
  std::set<std::string> names;
  for (const json& result : report["results"])
    if (result["backend"] == backend) names.insert(result["kernel"].get<std::string>());
  return names;
}

bool has_backend(const Programs& programs, const std::string& name) {
  const json report = json::parse(programs.info({"--json", "--no-kernels"}).out);
  for (const json& backend : report["backends"])
    if (backend["backend"] == name) return backend["available"];
  return false;
}

} // namespace

BOOST_FIXTURE_TEST_SUITE(compare_products, Programs)

BOOST_AUTO_TEST_CASE(every_kernel_on_the_processor_passes) {
  const json report = report_of(
      compare({"--cpu", "--all-modes", "--sizes", "65", "--dtype", "f32,f64", "--repeat", "2", "--json", "-"}));
  std::size_t canonical = 0;
  for (const json& result : report["results"]) {
    const std::string name = result["backend"].get<std::string>() + "/" + result["kernel"].get<std::string>();
    BOOST_TEST(passes_or_lacks_amx(result), name);
    if (!result["canonical"]) continue;
    ++canonical;
    BOOST_TEST(result["error"]["differing_bits"] == 0, name);
  }
  BOOST_TEST(canonical >= 2u);
  BOOST_TEST(
      kernels_of(report, "reference") == (std::set<std::string>{"canonical", "gold", "hopper_units", "int8_units"}),
      boost::test_tools::per_element());
}

BOOST_AUTO_TEST_CASE(gold_differs_from_gold_by_nothing) {
  const json report = report_of(compare(
      {"--backend", "reference", "--kernels", "gold", "--shape", "17x33x65", "--dtype", "f32,f64", "--json", "-"}));
  BOOST_TEST(report["results"].size() == 2u);
  for (const json& result : report["results"]) {
    BOOST_TEST(result["error"]["total_abs"] == 0.0);
    BOOST_TEST(result["speedup"] == 1.0);
  }
}

BOOST_AUTO_TEST_CASE(scalars_and_transposes_reach_the_kernels) {
  const json report = report_of(compare({"--cpu", "--shape", "31x17x45", "--transA", "--transB", "--alpha", "-1.5",
                                         "--beta", "2", "--repeat", "2", "--json", "-"}));
  for (const json& result : report["results"]) {
    BOOST_TEST(passes_or_lacks_amx(result), result.dump());
    BOOST_TEST(result["trans_a"] == true);
    BOOST_TEST(result["trans_b"] == true);
    BOOST_TEST(result["alpha"] == -1.5);
    BOOST_TEST(result["beta"] == 2.0);
  }
}

BOOST_AUTO_TEST_CASE(results_of_another_type) {
  for (const auto& [type, result] : {std::pair{"f32", "bf16"}, std::pair{"f32", "f16"}, std::pair{"bf16", "f32"}}) {
    const json report =
        report_of(compare({"--cpu", "--shape", "40x17x1100", "--dtype", type, "--result", result, "--math", "strict",
                           "--beta", "0.5", "--check-rows", "9", "--repeat", "1", "--json", "-"}));
    BOOST_TEST(report["results"].size() > 2u);
    for (const json& entry : report["results"]) {
      BOOST_TEST(entry["verdict"] == "pass", entry.dump());
      BOOST_TEST(entry["dtype"] == type);
      BOOST_TEST(entry["result"] == result);
      if (entry["canonical"]) BOOST_TEST(entry["error"]["differing_bits"] == 0);
      BOOST_TEST(entry["freivalds"]["rows_judged"] == 40);
    }
  }
  const Outcome table = compare({"--backend", "reference", "--sizes", "16", "--result", "f16", "--repeat", "1"});
  BOOST_TEST(contains(table.out, "f32, C in f16"), table.out);
  expect_usage_error(compare({"--sizes", "16", "--dtype", "f32,f64", "--result", "f16"}), {"--result", "f16", "f64"});
  expect_usage_error(compare({"--sizes", "16", "--result", "f61"}), {"f61", "did you mean"});
  expect_usage_error(compare({"--op", "sum_of_squares", "--result", "f16"}), {"--result", "gemm"});
}

BOOST_AUTO_TEST_CASE(each_number_of_threads_is_an_entry) {
  if (!has_backend(*this, "openmp")) return;
  const json report = report_of(compare({"--backend", "openmp", "--kernels", "simd", "--sizes", "70", "--threads",
                                         "1,2", "--repeat", "1", "--json", "-"}));
  std::set<int> threads;
  for (const json& result : report["results"]) {
    threads.insert(result["threads"].get<int>());
    BOOST_TEST(result["error"]["differing_bits"] == 0);
  }
  BOOST_TEST(threads == (std::set<int>{1, 2}), boost::test_tools::per_element());
}

BOOST_AUTO_TEST_CASE(distributions_and_seeds) {
  for (const char* distribution : {"uniform", "uniform:0:1", "normal", "normal:5:0.5", "integers", "integers:1:100"}) {
    const json report = report_of(compare({"--backend", "reference", "--sizes", "40", "--dist", distribution, "--seed",
                                           "7", "--repeat", "1", "--json", "-"}));
    for (const json& result : report["results"]) {
      BOOST_TEST(result["verdict"] == "pass");
      if (std::string(distribution).starts_with("integers")) BOOST_TEST(result["error"]["total_abs"] == 0.0);
    }
  }
}

BOOST_AUTO_TEST_CASE(a_slow_kernel_is_skipped_visibly) {
  const Outcome outcome =
      compare({"--backend", "reference", "--sizes", "8,700", "--repeat", "1", "--time-limit", "1e-4"});
  BOOST_TEST(outcome.status == 0);
  BOOST_TEST(contains(outcome.out, "skipped"));
  BOOST_TEST(contains(outcome.out, "--time-limit"));
}

BOOST_AUTO_TEST_CASE(sampled_rows_are_said_to_be_sampled) {
  const json report = report_of(
      compare({"--backend", "reference", "--sizes", "60", "--check-rows", "7", "--repeat", "1", "--json", "-"}));
  for (const json& result : report["results"]) {
    BOOST_TEST(result["error"]["rows_compared"] == 7);
    BOOST_TEST(result["error"]["rows"] == 60);
    BOOST_TEST(contains(result["reason"].get<std::string>(), "7 of 60 rows"));
    BOOST_TEST(result["verdict"] == "pass");
  }
}

/// However short the race is, all elements are checked up to 512³. For larger products Freivalds' check runs, and at
/// least as many rows are checked as have 512³ multiply-adds.
BOOST_AUTO_TEST_CASE(a_short_race_does_not_make_the_check_weak) {
  std::vector<std::string> arguments{"--cpu", "--kernels", "simd", "--sizes", "512", "--repeat", "1", "--json", "-"};
  if (!sanitized) arguments.insert(arguments.end(), {"--shape", "800x1024x1024"});
  const json report = report_of(compare(arguments));
  for (const json& result : report["results"]) {
    const int compared = result["error"]["rows_compared"];
    if (result["m"] == 512) {
      BOOST_TEST(compared == 512);
      BOOST_TEST(!result.contains("freivalds"));
    } else {
      BOOST_TEST(compared >= 128);
      BOOST_TEST((compared == 800 || result["freivalds"]["rows_judged"] == 800));
    }
  }
}

BOOST_AUTO_TEST_CASE(a_cblas_library_may_prefix_its_names) {
  if (!has_backend(*this, "openmp")) return;
  const json report = report_of(compare({"--backend", "openmp", "--kernels", "cblas*", "--cblas", TESSERA_SCIPY_BLAS,
                                         "--sizes", "30", "--dtype", "f32,f64", "--json", "-"}));
  BOOST_TEST(report["results"].size() == 2u);
  for (const json& result : report["results"]) {
    BOOST_TEST(result["kernel"] == "cblas:scipy_blas");
    BOOST_TEST(result["verdict"] == "pass");
  }
}

BOOST_AUTO_TEST_CASE(reductions) {
  const json report = report_of(compare({"--cpu", "--op", "sum_of_squares", "--sizes", "1,1000,70001", "--dtype",
                                         "f32,f64", "--repeat", "2", "--json", "-"}));
  BOOST_TEST(report["results"].size() >= 6u);
  for (const json& result : report["results"]) {
    BOOST_TEST(result["op"] == "sum_of_squares");
    BOOST_TEST(!result.contains("result")); // a sum has no C, and --result is refused
    BOOST_TEST(result["verdict"] == "pass");
    if (result["canonical"]) BOOST_TEST(result["error"]["differing_bits"] == 0);
  }
}

BOOST_AUTO_TEST_CASE(reductions_of_whole_numbers) {
  const json report = report_of(compare({"--cpu", "--op", "sum_of_squares", "--sizes", "1,1000,70001", "--dtype", "i32",
                                         "--dist", "integers:-40000:40000", "--repeat", "2", "--json", "-"}));
  BOOST_TEST(report["results"].size() >= 3u);
  for (const json& result : report["results"]) {
    BOOST_TEST(result["dtype"] == "i32");
    BOOST_TEST(result["verdict"] == "pass");
    BOOST_TEST(result["error"]["total_abs"] == 0);
  }
  expect_usage_error(compare({"--dtype", "i32"}), {"--dtype", "i32", "--op sum_of_squares"});
  expect_usage_error(compare({"--dtype", "i32", "--op", "sum_of_squares", "--dist", "uniform"}),
                     {"--dist", "'uniform'", "whole numbers", "integers:-1000:1000"});
  expect_usage_error(compare({"--backend", "reference", "--dtype", "i32", "--op", "sum_of_squares", "--sizes", "100000",
                              "--dist", "integers:-16777216:16777216"}),
                     {"--dist", "100000 such whole numbers", "2^63"});
}

BOOST_AUTO_TEST_CASE(a_missing_backend_that_was_demanded) {
  if (has_gpu(json::parse(info({"--json", "--no-kernels"}).out))) return;
  const Outcome alone = compare({"--gpu", "--sizes", "8"});
  expect_usage_error(alone, {"cuda", "not available"});
  const Outcome both = compare({"--cpu", "--gpu", "--sizes", "8", "--repeat", "1", "--json", "-"});
  BOOST_TEST(both.status == 2);
  BOOST_TEST(contains(both.err, "cuda"));
  const json report = json::parse(both.out);
  BOOST_TEST(!report["results"].empty());
  BOOST_TEST(report["missing_backends"][0]["backend"] == "cuda");
  BOOST_TEST(report["missing_backends"][0]["demanded"] == true);
  BOOST_TEST(compare({"--sizes", "8", "--repeat", "1"}).status == 0); // The options demand nothing.
}

/// A processor that OpenCL shows is no GPU: --gpu leaves it out, and --backend takes it.
BOOST_AUTO_TEST_CASE(a_processor_of_opencl) {
  const json machine = json::parse(info({"--json", "--no-kernels"}).out);
  for (const json& backend : machine["backends"]) {
    if (backend["backend"] != "opencl") continue;
    if (backend["available"] == false || backend["serves_auto"] == true) {
      BOOST_TEST_MESSAGE("skipped: opencl shows no processor");
      return;
    }
  }
  const Outcome gpus = compare({"--gpu", "--sizes", "8", "--repeat", "1"});
  BOOST_TEST(!contains(gpus.out + gpus.err, "opencl"), gpus.out + gpus.err);
  const json report = report_of(
      compare({"--backend", "opencl", "--sizes", "20", "--dtype", "f32,f64", "--repeat", "1", "--json", "-"}));
  BOOST_TEST(report["results"].size() >= 2u);
  for (const json& result : report["results"])
    BOOST_TEST((result["verdict"] == "pass" || result.value("transfer", false)), result.dump());
  BOOST_TEST(contains(compare({"--list", "--backend", "opencl"}).out, "naive_coalesced"));
  const std::string text = info({"--no-kernels"}).out;
  for (const char* part : {"opencl", "compute units", "driver"}) BOOST_TEST(contains(text, part), text);
}

/// What a machine without a loader is told, wherever it looks.
BOOST_AUTO_TEST_CASE(a_machine_without_opencl) {
  const json built = json::parse(info({"--json", "--no-kernels"}).out);
  for (const json& backend : built["backends"])
    if (backend["backend"] == "opencl" && backend["built"] == false) return;
  const Variables none{{"TESSERA_OPENCL_LIBRARY", "/nonexistent/libOpenCL.so.1"}};
  for (const Outcome& outcome : {info({"--no-kernels"}, none), compare({"--list"}, none)}) {
    BOOST_TEST(outcome.status == 0);
    for (const char* part : {"opencl", "no OpenCL loader", "unset it"})
      BOOST_TEST(contains(outcome.out, part), outcome.out);
  }
  expect_usage_error(compare({"--backend", "opencl", "--sizes", "8"}, none),
                     {"opencl", "no OpenCL loader", "unset it"});
}

BOOST_AUTO_TEST_CASE(the_report_preset_takes_other_sizes) {
  const Outcome outcome =
      compare({"--preset", "report", "--backend", "reference", "--sizes", "32,48", "--repeat", "2"});
  BOOST_TEST(outcome.status == 0);
  for (const char* part : {"mean", "f64", "Speed-up", "Σ|c_gold − c|", "32×32×32", "48×48×48"})
    BOOST_TEST(contains(outcome.out, part), part);
}

BOOST_AUTO_TEST_CASE(no_colour_and_no_bar_without_a_terminal) {
  const Outcome outcome = compare({"--backend", "reference", "--sizes", "16"});
  BOOST_TEST(!contains(outcome.out, "\x1b"));
  BOOST_TEST(outcome.err == "");
}

/// util-linux's `script` runs a program on a terminal.
BOOST_AUTO_TEST_CASE(entries_appear_on_a_terminal_as_they_are_measured) {
  const auto on_a_terminal = [&](const std::string& shell_command) {
    return Process("/usr/bin/script", {"-qec", shell_command, "/dev/null"}, folder.path()).wait();
  };
  if (on_a_terminal("true").status != 0) {
    BOOST_TEST_MESSAGE("skipped: /usr/bin/script (Debian package bsdutils) is not there or finds no terminal");
    return;
  }
  const std::string command =
      report::shell_quoted(TESSERA_GEMM_COMPARE) + " --backend reference --kernels canonical --sizes 16 --repeat 1";
  const std::string out = on_a_terminal(command).out;
  const std::size_t line = out.find("reference  canonical"), off = out.find("\x1b[1A\x1b[J"),
                    table = out.find("m = 16");
  BOOST_TEST_INFO(out);
  BOOST_TEST(line < off);
  BOOST_TEST(off < table);
  BOOST_TEST(table != std::string::npos);
}

BOOST_AUTO_TEST_CASE(the_model_is_known_where_ceilings_and_operands_are) {
  if (!has_backend(*this, "openmp")) return;
  const json report = report_of(compare({"--cpu", "--cblas", "none", "--kernels", "gold,naive,transposed,simd",
                                         "--shape", "40x30x20", "--repeat", "1", "--json", "-"}));
  for (const json& entry : report["results"]) {
    BOOST_TEST_CONTEXT(entry.dump()) {
      if (entry["backend"] != "openmp") {
        BOOST_TEST(entry["model_seconds"].is_null() == (entry["backend"] == "reference"));
        continue;
      }
      BOOST_TEST(entry["model_seconds"].get<double>() > 0);
      // 24000 products and 1200 results: naive loads and stores its sum as well, transposed first copies B.
      if (entry["kernel"] == "naive") BOOST_TEST(entry["global_accesses"] == 4 * 24000 + 1200);
      if (entry["kernel"] == "transposed") BOOST_TEST(entry["global_accesses"] == 2 * 24000 + 1200 + 2 * 600);
      if (entry["kernel"] == "simd") BOOST_TEST(entry["global_accesses"].is_null());
    }
  }
}

BOOST_AUTO_TEST_CASE(rows_of_operands_are_as_far_apart_as_asked_for) {
  for (const char* padding : {"0", "3"}) {
    const json report = report_of(compare({"--backend", "reference", "--shape", "5x7x9", "--transB", "--beta", "0.5",
                                           "--ld-pad", padding, "--repeat", "1", "--json", "-"}));
    BOOST_TEST(report["inputs"]["ld_pad"].dump() == padding);
    for (const json& entry : report["results"]) BOOST_TEST(entry["verdict"] == "pass");
  }
  const Outcome huge = compare({"--backend", "reference", "--sizes", "8", "--ld-pad", "2000000000000000000"});
  BOOST_TEST(huge.status == 2);
  BOOST_TEST(contains(huge.err, "8×8 f32 elements with --ld-pad 2000000000000000000 overflows"));
  BOOST_TEST(compare({"--backend", "reference", "--sizes", "8", "--ld-pad", "-1"}).status == 2);
}

BOOST_AUTO_TEST_CASE(help_and_version) {
  const Outcome help = compare({"--help"});
  BOOST_TEST(help.status == 0);
  for (const char* part : {"--sizes", "Exit status", "--cblas", "% peak", "model"})
    BOOST_TEST(contains(help.out, part), part);
  BOOST_TEST(contains(compare({"--version"}).out, "gemm_compare"));
}

BOOST_AUTO_TEST_SUITE_END()

} // namespace tessera::test
