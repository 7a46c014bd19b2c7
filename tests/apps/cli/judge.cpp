/// Tests kernels from outside with the real program, and the commands that show a failing entry again.

#include <algorithm>
#include <boost/test/unit_test.hpp>
#include <chrono>
#include <csignal>
#include <filesystem>
#include <sstream>
#include <thread>

#include <nlohmann/json.hpp>

#include "results.hpp"
#include "support/process.hpp"

namespace tessera::test {

using nlohmann::json;

namespace {

namespace fs = std::filesystem;

struct Judged : Programs {
  /// Runs the kernel beside one kernel of the ladder, because a run never lacks one.
  Outcome judge(std::vector<std::string> arguments, const Variables& variables = {}) const {
    arguments.insert(arguments.end(), {"--backend", "reference", "--kernels", "canonical", "--sizes", "48"});
    return compare(arguments, variables);
  }
  json report() const { return json::parse(folder.read("out.json")); }
  json entry_of(const std::string& kernel) const { return result_of(report(), kernel); }
  /// The reason without what the judge adds where the machine is busy, and where the system refuses a part of the
  /// sandbox, as containers do.
  std::string reason_of(const std::string& kernel) const {
    auto reason = entry_of(kernel)["reason"].get<std::string>();
    if (reason.starts_with("right, but not how fast: "))
      reason.erase(0, std::min(reason.find("; "), reason.size() - 2) + 2);
    const auto remark = reason.find("judged without ");
    if (remark == std::string::npos) return reason;
    return reason.substr(0, remark < 2 ? 0 : remark - 2); // it follows "; " where something stands before it
  }
  /// A shell runs the lines below "to see it again" as they are printed.
  std::vector<Outcome> run_again(const std::string& table, const Variables& variables = {}) const {
    std::vector<Outcome> outcomes;
    std::istringstream lines(table);
    for (std::string line; std::getline(lines, line);) {
      if (!line.starts_with("  gemm_compare ")) continue;
      Variables all = variables;
      all.emplace_back("PATH", fs::path(TESSERA_GEMM_COMPARE).parent_path().string() + ":" + std::getenv("PATH"));
      outcomes.push_back(Process("/bin/sh", {"-c", line + " --json -"}, folder.path(), all).wait());
    }
    return outcomes;
  }
};

/// On a busy machine the judge cannot say how fast a right kernel is.
bool is_right(const json& entry) { return entry["verdict"] == "pass" || entry["verdict"] == "cannot say"; }

std::string example(const char* name) { return std::string(TESSERA_EXAMPLE_KERNELS "/") + name; }
std::string cheat(const char* name) { return std::string(TESSERA_JUDGED_KERNELS "/") + name + ".so"; }

} // namespace

BOOST_FIXTURE_TEST_SUITE(judged_kernels, Judged)

BOOST_AUTO_TEST_CASE(examples_are_compiled_and_pass) {
  const Outcome outcome = judge({"--kernel", example("cpu_leetgpu.cpp"), "--json", "out.json"});
  BOOST_TEST(outcome.status == 0, outcome.err);
  const json passed = entry_of("cpu_leetgpu.cpp");
  BOOST_TEST(is_right(passed));
  BOOST_TEST(passed["backend"] == "external");
  BOOST_TEST(passed["device"] == "cpu");
  BOOST_TEST(passed["seconds"]["samples"] == 7);
  BOOST_TEST(!contains(outcome.out, "to see it again"));
  const Outcome in_c = judge({"--kernel", example("cpu_tessera.c"), "--abi", "tessera", "--kernel-flags", "-O1",
                              "--repeat", "2", "--json", "out.json"});
  BOOST_TEST(in_c.status == 0, in_c.err);
  BOOST_TEST(is_right(entry_of("cpu_tessera.c")));
}

BOOST_AUTO_TEST_CASE(a_cheat_is_named_and_the_run_goes_on) {
  const Outcome outcome = judge({"--kernel", cheat("cached_answer"), "--kernel", cheat("crashes"), "--kernel",
                                 cheat("no_symbol"), "--kernel", cheat("honest"), "--json", "out.json"});
  BOOST_TEST(outcome.status == 1);
  const auto expect = [&](const char* kernel, const char* verdict, const char* offence) {
    const json result = entry_of(std::string(kernel) + ".so");
    BOOST_TEST(result["verdict"] == verdict, kernel);
    BOOST_TEST(result["offence"] == offence, kernel);
    BOOST_TEST(contains(outcome.out, result["reason"].get<std::string>()), kernel);
  };
  expect("cached_answer", "wrong", "cached answer");
  expect("crashes", "failed", "crashes");
  expect("no_symbol", "failed", "missing symbol");
  BOOST_TEST(is_right(entry_of("honest.so")));
  BOOST_TEST(contains(entry_of("no_symbol.so")["reason"].get<std::string>(), "it does not export solve"));
}

/// The first and the last of three rows are compared. The kernel is wrong in the row between them, whose A has the
/// mark, wherever the judge moves it.
BOOST_AUTO_TEST_CASE(what_is_wrong_outside_the_compared_rows_is_found) {
  folder.write("a.npy", npy_bytes<float>("<f4", false, "(3, 2)", {0.25F, 2, 0.5F, 3, 0.75F, 4}));
  folder.write("b.npy", npy_bytes<float>("<f4", false, "(2, 3)", {1, 2, 3, 4, 5, 6}));
  const auto check = [&](const char* kernel, const char* rows) {
    return compare({"--kernel", cheat(kernel), "--backend", "reference", "--kernels", "canonical", "--a", "a.npy",
                    "--b", "b.npy", "--check-rows", rows, "--json", "out.json"});
  };
  BOOST_TEST(check("wrong_in_marked_rows", "2").status == 1);
  const json wrong = entry_of("wrong_in_marked_rows.so");
  BOOST_TEST(wrong["verdict"] == "wrong");
  BOOST_TEST(wrong["offence"] == "wrong");
  // The judge's call with new data may come first. It finds the row too.
  const auto reason = wrong["reason"].get<std::string>();
  BOOST_TEST((contains(reason, "times the bound of row 1 by Freivalds; the 2 rows that were compared are right") ||
              contains(reason, "times its bound, with new data")),
             reason);
  BOOST_TEST(wrong["error"]["max_over_bound"].get<double>() <= 1);
  BOOST_TEST(wrong["freivalds"]["max_over_bound"].get<double>() > 1);
  BOOST_TEST(wrong["freivalds"]["worst_row"] == 1);
  BOOST_TEST(check("honest", "2").status == 0);
  const json right = entry_of("honest.so");
  BOOST_TEST(reason_of("honest.so") == "checked 2 of 3 rows, and all by Freivalds");
  BOOST_TEST(right["freivalds"]["rows_judged"] == 3);
  BOOST_TEST(check("honest", "all").status == 0);
  BOOST_TEST(reason_of("honest.so") == "");
  BOOST_TEST(!entry_of("honest.so").contains("freivalds"));
}

/// No kernel of a ladder multiplies int8, so a run of it alone needs none.
BOOST_AUTO_TEST_CASE(other_types_of_operands) {
  const std::vector<std::string> kernels{
      "--kernel", cheat("solve_types"), "--kernel", cheat("low_precision_types"), "--sizes", "70", "--json",
      "out.json"};
  const auto with_types = [&](std::vector<std::string> words) {
    words.insert(words.end(), kernels.begin(), kernels.end());
    return compare(words);
  };
  const Outcome int8 = with_types({"--dtype", "i8"});
  BOOST_TEST(int8.status == 1);
  BOOST_TEST(contains(int8.out, "m = 70, n = 70, k = 70, i8"), int8.out);
  BOOST_TEST(is_right(entry_of("solve_types.so")));
  BOOST_TEST(entry_of("solve_types.so")["dtype"] == "i8");
  BOOST_TEST(entry_of("solve_types.so")["processor_seconds"].get<double>() > 0);
  BOOST_TEST(entry_of("low_precision_types.so")["offence"] == "wrong");
  const std::vector<Outcome> again = run_again(int8.out);
  BOOST_TEST_REQUIRE(again.size() == 1u);
  BOOST_TEST(again[0].status == 1, again[0].err);
  const Outcome halves = with_types({"--dtype", "f16,bf16", "--backend", "reference", "--kernels", "canonical"});
  BOOST_TEST(halves.status == 1);
  int right = 0, wrong = 0;
  const json whole = report();
  for (const json& one : whole["results"]) {
    right += one["kernel"] == "solve_types.so" && is_right(one);
    wrong += one["kernel"] == "low_precision_types.so" && one["verdict"] == "wrong";
  }
  BOOST_TEST(right == 2);
  BOOST_TEST(wrong == 2);
}

/// A kernel of another interface than --abi says is told its own, as a library and as a source.
BOOST_AUTO_TEST_CASE(another_interface_is_named) {
  const auto reason = [&](const std::string& file, const std::vector<std::string>& more) {
    std::vector<std::string> arguments{"--kernel", file, "--json", "out.json"};
    arguments.insert(arguments.end(), more.begin(), more.end());
    BOOST_TEST(judge(arguments).status == 1);
    const json result = entry_of(fs::path(file).filename());
    BOOST_TEST(result["offence"] == "missing symbol");
    return result["reason"].get<std::string>();
  };
  BOOST_TEST(contains(reason(cheat("tessera_honest"), {}),
                      "it exports tessera_kernel, and --abi leetgpu asks for solve; use --abi tessera"));
  BOOST_TEST(contains(reason(example("cpu_tessera.c"), {"--kernel-flags", "-O1"}), "use --abi tessera"));
  BOOST_TEST(contains(reason(example("cpu_tessera.c"), {"--kernel-flags", "-O1", "--dtype", "f64"}),
                      "--abi leetgpu asks for solve_f64; use --abi tessera"));
  BOOST_TEST(contains(reason(cheat("honest"), {"--abi", "tessera"}),
                      "it exports solve, and --abi tessera asks for tessera_kernel; use --abi leetgpu"));
  BOOST_TEST(contains(reason(cheat("honest"), {"--abi", "cblas"}), "use --abi leetgpu"));
  BOOST_TEST(contains(reason(cheat("cblas_honest"), {"--dtype", "f64"}), "it exports cblas_"));
  BOOST_TEST(contains(reason(cheat("cblas_honest"), {}), "use --abi cblas"));
}

BOOST_AUTO_TEST_CASE(bad_usage) {
  expect_usage_error(compare({"--dtype", "i8"}), {"--dtype", "i8 is for --kernel and --check"});
  expect_usage_error(judge({"--kernel", "nowhere.so"}), {"--kernel", "there is no file nowhere.so"});
  expect_usage_error(judge({"--kernel", cheat("honest"), "--abi", "leetgpo"}), {"leetgpo", "did you mean 'leetgpu'"});
  expect_usage_error(judge({"--kernel", cheat("honest"), "--device", "cup"}), {"--device", "cup", "use cpu or cuda"});
  expect_usage_error(judge({"--abi", "leetgpu"}), {"--abi", "--kernel"});
  expect_usage_error(judge({"--kernel", cheat("honest"), "--kernel-time-limit", "0"}), {"--kernel-time-limit"});
  folder.write("kernel.txt", "");
  expect_usage_error(judge({"--kernel", "kernel.txt"}), {"kernel.txt", "neither a shared library"});
}

BOOST_AUTO_TEST_CASE(a_source_that_does_not_compile_is_an_entry) {
  folder.write("broken.cpp", "extern \"C\" void solve( { this is not C++; }\n");
  const Outcome outcome = judge({"--kernel", "broken.cpp", "--json", "out.json"});
  BOOST_TEST(outcome.status == 1);
  BOOST_TEST(entry_of("broken.cpp")["offence"] == "does not compile");
  BOOST_TEST(entry_of("canonical")["verdict"] == "pass");
  BOOST_TEST(contains(outcome.err, "error:"));
}

/// How many control groups there are of the judge in this process. None can be made on some machines.
int control_groups_of(int process) {
  int count = 0;
  std::error_code error;
  const fs::directory_options options = fs::directory_options::skip_permission_denied;
  for (fs::recursive_directory_iterator at("/sys/fs/cgroup", options, error), end; at != end; at.increment(error))
    count += at->path().filename().string().starts_with("tessera-judge-" + std::to_string(process) + "-") ? 1 : 0;
  return count;
}

BOOST_AUTO_TEST_CASE(an_interrupt_leaves_nothing_behind) {
  const Folder temporary;
  // One source compiles for ever. The other is compiled, says in the judge's scratch folder that it runs, and hangs.
  folder.write("compiler", "#!/bin/sh\necho x > \"$TMPDIR/half\"\nsleep 100 & sleep 100\n");
  fs::permissions(folder.path() / "compiler", fs::perms::owner_all);
  folder.write("hangs.c",
               "#include <stdio.h>\n#include <stdlib.h>\n"
               "void solve(void) {\n  char path[4096];\n"
               "  snprintf(path, sizeof path, \"%s/running\", getenv(\"TMPDIR\"));\n"
               "  fclose(fopen(path, \"w\"));\n  for (;;);\n}\n");
  for (const bool while_compiling : {true, false}) {
    Variables variables{{"TMPDIR", temporary.path().string()}};
    if (while_compiling) variables.emplace_back("CC", (folder.path() / "compiler").string());
    Process process(TESSERA_GEMM_COMPARE,
                    {"--kernel", "hangs.c", "--backend", "reference", "--kernels", "canonical", "--sizes", "16",
                     "--json", "out.json", "--no-progress"},
                    folder.path(), variables);
    const auto deadline = std::chrono::steady_clock::now() + std::chrono::seconds(60);
    // The kernel's scratch folder may be a file system that only its own processes see.
    const auto is_there = [&](const char* file) {
      std::error_code error;
      for (const std::string& name : temporary.names())
        for (const auto& seen_by : fs::directory_iterator("/proc"))
          if (fs::exists(seen_by.path().string() + "/root" + (temporary.path() / name / file).string(), error))
            return true;
      return false;
    };
    const char* sign = while_compiling ? "half" : "running";
    while (!is_there(sign) && std::chrono::steady_clock::now() < deadline)
      std::this_thread::sleep_for(std::chrono::milliseconds(10));
    BOOST_TEST(is_there(sign));
    const int id = process.id();
    process.send(SIGINT);
    const Outcome outcome = process.wait();
    BOOST_TEST(outcome.status == 130);
    BOOST_TEST(temporary.names().empty());
    BOOST_TEST(control_groups_of(id) == 0);
    if (while_compiling) continue;
    BOOST_TEST(entry_of("canonical")["verdict"] == "pass");
    const json whole = report();
    for (const json& one : whole["results"]) BOOST_TEST(one["verdict"] != "failed"); // The kernel did nothing wrong.
  }
}

BOOST_AUTO_TEST_CASE(a_failing_entry_shows_its_command) {
  const Variables odd{{"TESSERA_PLUGIN_PATH", TESSERA_ODD_DEVICE_FOLDER}};
  const Outcome outcome = compare({"--backend", "cuda", "--kernels", "fine,off_by_one,failing", "--sizes", "8,9",
                                   "--dtype", "f32", "--alpha", "1.5", "--transA", "--seed", "3", "--repeat", "2"},
                                  odd);
  BOOST_TEST(outcome.status == 1);
  BOOST_TEST(contains(outcome.out,
                      "\n  gemm_compare --backend cuda --kernels off_by_one --sizes 8 --transA --alpha 1.5 "
                      "--seed 3\n"),
             outcome.out);
  const std::vector<Outcome> again = run_again(outcome.out, odd);
  BOOST_TEST(again.size() == 4u); // two kernels, two sizes
  for (const Outcome& one : again) {
    BOOST_TEST(one.status == 1);
    const json result = result_of(json::parse(one.out), contains(one.out, "failing") ? "failing" : "off_by_one");
    BOOST_TEST(result["verdict"] == (result["kernel"] == "failing" ? "failed" : "wrong"));
    BOOST_TEST(result["alpha"] == 1.5);
  }
}

BOOST_AUTO_TEST_CASE(a_judged_entry_shows_its_command) {
  fs::copy(cheat("modifies_inputs"), folder.path() / "it's mine.so");
  const Outcome outcome = judge({"--kernel", "it's mine.so", "--kernel-time-limit", "9", "--json", "out.json"});
  BOOST_TEST(outcome.status == 1);
  const json first = entry_of("it's mine.so");
  const std::vector<Outcome> again = run_again(outcome.out);
  BOOST_TEST_REQUIRE(again.size() == 1u);
  BOOST_TEST(again[0].status == 1, again[0].err);
  for (const char* key : {"verdict", "offence"})
    BOOST_TEST(result_of(json::parse(again[0].out), "it's mine.so")[key] == first[key]);
}

BOOST_AUTO_TEST_SUITE_END()

} // namespace tessera::test
