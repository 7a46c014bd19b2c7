/// block_sum: the 256 sums of a block meet in shared memory, where thread 0 adds them.
///
/// The host fetches 32 sums instead of 8192. The other 255 threads wait meanwhile.

#include "rung.cuh"

namespace tessera::cuda {
namespace {

template <class T>
__global__ void block_sum(Elements<T> x, RungOutput output) {
  start_time(output);
  __shared__ SumOf<T> sums[reduce_threads];
  sums[threadIdx.x] = sum_in_turns(x);
  __syncthreads();
  if (threadIdx.x == 0) {
    SumOf<T> sum{};
    for (int t = 0; t < reduce_threads; ++t) sum += sums[t];
    sums_in<T>(output)[blockIdx.x] = sum;
  }
  end_time(output);
}

template <class T>
Status run(const ReduceKernel& kernel, Executor& executor, Queue& queue, const ReduceCall& call,
           ReduceResult& result) noexcept {
  return run_rung<T>(block_sum<T>, kernel.name, many_blocks_grid, reduce_threads, many_blocks_grid, executor, queue,
                     call, result);
}

template <class T>
constexpr ReduceKernel rung{.name = "block_sum",
                            .summary = "sums meet in shared memory, thread 0 adds them",
                            .source = "CUDA course",
                            .type = reduced_dtype_of<T>,
                            .summation = summation_of<T>,
                            .run = run<T>};

} // namespace

const ReduceKernel block_sum_f32 = rung<float>;
const ReduceKernel block_sum_f64 = rung<double>;
const ReduceKernel block_sum_i32 = rung<std::int32_t>;

} // namespace tessera::cuda
