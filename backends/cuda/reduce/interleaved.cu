/// interleaved: 256 threads take turns, so that neighbours in a warp read neighbours in memory.
///
/// One memory transaction brings the elements of a whole warp. There is still only one block, on one multiprocessor.
/// The host adds the 256 sums.

#include "rung.cuh"

namespace tessera::cuda {
namespace {

template <class T>
__global__ void interleaved(Elements<T> x, RungOutput output) {
  start_time(output);
  sums_in<T>(output)[threadIdx.x] = sum_in_turns(x);
  end_time(output);
}

template <class T>
Status run(const ReduceKernel& kernel, Executor& executor, Queue& queue, const ReduceCall& call,
           ReduceResult& result) noexcept {
  return run_rung<T>(interleaved<T>, kernel.name, 1, reduce_threads, reduce_threads, executor, queue, call, result);
}

template <class T>
constexpr ReduceKernel rung{.name = "interleaved",
                            .summary = "256 threads take turns: neighbours read neighbours",
                            .source = "CUDA course",
                            .type = reduced_dtype_of<T>,
                            .summation = summation_of<T>,
                            .run = run<T>};

} // namespace

const ReduceKernel interleaved_f32 = rung<float>;
const ReduceKernel interleaved_f64 = rung<double>;
const ReduceKernel interleaved_i32 = rung<std::int32_t>;

} // namespace tessera::cuda
