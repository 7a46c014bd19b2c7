/// gemm_compare: every kernel of every backend on the same product, timed and checked.

#include <algorithm>
#include <cstdio>
#include <cstdlib>

#include <fmt/format.h>

#include <tessera/status.hpp>

#include "board.hpp"
#include "gemm_runner.hpp"
#include "interrupt.hpp"
#include "list.hpp"

namespace tessera::compare_app {
namespace {

/// See "Exit status" of --help.
enum ExitStatus { all_well = 0, some_wrong = 1, usage = 2 };

/// Executors are made once, with as many threads as any row will use.
void set_thread_limit(const Options& options) {
  const int by_default = default_threads(); // throws if the environment holds no number
  if (options.threads.empty()) return;
  const int most = *std::max_element(options.threads.begin(), options.threads.end());
  if (most > by_default) setenv("TESSERA_NUM_THREADS", std::to_string(most).c_str(), 1);
}

std::vector<std::unique_ptr<Reporter>> make_reporters(const Options& options, const Plan& plan) {
  std::vector<std::unique_ptr<Reporter>> reporters;
  if (options.table_on_stdout()) reporters.push_back(table_reporter(options));
  if (!options.json.empty()) reporters.push_back(json_reporter(options, plan));
  if (!options.csv.empty()) reporters.push_back(csv_reporter(options));
  return reporters;
}

int compare(const Options& options) {
  const Plan plan = make_plan(options);
  bool demanded_missing = false;
  for (const MissingBackend& missing : plan.missing) {
    fmt::print(stderr, "gemm_compare: {}\n", missing.reason);
    demanded_missing |= missing.demanded;
  }
  Progress progress(options.progress);
  // Never destroyed: the thread that watches for interrupts may use it until the process ends.
  Board& board = *new Board(make_reporters(options, plan), progress, options.mean);
  watch_interrupts([&board](int status) { board.leave(status); });
  CeilingTable ceilings;
  Bench bench{options, board, progress, ceilings};
  for (const Group& group : plan.groups)
    for (const Task& task : group.tasks) progress.expect(task.gemm->name, expected_operations(options, group.shape));
  for (const Group& group : plan.groups) GemmRunner(bench, group, nullptr, nullptr).run();
  board.finish();
  if (board.any_wrong()) return some_wrong;
  return demanded_missing ? usage : all_well;
}

int run(int argc, char** argv) {
  const std::optional<Options> options = parse_options(argc, argv);
  if (!options) return all_well;
  set_thread_limit(*options);
  check_writable("--json", options->json);
  check_writable("--csv", options->csv);
  if (options->list) {
    list_kernels(*options);
    return all_well;
  }
  return compare(*options);
}

} // namespace
} // namespace tessera::compare_app

int main(int argc, char** argv) try {
  tessera::compare_app::hold_interrupts();
  return tessera::compare_app::run(argc, argv);
} catch (const std::exception& error) {
  fmt::print(stderr, "gemm_compare: {}\n", error.what());
  return tessera::compare_app::usage;
}
