/// Runs functors: a loop of the host, or device code of the program's plug-in.

#include <new>
#include <string>

#include <tessera/backend/out_of_memory.hpp>
#include <tessera/detail/floating_point.hpp>
#include <tessera/detail/user_kernel/run_functor.hpp>
#include <tessera/executor.hpp>
#include <tessera/status.hpp>

#include "core/executor/executor_memory.hpp"
#include "kernels_plugin.hpp"

namespace tessera::detail {
namespace {

/// Throws where a launch failed. Where the device failed before, the queue says so, and whether the process can go on.
[[noreturn]] void throw_launch_error(const KernelRun& run, const KernelEntry& entry, int error) {
  if (error == kernel_not_offered)
    throw BackendUnavailable("functor '" + std::string(run.name) +
                             "' is in the plug-in, but not for this operation: its call operator there takes another "
                             "number of indices or returns another type; compile both from one header");
  std::string why = "launch of user kernel '" + std::string(run.name) + "': " + table_of(entry).error_text(error);
  if (const Status status = run.queue.synchronize(); !status.ok()) why += "; " + status.why;
  throw DeviceError(why);
}

} // namespace

void run_on_host(const KernelRun& run, Index count, Index grain, RangeBody body, const void* context) {
  const ContractArithmetic contract;
  throw_if_failed(run.executor.run_range(run.queue, {.count = count,
                                                     .grain = run.options.grain > 0 ? run.options.grain : grain,
                                                     .body = body,
                                                     .context = context,
                                                     .threads = run.options.threads}));
}

void run_on_device(const KernelRun& run, std::atomic<const KernelEntry*>& known, void* value,
                   std::size_t value_size) try {
  const ContractArithmetic contract;
  const KernelEntry* entry = known.load(std::memory_order_acquire);
  if (entry == nullptr) {
    entry = find_kernel(run, value_size).entry;
    known.store(entry, std::memory_order_release);
  }
  ExecutorMemory scratch(run.executor);
  KernelLevels levels;
  if (value_size != 0) {
    levels = kernel_levels(run.rows * run.cols, value_size);
    throw_if_failed(scratch.allocate_for(run.queue, levels.bytes));
  }
  const int error = entry->launch({.op = run.op,
                                   .dimensions = run.dimensions,
                                   .rows = run.rows,
                                   .cols = run.cols,
                                   .functor = run.functor,
                                   .scratch = scratch.data(),
                                   .stream = run.queue.native(),
                                   .device = run.executor.capabilities().device_index});
  if (error != 0) throw_launch_error(run, *entry, error);
  if (value == nullptr) return;
  const void* const result = static_cast<const char*>(scratch.data()) + levels.values_at[levels.levels - 1];
  throw_if_failed(run.executor.copy_out(run.queue, value, value_size, result, value_size, value_size, 1));
} catch (const std::bad_alloc& error) {
  throw_out_of_memory(error);
}

} // namespace tessera::detail
