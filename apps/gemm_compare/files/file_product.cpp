#include "file_product.hpp"

#include <unistd.h>
#include <algorithm>
#include <atomic>
#include <cstdio>

#include <fmt/format.h>

#include <tessera/backend.hpp>
#include <tessera/beyond_memory/file_product.hpp>
#include <tessera/detail/printable.hpp>
#include <tessera/detail/stopwatch.hpp>
#include <tessera/status.hpp>

#include "common/notes.hpp"
#include "common/terminal.hpp"
#include "common/words.hpp"
#include "interrupt.hpp"
#include "race/progress.hpp"

namespace tessera::compare_app {
namespace {

constexpr const char* whole_product = "product";

/// Adds the executors of a backend: one for each device of --devices, or the one of its own choice.
void add_executors(Backend backend, const std::vector<int>& devices, std::vector<Executor*>& executors) {
  if (devices.empty()) executors.push_back(&executor(backend));
  for (const int device : devices) executors.push_back(&executor(backend, device));
}

/// Returns the executors that compute: every backend that is named; with --cpu alone the best one of the host, with
/// --gpu alone all that have devices; none, which leaves the choice to the library, where nothing is named.
std::vector<Executor*> executors_of(const Options& options) {
  std::vector<Executor*> executors;
  for (const BackendRequest& request : options.backends)
    if (request.demanded) add_executors(request.backend, options.devices, executors);
  if (executors.empty() && !options.backends.empty())
    for (const BackendInfo& info : available_backends())
      if (info.available && info.memory == Memory::Host) return {&executor(info.backend)};
  if (executors.empty() && !options.devices.empty())
    throw InvalidArgument("--devices: needs --gpu or --backend as well, which say whose devices they are");
  return executors;
}

std::string executor_names(const std::vector<Executor*>& executors) {
  std::vector<std::string> names;
  for (const Executor* executor : executors) {
    const Capabilities& machine = executor->capabilities();
    names.emplace_back(to_string(machine.backend));
    if (!machine.host_memory) names.back() += fmt::format(":{}", machine.device_index);
  }
  return names.empty() ? "the best backend" : apps::joined(names, ", ");
}

/// What the bar, and the handler of an interrupt, know of the product.
struct Course {
  explicit Course(bool shows) : bar(shows) {}

  Progress bar;
  measure::HostStopwatch watch;
  double operations_shown = 0;
  std::atomic<Index> blocks = 0, blocks_done = 0;
};

void show_course(Course& course, const FileProductProgress& now) {
  if (now.operations_done == 0 && course.blocks == 0) course.bar.expect(whole_product, now.operations);
  course.blocks = now.blocks;
  course.blocks_done = now.blocks_done;
  const double operations = now.operations_done - course.operations_shown;
  course.operations_shown = now.operations_done;
  // The speed so far says more than the speed of one slice.
  if (operations > 0)
    course.bar.done(whole_product, operations, course.watch.seconds() * operations / now.operations_done);
  course.bar.show(fmt::format("{} of {} blocks on the disk, {:.2f} GB read, {:.2f} GB written", now.blocks_done,
                              now.blocks, static_cast<double>(now.bytes_read) / 1e9,
                              static_cast<double>(now.bytes_written) / 1e9));
}

void print_report(const Options& options, const FileProductReport& report, const std::string& who) {
  const FileProductPlan& plan = report.plan;

  const double elements = static_cast<double>(plan.bytes_to_write) / static_cast<double>(size_of(plan.result));
  const double operations = options.alpha == 0 ? 0 : 2.0 * elements * static_cast<double>(plan.k);
  constexpr double mib = 1 << 20;
  fmt::print("m = {}, n = {}, k = {}, {}, {}\n", plan.m, plan.n, plan.k, to_string(plan.type), who);
  fmt::print("memory   {:.1f} MiB planned, {:.1f} MiB of buffers allocated, limit {:.1f} MiB\n",
             static_cast<double>(plan.planned_bytes) / mib, static_cast<double>(report.allocated_bytes) / mib,
             static_cast<double>(options.memory_limit) / mib);
  fmt::print("blocks   {} of {}×{}, {} done before; A is read {} k at a time, B {} k\n", plan.blocks, plan.block_m,
             plan.block_n, plan.blocks_done, plan.depth_a, plan.depth_b);
  fmt::print("read     {} bytes, by the formula {}\n", report.bytes_read, plan.bytes_to_read);
  fmt::print("written  {} bytes, by the formula {}\n", report.bytes_written, plan.bytes_to_write);
  fmt::print("time     {:.3f} s, {:.2f} GFLOP/s; executors waited {:.3f} s for slices and {:.3f} s for the writer\n",
             report.seconds, operations / report.seconds / 1e9, report.seconds_reading, report.seconds_writing);
}

} // namespace

void multiply_files(const Options& options) {
  FileProduct product{.a = options.file_a,
                      .b = options.file_b,
                      .out = options.file_out,
                      .memory_limit = options.memory_limit,
                      .op_a = options.op_a,
                      .op_b = options.op_b,
                      .alpha = options.alpha,
                      .beta = options.beta,
                      .c = options.file_c,
                      .result = options.result,
                      .executors = executors_of(options),
                      .math = options.maths.empty() ? Math::Strict : options.maths.front(),
                      .kernel = options.kernels.empty() ? "" : options.kernels.front(),
                      .threads = options.threads.empty() ? 0 : options.threads.front(),
                      .start_over = options.start_over};
  const FileProductPlan plan = plan_files(product);
  if (plan.blocks_done > 0)
    apps::note("gemm_compare: goes on with an unfinished product of {}: {} of {} blocks are done\n",
               detail::printable(options.file_out), plan.blocks_done, plan.blocks);
  // Never destroyed: the thread that watches for interrupts may use it until the process ends.
  static auto& course = *new Course(options.progress);
  on_interrupt([out = options.file_out](int status) {
    course.bar.clear();
    apps::note("gemm_compare: interrupted; {} of {} blocks of {} are on the disk, and the same command goes on\n",
               course.blocks_done.load(), course.blocks.load(), detail::printable(out));
    _exit(status);
  });
  product.progress = [](const FileProductProgress& now) { show_course(course, now); };
  const FileProductReport report = gemm_files(product);
  course.bar.clear();
  print_report(options, report, executor_names(product.executors));
  apps::note("gemm_compare: wrote the product to {}\n", detail::printable(options.file_out));
}

} // namespace tessera::compare_app
