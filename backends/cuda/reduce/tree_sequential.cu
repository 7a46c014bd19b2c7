/// tree_sequential: the tree with a stride that halves.
///
/// The first half of the threads adds the second half's sums, then the first quarter adds the second quarter's, and so
/// on. The threads that work are neighbours, and so are the sums that they read. So whole warps retire, and reads have
/// no bank conflicts. Source: Harris, "Optimizing parallel reduction in CUDA" (2007).

#include "rung.cuh"

namespace tessera::cuda {
namespace {

template <class T>
__global__ void tree_sequential(Elements<T> x, RungOutput output) {
  start_time(output);
  __shared__ SumOf<T> sums[reduce_threads];
  sums[threadIdx.x] = sum_in_turns(x);
  for (unsigned stride = reduce_threads / 2; stride > 0; stride /= 2) {
    __syncthreads();
    if (threadIdx.x < stride) sums[threadIdx.x] += sums[threadIdx.x + stride];
  }
  if (threadIdx.x == 0) sums_in<T>(output)[blockIdx.x] = sums[0];
  end_time(output);
}

template <class T>
Status run(const ReduceKernel& kernel, Executor& executor, Queue& queue, const ReduceCall& call,
           ReduceResult& result) noexcept {
  return run_rung<T>(tree_sequential<T>, kernel.name, many_blocks_grid, reduce_threads, many_blocks_grid, executor,
                     queue, call, result);
}

template <class T>
constexpr ReduceKernel rung{.name = "tree_sequential",
                            .summary = "tree with a halving stride: whole warps retire",
                            .source = "CUDA course",
                            .type = reduced_dtype_of<T>,
                            .summation = summation_of<T>,
                            .run = run<T>};

} // namespace

const ReduceKernel tree_sequential_f32 = rung<float>;
const ReduceKernel tree_sequential_f64 = rung<double>;
const ReduceKernel tree_sequential_i32 = rung<std::int32_t>;

} // namespace tessera::cuda
