/// gemm_compare: every kernel of every backend on the same product, timed and checked.

#include <unistd.h>
#include <algorithm>
#include <cstdio>
#include <cstdlib>

#include <fmt/format.h>

#include <tessera/detail/printable.hpp>
#include <tessera/files.hpp>
#include <tessera/status.hpp>

#include "check/certificate.hpp"
#include "common/machine.hpp"
#include "common/notes.hpp"
#include "common/terminal.hpp"
#include "distributed/race.hpp"
#include "files/file_product.hpp"
#include "gemm_judge/elements.hpp"
#include "gemm_judge/processes/left_behind.hpp"
#include "interrupt.hpp"
#include "lens.hpp"
#include "linear_algebra/system_race.hpp"
#include "linear_algebra/ways.hpp"
#include "list.hpp"
#include "operations/operation_runner.hpp"
#include "options/cblas_choice.hpp"
#include "race/board.hpp"
#include "race/data_files.hpp"
#include "race/gemm_runner.hpp"
#include "race/judged_int8.hpp"
#include "race/reduce_runner.hpp"
#include "report/diff.hpp"
#include "report/html_report.hpp"
#include "report/markdown_report.hpp"
#include "tune/tuning.hpp"

namespace tessera::compare_app {
namespace {

/// The exit statuses; --help explains them under "Exit status".
enum ExitStatus { all_well = 0, some_wrong = 1, usage = 2 };

/// Sets the number of threads of executors, which are made once, to the most that an entry will use.
void set_thread_limit(const Options& options) {
  const int by_default = apps::thread_source().threads; // throws if a variable of the environment holds no number
  if (options.threads.empty()) return;
  const int most = *std::max_element(options.threads.begin(), options.threads.end());
  if (most > by_default) setenv("TESSERA_NUM_THREADS", std::to_string(most).c_str(), 1);
}

std::vector<std::unique_ptr<Reporter>> make_reporters(const Options& options, const RacePlan& plan,
                                                      const apps::CeilingTable& ceilings, Tuning* tuning) {
  std::vector<std::unique_ptr<Reporter>> reporters;
  if (tuning != nullptr) {
    reporters.push_back(tuning_reporter(*tuning));
    return reporters;
  }
  if (options.table_on_stdout() && options.preset != nullptr) reporters.push_back(published_reporter(options));
  if (options.table_on_stdout()) reporters.push_back(table_reporter(options));
  if (options.table_on_stdout() && options.errors) reporters.push_back(errors_reporter(options));
  if (options.table_on_stdout()) reporters.push_back(grade_reporter(options));
  if (options.wants_document()) reporters.push_back(document_reporter(options, plan, ceilings));
  if (!options.csv.empty()) reporters.push_back(csv_reporter(options));
  const bool over_sizes = options.mean || (options.preset != nullptr && options.preset->jumps);
  if (over_sizes && options.table_on_stdout()) reporters.push_back(summary_reporter(options));
  if (options.table_on_stdout()) reporters.push_back(findings_reporter(options, plan));
  return reporters;
}

std::string name_of(const Task& task, const Group& group) {
  if (task.way != nullptr) return task.way->name;
  return group.operation != nullptr ? progress_name(task, group) : std::string(task.name());
}

/// Races products of the matrices in files and writes the first result that passes to --out. Returns false if --out was
/// given and no kernel passed.
bool run_files(Bench& bench, const Group& group) {
  const DataFiles files(bench.options, group.type);
  std::vector<std::byte> product;
  const bool wanted = !bench.options.file_out.empty();
  GemmRunner runner(bench, group, &files.given(), wanted ? &product : nullptr);
  runner.run();
  if (!wanted) return true;
  if (runner.product_by().empty()) {
    apps::note("gemm_compare: --out: no kernel passed, so {} is not written\n", bench.options.file_out);
    return false;
  }
  write_product(bench.options, Problem(bench.options, group.shape, group.type).c, product);
  apps::note("gemm_compare: wrote the product of {} to {}\n", detail::printable(runner.product_by()),
             bench.options.file_out);
  return true;
}

bool run_group(Bench& bench, const Group& group) {
  if (bench.options.reads_files()) return run_files(bench, group);
  switch (bench.options.operation) {
    case Operation::Gemm:
      if (judge::is_whole(group.type))
        run_int8_products(bench, group);
      else
        GemmRunner(bench, group, nullptr, nullptr).run();
      break;
    case Operation::SumOfSquares:
      run_reductions(bench, group);
      break;
    case Operation::User:
      run_operation(bench, group);
      break;
    case Operation::System:
      run_systems(bench, group);
      break;
  }
  return true;
}

int compare(const Options& options) {
  RacePlan plan = make_plan(options);
  bool demanded_missing = false;
  for (const MissingBackend& missing : plan.missing) {
    apps::note("gemm_compare: {}\n", detail::printable(missing.reason));
    demanded_missing |= missing.demanded;
  }
  const bool findings = options.table_on_stdout() && !options.tunes; // they have the line as well
  if (!findings && !plan.left_out.empty()) apps::note("gemm_compare: {}\n", left_out_line(plan));
  JudgedKernels judged(options); // compiled first, so that an error of the compiler shows at once
  Progress progress(options.progress);
  // Never destroyed: the thread that watches for interrupts may use them until the process ends.
  static auto& ceilings = *new apps::CeilingTable(plan.backends, options.measure_ceilings, "gemm_compare");
  Tuning* tuning = options.tunes ? new Tuning(options, plan) : nullptr;
  Board& board = *new Board(make_reporters(options, plan, ceilings, tuning), progress, options.mean);
  on_interrupt([&board](int status) { board.leave(status); });
  Bench bench{options, board, progress, ceilings, judged};
  for (const Group& group : plan.groups)
    for (const Task& task : group.tasks)
      progress.expect(name_of(task, group), expected_operations(options, group.shape));
  bool complete = true;
  for (Group& group : plan.groups)
    if (tuning == nullptr || tuning->wants(group)) complete &= run_group(bench, group);
  board.finish();
  if (board.any_wrong()) return some_wrong;
  if (!board.any_timed() && tuning == nullptr) {
    apps::note("gemm_compare: no {} ran: each was rejected or skipped\n",
               options.operation == Operation::User ? "operation" : "kernel");
    return usage;
  }
  if (!complete) return some_wrong;
  return demanded_missing || bench.demanded_missing ? usage : all_well;
}

int compare_reports(const Options& options) {
  const report::Diff diff = report::diff_runs(report::load_run(options.diff_old), report::load_run(options.diff_new));
  fmt::print("{}", detail::printable(report::diff_report(diff), true));
  return options.fail_on_slower && diff.worse() ? some_wrong : all_well;
}

int show_report(const Options& options) {
  for (const std::string& target : {options.html, options.markdown})
    if (!target.empty() && target != "-") check_writable(target);
  const report::Run earlier = report::load_run(options.report);
  if (!options.html.empty()) write_report(options.html, report::html_report(earlier.document));
  if (!options.markdown.empty()) write_report(options.markdown, report::markdown_report(earlier.document));
  return all_well;
}

int run(int argc, char** argv) {
  const std::optional<Options> options = parse_options(argc, argv);
  if (!options) return all_well;
  if (options->compares_reports()) return compare_reports(*options);
  if (options->shows_report()) return show_report(*options);
  if (options->check) {
    if (!options->json.empty() && options->json != "-") check_writable(options->json);
    return print_certificate(*options) ? all_well : some_wrong;
  }
  if (options->lens) return look_through_lens(*options);
  set_thread_limit(*options);
  if (options->distributed && !options->json.empty() && options->json != "-") check_writable(options->json);
  if (options->distributed) return race_engines(*options) ? all_well : some_wrong;
  if (options->memory_limit > 0) {
    multiply_files(*options);
    return all_well;
  }
  choose_cblas(options->cblas);
  for (const std::string& target : {options->json, options->csv, options->html, options->markdown, options->file_out})
    if (!target.empty() && target != "-") check_writable(target);
  if (options->list) {
    list_kernels(*options);
    return all_well;
  }
  return compare(*options);
}

} // namespace
} // namespace tessera::compare_app

int main(int argc, char** argv) try {
  tessera::apps::open_standard_streams();
  tessera::compare_app::watch_interrupts();
  tessera::compare_app::on_interrupt([](int status) { // compare() replaces this handler once there are results to print
    tessera::judge::leave_nothing_behind();
    _exit(status);
  });
  const int status = tessera::compare_app::run(argc, argv);
  tessera::apps::flush_stdout();
  return status;
} catch (const std::exception& error) {
  tessera::apps::note_error("gemm_compare", error);
  return tessera::compare_app::usage;
}
