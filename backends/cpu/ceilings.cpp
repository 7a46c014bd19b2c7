/// What the machine can do at most, measured: multiply-adds in registers, and memory traffic of a large copy.

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cmath>
#include <cstring>
#include <memory>
#include <new>

#include "cpu/executor.hpp"
#include "cpu/gemm/microkernel.hpp"

namespace tessera::cpu {
namespace {

constexpr int repetitions = 5; ///< the best one counts: a ceiling is what nothing disturbs

template <class Work>
double best_seconds(Work work) {
  double best = 1e30;
  for (int i = 0; i < repetitions; ++i) {
    const auto start = std::chrono::steady_clock::now();
    work();
    best = std::min(best, std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count());
  }
  return best;
}

/// Bytes read plus bytes written per second, copying what no cache holds.
double copy_bandwidth(Team& team, int threads, std::size_t cache_bytes) {
  constexpr std::size_t part = std::size_t{1} << 20;
  const std::size_t bytes = std::clamp(2 * cache_bytes, 64 * part, 256 * part) / part * part;
  const std::unique_ptr<char[]> from(new char[bytes]);
  const std::unique_ptr<char[]> to(new char[bytes]);
  const auto for_parts = [&](auto body) {
    team.run(static_cast<Index>(bytes / part), threads,
             [&](Index task, int) { body(static_cast<std::size_t>(task) * part); });
  };
  for_parts([&](std::size_t at) { // brings the pages in
    std::memset(from.get() + at, 1, part);
    std::memset(to.get() + at, 1, part);
  });
  const double seconds =
      best_seconds([&] { for_parts([&](std::size_t at) { std::memcpy(to.get() + at, from.get() + at, part); }); });
  return 2.0 * static_cast<double>(bytes) / seconds;
}

/// Multiply-adds per second in the registers of the best micro-kernel, two operations each.
template <class T>
double register_flops(Team& team, int threads, const MicroKernel<T>& kernel) {
  // Many short tasks: a thread that is held up does fewer of them.
  const Index tasks = threads * Index{16};
  const Index steps = kernel.isa == Isa::Portable ? 2000 : 20000;
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
  ceilings = {};
  if (math != Math::Strict) return {}; // the ladder has no rows of other modes
  const int used = threads_for(threads);
  ceilings.flops = type == DType::F64 ? register_flops(team(), used, micro_kernel<double>(isa_))
                                      : register_flops(team(), used, micro_kernel<float>(isa_));
  ceilings.bytes_per_second = copy_bandwidth(team(), used, capabilities_.l3_bytes);
  return {};
} catch (const std::bad_alloc&) {
  return {StatusCode::OutOfMemory, "out of host memory: could not allocate the buffers to measure bandwidth with"};
}

} // namespace tessera::cpu
