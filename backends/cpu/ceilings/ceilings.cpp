/// Measures the most that the machine can do: multiply-adds in registers, and traffic of memory and caches.

#include <algorithm>
#include <atomic>
#include <cmath>
#include <new>

#include <tessera/detail/floating_point.hpp>

#include "bandwidth.hpp"
#include "cpu/executor.hpp"
#include "cpu/gemm/common/microkernel.hpp"

namespace tessera::cpu {
namespace {

/// Returns the steps of a task: so many that it takes a quarter of a millisecond, and no more than `most`. Code that is
/// not optimised, or an emulated instruction set, takes a hundred times as long for a step.
template <class T>
Index steps_of_task(const MicroKernel<T>& kernel, Index most) {
  constexpr double task_seconds = 0.25e-3;
  const Index tried = most / 100;
  volatile T sink{};
  const double seconds = measure::fastest_host_seconds(2, [&] { sink = kernel.multiply_registers(tried); });
  return std::clamp(static_cast<Index>(static_cast<double>(tried) * std::min(task_seconds / seconds, 100.0)), tried,
                    most);
}

/// Returns the operations per second of multiply-adds in the registers of a micro-kernel; a multiply-add is two
/// operations.
template <class T>
double register_flops(Team& team, int threads, const MicroKernel<T>& kernel) {
  // The tasks are many and short, so that a thread that is held up does fewer of them.
  const Index tasks = threads * Index{16};
  const Index steps = steps_of_task(kernel, kernel.isa == Isa::Portable ? 2000 : 20000);
  std::atomic<bool> finite = true;
  const double seconds = best_seconds([&] {
    team.run(tasks, threads, [&](Index, int) {
      if (!std::isfinite(kernel.multiply_registers(steps))) finite = false;
    });
  });
  const double operations = 2.0 * kernel.tile_m * kernel.tile_n * static_cast<double>(steps * tasks);
  return finite ? operations / seconds : 0.0;
}

} // namespace

Status CpuExecutor::measure_ceilings(DType type, Math math, int threads, Ceilings& ceilings) noexcept try {
  const detail::ContractArithmetic contract;
  ceilings = {};
  if (math != Math::Strict) return {}; // the micro-kernels have no matrix units for other modes
  const int used = threads_for(threads);
  std::size_t count = 0;
  for (const Isa isa : known_isas()) {
    if (isa > isa_) break;
    const double flops = visit_scalar(
        type, [&]<class T>(std::type_identity<T>) { return register_flops(team(), used, micro_kernel<T>(isa)); });
    ceilings.peaks.at(count++) = {to_string(isa), flops};
    ceilings.flops = std::max(ceilings.flops, flops);
  }
  ceilings.bytes_per_second = memory_bandwidth(team(), isa_, used, capabilities_.l3_bytes);
  ceilings.caches = cache_bandwidths(team(), isa_, used, capabilities_, ceilings.bytes_per_second);
  return {};
} catch (const std::bad_alloc&) {
  return {StatusCode::OutOfMemory, "out of host memory: could not allocate the buffers to measure bandwidth with"};
}

} // namespace tessera::cpu
