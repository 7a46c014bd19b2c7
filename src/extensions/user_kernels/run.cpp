/// Runs functors: a loop of the host, or device code of the program's plug-in.

#include <new>
#include <string>

#include <tessera/backend/out_of_memory.hpp>
#include <tessera/detail/floating_point.hpp>
#include <tessera/detail/user_kernel/run_functor.hpp>
#include <tessera/executor.hpp>
#include <tessera/status.hpp>
#include <tessera/user_kernel/spirv_executor.hpp>

#include "core/executor/executor_memory.hpp"
#include "kernels_plugin.hpp"

namespace tessera::detail {
namespace {

[[noreturn]] void throw_not_offered(const KernelRun& run) {
  throw BackendUnavailable("functor '" + std::string(run.name) +
                           "' is in the plug-in, but not for this operation: its call operator there takes another "
                           "number of indices or returns another type; compile both from one header");
}

/// Throws where a launch failed. Where the device failed before, the queue says so, and whether the process can go on.
[[noreturn]] void throw_launch_error(const KernelRun& run, const KernelEntry& entry, int error) {
  if (error == kernel_not_offered) throw_not_offered(run);
  std::string why = "launch of user kernel '" + std::string(run.name) + "': " + table_of(entry).error_text(error);
  if (const Status status = run.queue.synchronize(); !status.ok()) why += "; " + status.why;
  throw DeviceError(why);
}

/// Launches the functor's device code of the plug-in for CUDA.
void run_cuda(const KernelRun& run, const KernelEntry& entry, void* scratch) {
  const int error = entry.launch({.op = run.op,
                                  .dimensions = run.dimensions,
                                  .rows = run.rows,
                                  .cols = run.cols,
                                  .functor = run.functor,
                                  .scratch = scratch,
                                  .stream = run.queue.native(),
                                  .device = run.executor.capabilities().device_index});
  if (error != 0) throw_launch_error(run, entry, error);
}

/// Lets the executor run the functor's device code in SPIR-V.
void run_spirv(const KernelRun& run, SpirvExecutor& executor, const KnownDeviceCode& known, void* scratch,
               std::size_t value_size) {
  const Status status = executor.run_spirv(run.queue, {.table = known.spirv_table.load(std::memory_order_relaxed),
                                                       .functor = known.spirv.load(std::memory_order_relaxed),
                                                       .bytes = run.functor,
                                                       .op = run.op,
                                                       .dimensions = run.dimensions,
                                                       .rows = run.rows,
                                                       .cols = run.cols,
                                                       .value_size = value_size,
                                                       .scratch = scratch});
  if (status.code == StatusCode::Rejected) throw_not_offered(run);
  if (status.code == StatusCode::Unavailable) unavailable(run, status.why);
  if (status.code == StatusCode::DeviceError)
    throw DeviceError("launch of user kernel '" + std::string(run.name) + "': " + status.why);
  throw_if_failed(status);
}

/// Finds the functor's SPIR-V, once the device is known to take it.
void find_spirv_once(const KernelRun& run, SpirvExecutor* executor, KnownDeviceCode& known, std::size_t value_size) {
  if (executor == nullptr) unavailable(run, "user kernels have device code for cuda, and in SPIR-V for opencl");
  if (const Status status = executor->takes_spirv(); !status.ok()) {
    if (status.code == StatusCode::Unavailable) unavailable(run, status.why);
    throw_if_failed(status);
  }
  if (known.spirv.load(std::memory_order_acquire) != nullptr) return;
  const FoundSpirv found = find_spirv(run, value_size);
  known.spirv_table.store(found.table, std::memory_order_relaxed);
  known.spirv.store(found.functor, std::memory_order_release);
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

void run_on_device(const KernelRun& run, KnownDeviceCode& known, void* value, std::size_t value_size) try {
  const ContractArithmetic contract;
  const bool on_cuda = run.executor.capabilities().backend == Backend::Cuda;
  auto* const spirv = on_cuda ? nullptr : dynamic_cast<SpirvExecutor*>(&run.executor);
  const KernelEntry* entry = known.cuda.load(std::memory_order_acquire);
  if (!on_cuda) {
    find_spirv_once(run, spirv, known, value_size);
  } else if (entry == nullptr) {
    entry = &find_kernel(run, value_size);
    known.cuda.store(entry, std::memory_order_release);
  }
  ExecutorMemory scratch(run.executor);
  KernelLevels levels;
  if (value_size != 0) {
    levels = kernel_levels(run.rows * run.cols, value_size);
    throw_if_failed(scratch.allocate_for(run.queue, levels.bytes));
  }
  if (on_cuda)
    run_cuda(run, *entry, scratch.data());
  else
    run_spirv(run, *spirv, known, scratch.data(), value_size);
  if (value == nullptr) return;
  const void* const result = static_cast<const char*>(scratch.data()) + levels.values_at[levels.levels - 1];
  throw_if_failed(run.executor.copy_out(run.queue, value, value_size, result, value_size, value_size, 1));
} catch (const std::bad_alloc& error) {
  throw_out_of_memory(error);
}

} // namespace tessera::detail
