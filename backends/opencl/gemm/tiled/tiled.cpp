/// tiled: packed panels and register tiles, in the form for the device: with local memory on GPUs, without on
/// processors.
///
/// tiled_local is the form for GPUs by its name, on every device. 2·k operations a result; each
/// operand is copied once more where it is packed. Source: Goto, van de Geijn: "Anatomy of high-performance matrix
/// multiplication" (2008); Low et al.: "Analytical modeling is enough for high-performance BLIS" (2016).

#include <new>

#include <tessera/backend/traffic.hpp>
#include <tessera/half.hpp>

#include "opencl/gemm/common/strict.hpp"
#include "opencl/gemm/common/tiled.hpp"
#include "opencl/gemm/ladder.hpp"
#include "opencl/queue/command_queue.hpp"

namespace tessera::opencl {
namespace {

/// GemmKernel::run by a function that may throw std::bad_alloc.
template <Status (*product)(Queue&, const GemmCall&)>
Status run(const GemmKernel&, Executor&, Queue& queue, const GemmCall& call) noexcept try {
  if (Status status = keeps_contract(queue, scalar_of(call.type)); !status.ok()) return status;
  return product(queue, call);
} catch (const std::bad_alloc&) {
  return {StatusCode::OutOfMemory, {}};
}

Status run_tiled(Queue& queue, const GemmCall& call) { return run_for_device(queue, call, {}); }

Status run_local(Queue& queue, const GemmCall& call) { return run_in_local_memory(queue, call, {}); }

template <class T>
constexpr GemmKernel rung{.name = "tiled",
                          .summary = "packed panels, register tiles, sizes from the device's description",
                          .source = "Goto, van de Geijn 2008; Low et al. 2016",
                          .type = dtype_of<T>,
                          .tile = {14, sizeof(T) == 8 ? 16 : 32, 1},
                          .summation = Summation::Canonical,
                          .run = run<run_tiled>,
                          .traffic = packed_traffic};

template <class T>
constexpr GemmKernel local_rung{.name = "tiled_local",
                                .summary = "tiled in its form for GPUs: panels staged in local memory",
                                .source = "Tan et al. 2011",
                                .type = dtype_of<T>,
                                .tile = {64, 64, sizeof(T) == 8 ? 8 : 16},
                                .summation = Summation::Canonical,
                                .run = run<run_local>,
                                .traffic = packed_traffic};

} // namespace

Status run_for_device(Queue& queue, const GemmCall& call, const BatchSteps& steps) {
  const Device& device = command_queue(queue).context().device();
  if ((device.type & CL_DEVICE_TYPE_GPU) == 0) return run_in_registers(queue, call, steps);
  Status status = run_in_local_memory(queue, call, steps);
  return status.code == StatusCode::Rejected ? run_in_registers(queue, call, steps) : status;
}

const GemmKernel tiled_f32 = rung<float>;
const GemmKernel tiled_f64 = rung<double>;
const GemmKernel tiled_f16 = rung<f16>;
const GemmKernel tiled_bf16 = rung<bf16>;
const GemmKernel tiled_local_f32 = local_rung<float>;
const GemmKernel tiled_local_f64 = local_rung<double>;
const GemmKernel tiled_local_f16 = local_rung<f16>;
const GemmKernel tiled_local_bf16 = local_rung<bf16>;

} // namespace tessera::opencl
