/// warp_shuffle: lanes hand their sums to each other in registers, and the grid fills the device.
///
/// Five shuffles add a warp's 32 sums without shared memory and without a barrier; one more round adds the block's
/// eight warps. Four elements are loaded before the first is added, so that memory stays busy.
/// Source: Luitjens, "Faster parallel reductions on Kepler" (2014).

#include <tessera/executor.hpp>

#include "rung.cuh"

namespace tessera::cuda {
namespace {

constexpr int warp_size = 32;
constexpr int warps = reduce_threads / warp_size;
constexpr int blocks_per_multiprocessor = 8;
constexpr int unroll = 4;

/// Returns the sum of all lanes in lane 0.
template <class Sum>
__device__ Sum sum_of_warp(Sum sum) {
  for (int offset = warp_size / 2; offset > 0; offset /= 2) sum += from_lane_above(sum, offset);
  return sum;
}

template <class T>
__device__ SumOf<T> sum_unrolled(const Elements<T>& x) {
  const Index step = static_cast<Index>(gridDim.x) * blockDim.x;
  SumOf<T> sum{};
  for (Index e = static_cast<Index>(blockIdx.x) * blockDim.x + threadIdx.x; e < x.count; e += unroll * step) {
    SumOf<T> square[unroll];
#pragma unroll
    for (int u = 0; u < unroll; ++u) square[u] = e + u * step < x.count ? x.square(e + u * step) : SumOf<T>{};
#pragma unroll
    for (int u = 0; u < unroll; ++u) sum += square[u];
  }
  return sum;
}

template <class T>
__global__ void __launch_bounds__(reduce_threads) warp_shuffle(Elements<T> x, RungOutput output) {
  start_time(output);
  __shared__ SumOf<T> sums[warps];
  const int warp = static_cast<int>(threadIdx.x) / warp_size;
  const int lane = static_cast<int>(threadIdx.x) % warp_size;
  const SumOf<T> sum = sum_of_warp(sum_unrolled(x));
  if (lane == 0) sums[warp] = sum;
  __syncthreads();
  if (warp == 0) {
    const SumOf<T> total = sum_of_warp(lane < warps ? sums[lane] : SumOf<T>{});
    if (lane == 0) sums_in<T>(output)[blockIdx.x] = total;
  }
  end_time(output);
}

template <class T>
Status run(const ReduceKernel& kernel, Executor& executor, Queue& queue, const ReduceCall& call,
           ReduceResult& result) noexcept {
  const int blocks = executor.capabilities().multiprocessors * blocks_per_multiprocessor;
  return run_rung<T>(warp_shuffle<T>, kernel.name, blocks, reduce_threads, blocks, executor, queue, call, result);
}

template <class T>
constexpr ReduceKernel rung{.name = "warp_shuffle",
                            .summary = "sums handed from lane to lane in registers; the grid fills the device",
                            .source = "Luitjens 2014",
                            .type = reduced_dtype_of<T>,
                            .summation = summation_of<T>,
                            .run = run<T>};

} // namespace

const ReduceKernel warp_shuffle_f32 = rung<float>;
const ReduceKernel warp_shuffle_f64 = rung<double>;
const ReduceKernel warp_shuffle_i32 = rung<std::int32_t>;

} // namespace tessera::cuda
