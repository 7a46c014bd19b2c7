#include "ceilings.hpp"

#include <algorithm>
#include <new>
#include <vector>

#include <tessera/detail/stopwatch.hpp>
#include <tessera/executor.hpp>

#include "cuda/device/status.hpp"
#include "cuda/queue/scratch.hpp"
#include "cuda/queue/stream.hpp"

namespace tessera::cuda {
namespace {

constexpr double seconds_per_run = 0.01;
constexpr int runs = 5; // The fastest one counts.
constexpr std::size_t largest_copy = std::size_t{512} << 20;
constexpr std::size_t smallest_l2 = std::size_t{64} << 10;
constexpr int l2_blocks_per_multiprocessor = 4;

/// Measures how many rounds a second the device does of the work that launch(rounds) enqueues. A run takes about
/// `seconds_per_run`.
template <class Launch>
Status fastest_rate(measure::Stopwatch& watch, Launch launch, double& rounds_per_second) noexcept {
  rounds_per_second = 0;
  int rounds = 1;
  for (int run = 0; run <= runs; ++run) {
    if (Status status = watch.time([&] { return launch(rounds); }); !status.ok()) return status;
    if (run == 0) { // The first run loads the code.
      if (Status status = watch.time([&] { return launch(64); }); !status.ok()) return status;
      rounds = static_cast<int>(std::clamp(64 * seconds_per_run / std::max(watch.seconds(), 1e-6), 1.0, 1e6));
    } else if (watch.seconds() > 0) {
      rounds_per_second = std::max(rounds_per_second, rounds / watch.seconds());
    }
  }
  return {};
}

/// A word in the device's memory. A probe sets it if it has done its work.
class Flag {
 public:
  Status prepare(Executor& executor, Queue& queue) noexcept {
    if (Status status = word_.allocate(executor, queue, sizeof(int)); !status.ok()) return status;
    return check(cudaMemsetAsync(get(), 0, sizeof(int), stream_of(queue)), "clearing a flag");
  }
  int* get() const noexcept { return word_.as<int>(); }
  Status read(Queue& queue, bool& set) const noexcept {
    int value = 0;
    const cudaError_t error = cudaMemcpyAsync(&value, get(), sizeof(int), cudaMemcpyDeviceToHost, stream_of(queue));
    if (Status status = check(error, "fetching a flag"); !status.ok()) return status;
    const Status status = queue.synchronize();
    set = value != 0;
    return status;
  }

