/// Runs functors of programs: what is enqueued for a loop, a reduction and a scan.

#include <cstring>
#include <new>
#include <string>
#include <vector>

#include <tessera/detail/floating_point.hpp>

#include "opencl/executor.hpp"
#include "spirv_kernel.hpp"
#include "spirv_program.hpp"

namespace tessera::opencl {
namespace {

constexpr Index chunk_values = 1024;
constexpr std::size_t lanes = detail::spirv_lanes;

Index chunks_of(Index values) { return (values + chunk_values - 1) / chunk_values; }
Index place(std::size_t bytes) { return static_cast<Index>(bytes); }

/// What a call enqueues.
class FunctorRun {
 public:
  FunctorRun(Queue& queue, Program& program, const SpirvCall& call)
      : kernel_(queue, program), call_(call), functor_(call.functor->argument_bytes) {
    std::memcpy(functor_.data(), call.bytes, call.functor->size);
  }

  Status loop() {
    const char* const name = kernels().run;
    const auto cols = static_cast<std::size_t>(call_.cols), rows = static_cast<std::size_t>(call_.rows);
    std::size_t width = lanes; // narrow matrices leave few work-items idle
    while (width < spirv_group && (width < cols || call_.dimensions == 1)) width *= 2;
    return kernel_.run(name, functor_, nullptr, {call_.rows, call_.cols}, {cols, rows}, {width, spirv_group / width});
  }

  Status reduction() {
    const Index count = call_.rows * call_.cols;
    const detail::KernelLevels at = detail::kernel_levels(count, call_.value_size);
    const auto chunked = [&](const char* name, std::span<const std::byte> functor, Index values,
                             const SpirvKernel::Numbers& numbers) {
      return kernel_.run(name, functor, call_.scratch, numbers, {lanes, static_cast<std::size_t>(chunks_of(values))},
                         {lanes, detail::spirv_reduction_chunks});
    };
    Status status = chunked(kernels().run, functor_, count,
                            {count, call_.cols, detail::spirv_lanes / call_.cols, detail::spirv_lanes % call_.cols,
                             place(at.values_at[0])});
    const std::byte nothing[8] = {};
    const std::span<const std::byte> rule =
        kernels().fold_takes_functor ? std::span<const std::byte>(functor_) : nothing;
    for (int level = 0; level + 1 < at.levels && status.ok(); ++level)
      status = chunked(kernels().fold, rule, at.count[level],
                       {at.count[level], place(at.values_at[level]), place(at.values_at[level + 1])});
    return status;
  }

  /// Totals go up level by level, and their sums come down again. A level of one chunk needs no other one.
  Status scan() {
    const SpirvScan& names = call_.functor->scan;
    const detail::KernelLevels at = detail::kernel_levels(call_.cols, call_.value_size);
    const auto chunked = [&](const char* name, Index values, const SpirvKernel::Numbers& numbers) {
      return kernel_.run(name, functor_, call_.scratch, numbers, {lanes, static_cast<std::size_t>(chunks_of(values))},
                         {lanes, detail::spirv_scan_chunks});
    };
    Status status;
    if (at.levels > 1) status = chunked(names.totals, call_.cols, {call_.cols, place(at.values_at[0])});
    for (int level = 0; level + 1 < at.levels && status.ok(); ++level)
      status = chunked(names.level, at.count[level],
                       {at.count[level], place(at.values_at[level]), place(at.values_at[level + 1])});
    for (int level = at.levels - 3; level >= 0 && status.ok(); --level)
      status = kernel_.run(names.add_before, functor_, call_.scratch,
                           {at.count[level], place(at.values_at[level]), place(at.values_at[level + 1])},
                           {static_cast<std::size_t>(at.count[level]), 1}, {spirv_group, 1});
    if (!status.ok()) return status;
    return chunked(names.elements, call_.cols, {call_.cols, place(at.values_at[0]), at.levels > 1 ? 1 : 0});
  }

  /// The names of the operation's kernels. Precondition: the operation is no scan.
  const SpirvKernels& kernels() const {
    return call_.functor->kernels[static_cast<int>(call_.op)][call_.dimensions - 1];
  }

 private:
  SpirvKernel kernel_;
  const SpirvCall& call_;
  std::vector<std::byte> functor_;
};

bool is_offered(const SpirvCall& call) {
  if (call.op == KernelOp::Scan) return call.functor->scan.elements != nullptr;
  return call.functor->kernels[static_cast<int>(call.op)][call.dimensions - 1].run != nullptr;
}

} // namespace

Status OpenClExecutor::takes_spirv() noexcept try {
  return opencl::takes_spirv(context_->device());
} catch (const std::bad_alloc&) {
  return {StatusCode::OutOfMemory, {}};
}

Status OpenClExecutor::run_spirv(Queue& queue, const SpirvCall& call) noexcept try {
  const detail::ContractArithmetic contract;
  if (!is_offered(call)) return {StatusCode::Rejected, {}};
  const std::size_t others = sizeof(void*) + sizeof(SpirvKernel::Numbers);
  const std::size_t bytes = call.functor->argument_bytes + others;
  if (bytes > context_->device().most_argument_bytes)
    return Status::failure(StatusCode::Unavailable,
                           "it has " + std::to_string(call.functor->size) + " bytes, and the device allows " +
                               std::to_string(context_->device().most_argument_bytes - others) +
                               " (CL_DEVICE_MAX_PARAMETER_SIZE); keep less in the functor");
  Program* program = nullptr;
  if (Status status = spirv_program(queue, *call.table, program); !status.ok()) return status;
  FunctorRun run(queue, *program, call);
  if (call.op == KernelOp::ForEach) return run.loop();
  return call.op == KernelOp::Scan ? run.scan() : run.reduction();
} catch (const std::bad_alloc&) {
  return {StatusCode::OutOfMemory, {}};
}

} // namespace tessera::opencl
