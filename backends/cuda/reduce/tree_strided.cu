/// tree_strided: the block's sums are added as a tree, in eight steps, by threads chosen with a modulo.
///
/// In step s thread t adds the sum of thread t + 2ˢ if t is a multiple of 2ˢ⁺¹. The threads that work are ever further
/// apart, so that all eight warps take part in five of the eight steps, with 16 lanes each at first and one in the end.
/// Bank conflicts are not its fault: the lanes of a warp read sums that are less than a warp apart.

#include "rung.cuh"

namespace tessera::cuda {
namespace {

template <class T>
__global__ void tree_strided(Elements<T> x, RungOutput output) {
  start_time(output);
  __shared__ SumOf<T> sums[reduce_threads];
  sums[threadIdx.x] = sum_in_turns(x);
  for (unsigned stride = 1; stride < reduce_threads; stride *= 2) {
    __syncthreads();
    if (threadIdx.x % (2 * stride) == 0) sums[threadIdx.x] += sums[threadIdx.x + stride];
  }
  if (threadIdx.x == 0) sums_in<T>(output)[blockIdx.x] = sums[0];
  end_time(output);
}

template <class T>
Status run(const ReduceKernel& kernel, Executor& executor, Queue& queue, const ReduceCall& call,
           ReduceResult& result) noexcept {
  return run_rung<T>(tree_strided<T>, kernel.name, many_blocks_grid, reduce_threads, many_blocks_grid, executor, queue,
                     call, result);
}

template <class T>
constexpr ReduceKernel rung{.name = "tree_strided",
                            .summary = "tree with modulo addressing: every warp works with idle lanes",
                            .source = "CUDA course",
                            .type = reduced_dtype_of<T>,
                            .summation = summation_of<T>,
                            .run = run<T>};

} // namespace

const ReduceKernel tree_strided_f32 = rung<float>;
const ReduceKernel tree_strided_f64 = rung<double>;
const ReduceKernel tree_strided_i32 = rung<std::int32_t>;

} // namespace tessera::cuda