 private:
  Scratch word_;
};

/// Measures a probe's FLOP/s; a multiply-add counts as two. The result is 0 if the device lacks the instruction.
Status measure_flops(const Probe& probe, Executor& executor, Queue& queue, measure::Stopwatch& watch,
                     double& flops) noexcept {
  flops = 0;
  Flag ran;
  if (Status status = ran.prepare(executor, queue); !status.ok()) return status;
  const int blocks = executor.capabilities().multiprocessors * probe.blocks_per_multiprocessor;
  const auto launch = [&](int rounds) { return probe.launch(blocks, rounds, ran.get(), stream_of(queue)); };
  double rate = 0;
  if (Status status = fastest_rate(watch, launch, rate); !status.ok()) return status;
  bool did_run = false;
  if (Status status = ran.read(queue, did_run); !status.ok()) return status;
  if (did_run) flops = probe.flops_per_block_round * blocks * rate;
  return {};
}

/// Measures the bytes a second that are read from the L2 cache. The level stays 0 if the device does not tell the
/// cache's size or has no memory left. Buffers of half the cache, as on the CPU, and of a quarter of it are read,
/// because some devices keep two copies of data that all multiprocessors read. `memory`: the memory's bytes a second.
Status measure_l2(Executor& executor, Queue& queue, measure::Stopwatch& watch, double memory,
                  CacheCeiling& l2) noexcept {
  const std::size_t size = executor.capabilities().l2_bytes;
  if (size < smallest_l2) return {};
  Scratch buffer;
  Flag ran;
  if (Status status = buffer.allocate(executor, queue, size / 2); !status.ok())
    return status.code == StatusCode::OutOfMemory ? Status{} : status;
  if (Status status = ran.prepare(executor, queue); !status.ok()) return status;
  if (Status status = check(cudaMemsetAsync(buffer.data(), 1, size / 2, stream_of(queue)), "filling a buffer");
      !status.ok())
    return status;
  const int blocks = executor.capabilities().multiprocessors * l2_blocks_per_multiprocessor;
  l2 = {2, size, memory}; // A nearer level never counts as slower.
  for (const std::size_t bytes : {size / 2 / 16 * 16, size / 4 / 16 * 16}) {
    const auto launch = [&](int rounds) {
      return read_l2(buffer.data(), bytes, blocks, rounds, ran.get(), stream_of(queue));
    };
    double rate = 0;
    if (Status status = fastest_rate(watch, launch, rate); !status.ok()) return status;
    l2.bytes_per_second = std::max(l2.bytes_per_second, l2_bytes_per_block_round() * blocks * rate);
  }
  bool did_read = false;
  if (Status status = ran.read(queue, did_read); !status.ok()) return status;
  if (!did_read) l2 = {};
  return {};
}

/// Measures the bytes read plus the bytes written a second when the device copies a buffer that no cache holds.
Status measure_bandwidth(Executor& executor, Queue& queue, measure::Stopwatch& watch,
                         double& bytes_per_second) noexcept {
  const cudaStream_t stream = stream_of(queue);
  Scratch from;
  Scratch to;
  std::size_t bytes = largest_copy;
  for (;; bytes /= 2) {
    Status status = from.allocate(executor, queue, bytes);
    if (status.ok()) status = to.allocate(executor, queue, bytes);
    if (status.ok()) break;
    if (status.code != StatusCode::OutOfMemory || bytes < 4 * executor.capabilities().l2_bytes) return status;
  }
  if (Status status = check(cudaMemsetAsync(from.data(), 1, bytes, stream), "filling a buffer"); !status.ok())
    return status;
  for (int run = 0; run <= runs; ++run) {
    const Status status = watch.time([&] {
      return check(cudaMemcpyAsync(to.data(), from.data(), bytes, cudaMemcpyDeviceToDevice, stream),
                   "copying on the device");
    });
    if (!status.ok()) return status;
    if (run > 0 && watch.seconds() > 0)
      bytes_per_second = std::max(bytes_per_second, 2.0 * static_cast<double>(bytes) / watch.seconds());
  }
  return {};
}

using Probes = std::vector<const Probe*>;

Probes probes_of(DType type, Math math) {
  switch (math) {
    case Math::Tf32:
      return {&mma_tf32_probe, &wgmma_tf32_probe};
    case Math::Bf16:
    case Math::EmulatedBf16x6:
      return {&mma_bf16_probe, &wgmma_bf16_probe};
    case Math::Fp16:
    case Math::EmulatedFp16x3:
    case Math::ScaledFp16:
      return {&mma_fp16_probe, &wgmma_fp16_probe};
    case Math::Strict:
    case Math::Compensated:
    case Math::Strassen:
    case Math::Int8Units:
      break;
  }
  return type == DType::F64 ? Probes{&fma_f64_probe, &mma_f64_probe} : Probes{&fma_f32_probe};
}

} // namespace

Status measure_ceilings(Executor& executor, Queue& queue, DType type, Math math, Ceilings& ceilings) noexcept try {
  ceilings = {};
  measure::Stopwatch watch(executor, queue);
  for (const Probe* probe : probes_of(type, math)) {
    double flops = 0;
    if (Status status = measure_flops(*probe, executor, queue, watch, flops); !status.ok()) return status;
    ceilings.flops = std::max(ceilings.flops, flops);
  }
  if (Status status = measure_bandwidth(executor, queue, watch, ceilings.bytes_per_second); !status.ok()) return status;
  return measure_l2(executor, queue, watch, ceilings.bytes_per_second, ceilings.caches[0]);
} catch (const std::bad_alloc&) {
  return {StatusCode::OutOfMemory, {}};
}

} // namespace tessera::cuda
