/// Copies of many matrices of one size, whose numbers may lie in any steps: a thread takes numbers of the copies in the
/// order in which they lie there.

#include <algorithm>

#include "cuda/queue/stream.hpp"
#include "launch.cuh"

namespace tessera::cuda {
namespace {

constexpr int copy_threads = 256;

template <class T>
struct SystemsCopy {
  Systems<T> systems;
  Index step_a;
  bool clears_upper;
};

/// `Number` counts the numbers of all matrices: 32 bits where they are enough, because divisions are faster then.
template <class T, class Number>
__global__ void __launch_bounds__(copy_threads) copy_systems(SystemsCopy<T> copy) {
  const Systems<T>& x = copy.systems;
  const auto cols = static_cast<Number>(x.n), all = static_cast<Number>(x.m) * cols;
  const auto end = static_cast<Number>(x.count) * all;
  const auto step = static_cast<Number>(gridDim.x) * copy_threads;
  for (Number at = static_cast<Number>(blockIdx.x) * copy_threads + threadIdx.x; at < end; at += step) {
    const Number system = at / all, number = at - system * all, row = number / cols, col = number - row * cols;
    const auto i = static_cast<Index>(row), j = static_cast<Index>(col), k = static_cast<Index>(system);
    T value{};
    if (!copy.clears_upper || j <= i) {
      value = x.a_of(k)[i * x.lda + j * copy.step_a];
      if (x.is_conjugated) value = conjugate_of(value);
    }
    x.b_of(k)[i * x.ldb + j] = value;
  }
}

template <class T>
Status run_copy(Executor& executor, Queue& queue, const PanelCall& call) noexcept {
  const SystemsCall& x = *call.systems;
  const SystemsCopy<T> copy{systems_of<T>(call), x.step_a, x.clears_upper};
  const Index numbers = x.count * call.rows * call.cols;
  constexpr Index blocks_of_multiprocessor = 16, most_in_32_bits = 0x70000000; // a step beyond the end still fits
  const Index blocks = std::min((numbers + copy_threads - 1) / copy_threads,
                                blocks_of_multiprocessor * executor.capabilities().multiprocessors);
  const cudaStream_t stream = stream_of(queue);
  const auto kernel = numbers <= most_in_32_bits ? copy_systems<T, unsigned> : copy_systems<T, unsigned long long>;
  kernel<<<static_cast<unsigned>(blocks), copy_threads, 0, stream>>>(copy);
  return launched("copies of small systems");
}

} // namespace

Status copy_of_systems(Executor& executor, Queue& queue, const PanelCall& call) noexcept {
  constexpr Index most = 0x7fffffff;
  if (call.rows == 0 || call.cols == 0) return {};
  if (call.rows > most || call.cols > most)
    return {StatusCode::Rejected, "matrices of a batch have at most 2^31 - 1 rows and columns"};
  return for_number_of(call, [&]<class T>(T) { return run_copy<T>(executor, queue, call); });
}

} // namespace tessera::cuda
