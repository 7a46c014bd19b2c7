#include "ceilings.hpp"

#include <algorithm>
#include <memory>
#include <new>
#include <vector>

#include "scratch.hpp"
#include "status.hpp"
#include "stream.hpp"

namespace tessera::cuda {
namespace {

constexpr double seconds_per_run = 0.01;
constexpr int runs = 5; // the fastest counts
constexpr std::size_t largest_copy = std::size_t{512} << 20;

/// Two events around enqueued work.
class Stopwatch {
 public:
  Status prepare(Executor& executor) noexcept {
    if (Status status = executor.create_event(begin_); !status.ok()) return status;
    return executor.create_event(end_);
  }
  template <class Work>
  Status time(Queue& queue, double& seconds, Work work) noexcept {
    if (Status status = begin_->record(queue); !status.ok()) return status;
    if (Status status = work(); !status.ok()) return status;
    if (Status status = end_->record(queue); !status.ok()) return status;
    return end_->seconds_since(*begin_, seconds);
  }

 private:
  std::unique_ptr<Event> begin_;
  std::unique_ptr<Event> end_;
};

/// Multiply-adds a second times two; 0 where the device lacks the instruction.
Status measure(const Probe& probe, Executor& executor, Queue& queue, Stopwatch& watch, double& flops) noexcept {
  flops = 0;
  const cudaStream_t stream = stream_of(queue);
  Scratch flag;
  if (Status status = flag.allocate(executor, queue, sizeof(int)); !status.ok()) return status;
  int* ran = flag.as<int>();
  if (Status status = check(cudaMemsetAsync(ran, 0, sizeof(int), stream), "clearing a flag"); !status.ok())
    return status;
  const int blocks = executor.capabilities().multiprocessors * probe.blocks_per_multiprocessor;
  int rounds = 1;
  double fastest = 0;
  for (int run = 0; run <= runs; ++run) {
    double seconds = 0;
    Status status = watch.time(queue, seconds, [&] { return probe.launch(blocks, rounds, ran, stream); });
    if (!status.ok()) return status;
    if (run == 0) { // the first one loads the code
      status = watch.time(queue, seconds, [&] { return probe.launch(blocks, 64, ran, stream); });
      if (!status.ok()) return status;
      rounds = static_cast<int>(std::clamp(64 * seconds_per_run / std::max(seconds, 1e-6), 1.0, 1e6));
    } else if (seconds > 0) {
      fastest = std::max(fastest, probe.flops_per_block_round * blocks * rounds / seconds);
    }
  }
  int did_run = 0;
  if (Status status =
          check(cudaMemcpyAsync(&did_run, ran, sizeof(int), cudaMemcpyDeviceToHost, stream), "fetching a flag");
      !status.ok())
    return status;
  if (Status status = queue.synchronize(); !status.ok()) return status;
  if (did_run != 0) flops = fastest;
  return {};
}

/// Bytes read plus bytes written, copying a buffer that no cache holds.
Status measure_bandwidth(Executor& executor, Queue& queue, Stopwatch& watch, double& bytes_per_second) noexcept {
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
    double seconds = 0;
    const Status status = watch.time(queue, seconds, [&] {
      return check(cudaMemcpyAsync(to.data(), from.data(), bytes, cudaMemcpyDeviceToDevice, stream),
                   "copying on the device");
    });
    if (!status.ok()) return status;
    if (run > 0 && seconds > 0)
      bytes_per_second = std::max(bytes_per_second, 2.0 * static_cast<double>(bytes) / seconds);
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
      return {&mma_fp16_probe, &wgmma_fp16_probe};
    case Math::Strict:
    case Math::Compensated:
      break;
  }
  return type == DType::F64 ? Probes{&fma_f64_probe, &mma_f64_probe} : Probes{&fma_f32_probe};
}

} // namespace

Status measure_ceilings(Executor& executor, Queue& queue, DType type, Math math, Ceilings& ceilings) noexcept try {
  ceilings = {};
  Stopwatch watch;
  if (Status status = watch.prepare(executor); !status.ok()) return status;
  for (const Probe* probe : probes_of(type, math)) {
    double flops = 0;
    if (Status status = measure(*probe, executor, queue, watch, flops); !status.ok()) return status;
    ceilings.flops = std::max(ceilings.flops, flops);
  }
  return measure_bandwidth(executor, queue, watch, ceilings.bytes_per_second);
} catch (const std::bad_alloc&) {
  return {StatusCode::OutOfMemory, {}};
}

} // namespace tessera::cuda
