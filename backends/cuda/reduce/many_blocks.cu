/// many_blocks: 32 blocks of 256 threads, so that 32 multiprocessors work.
///
/// Every thread leaves its sum, so that the host fetches and adds 8192 sums.

#include "rung.cuh"

namespace tessera::cuda {
namespace {

template <class T>
__global__ void many_blocks(Elements<T> x, RungOutput output) {
  start_time(output);
  sums_in<T>(output)[blockIdx.x * blockDim.x + threadIdx.x] = sum_in_turns(x);
  end_time(output);
}

template <class T>
Status run(const ReduceKernel& kernel, Executor& executor, Queue& queue, const ReduceCall& call,
           ReduceResult& result) noexcept {
  return run_rung<T>(many_blocks<T>, kernel.name, many_blocks_grid, reduce_threads, many_blocks_grid * reduce_threads,
                     executor, queue, call, result);
}

template <class T>
constexpr ReduceKernel rung{.name = "many_blocks",
                            .summary = "32 blocks of 256 threads, a sum a thread to the host",
                            .source = "CUDA course",
                            .type = reduced_dtype_of<T>,
                            .summation = summation_of<T>,
                            .run = run<T>};

} // namespace

const ReduceKernel many_blocks_f32 = rung<float>;
const ReduceKernel many_blocks_f64 = rung<double>;
const ReduceKernel many_blocks_i32 = rung<std::int32_t>;

} // namespace tessera::cuda
