/// one_thread: a single thread adds everything.
///
/// Each operation waits for its load and for the operation before it. This shows what one of the device's thousands of
/// threads is worth. It is the first step of every reduction course.

#include "rung.cuh"

namespace tessera::cuda {
namespace {

template <class T>
__global__ void one_thread(Elements<T> x, RungOutput output) {
  start_time(output);
  SumOf<T> sum{};
  for (Index e = 0; e < x.count; ++e) sum += x.square(e);
  sums_in<T>(output)[0] = sum;
  end_time(output);
}

template <class T>
Status run(const ReduceKernel& kernel, Executor& executor, Queue& queue, const ReduceCall& call,
           ReduceResult& result) noexcept {
  return run_rung<T>(one_thread<T>, kernel.name, 1, 1, 1, executor, queue, call, result);
}

template <class T>
constexpr ReduceKernel rung{.name = "one_thread",
                            .summary = "one thread adds everything",
                            .source = "CUDA course",
                            .type = reduced_dtype_of<T>,
                            .summation = summation_of<T>,
                            .run = run<T>};

} // namespace

const ReduceKernel one_thread_f32 = rung<float>;
const ReduceKernel one_thread_f64 = rung<double>;
const ReduceKernel one_thread_i32 = rung<std::int32_t>;

} // namespace tessera::cuda
