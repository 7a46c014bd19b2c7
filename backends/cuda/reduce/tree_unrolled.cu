/// tree_unrolled: a template writes the halving tree out; each step is one instantiation.
///
/// No loop counter and no comparison is left, and in the last warp a barrier of the warp replaces the block's.
/// Source: Harris, "Optimizing parallel reduction in CUDA" (2007). Harris leaves out the warp's barrier, which is
/// needed since Volta, because Volta schedules threads independently.

#include "rung.cuh"

namespace tessera::cuda {
namespace {

/// Adds the next `stride` sums to the first `stride` sums, then halves the stride until one sum is left.
template <unsigned stride, class Sum>
__device__ void fold(Sum* sums) {
  if (threadIdx.x < stride) sums[threadIdx.x] += sums[threadIdx.x + stride];
  if constexpr (stride > 32)
    __syncthreads();
  else
    __syncwarp();
  if constexpr (stride > 1) fold<stride / 2>(sums);
}

template <class T>
__global__ void tree_unrolled(Elements<T> x, RungOutput output) {
  start_time(output);
  __shared__ SumOf<T> sums[reduce_threads];
  sums[threadIdx.x] = sum_in_turns(x);
  __syncthreads();
  fold<reduce_threads / 2>(sums);
  if (threadIdx.x == 0) sums_in<T>(output)[blockIdx.x] = sums[0];
  end_time(output);
}

template <class T>
Status run(const ReduceKernel& kernel, Executor& executor, Queue& queue, const ReduceCall& call,
           ReduceResult& result) noexcept {
  return run_rung<T>(tree_unrolled<T>, kernel.name, many_blocks_grid, reduce_threads, many_blocks_grid, executor, queue,
                     call, result);
}

template <class T>
constexpr ReduceKernel rung{.name = "tree_unrolled",
                            .summary = "the halving tree unrolled by a template",
                            .source = "CUDA course",
                            .type = reduced_dtype_of<T>,
                            .summation = summation_of<T>,
                            .run = run<T>};

} // namespace

const ReduceKernel tree_unrolled_f32 = rung<float>;
const ReduceKernel tree_unrolled_f64 = rung<double>;
const ReduceKernel tree_unrolled_i32 = rung<std::int32_t>;

} // namespace tessera::cuda
