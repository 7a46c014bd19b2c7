/// contiguous: each of 256 threads adds a contiguous part of the vector.
///
/// This is natural on a CPU and wrong on a GPU: at each step the threads of a warp read 32 places that are far apart,
/// so that 32 memory transactions bring 32 elements. The host adds the 256 sums.

#include "rung.cuh"

namespace tessera::cuda {
namespace {

template <class T>
__global__ void contiguous(Elements<T> x, RungOutput output) {
  start_time(output);
  const Index part = (x.count + blockDim.x - 1) / blockDim.x;
  const Index first = threadIdx.x * part;
  const Index last = first + part < x.count ? first + part : x.count;
  SumOf<T> sum{};
  for (Index e = first; e < last; ++e) sum += x.square(e);
  sums_in<T>(output)[threadIdx.x] = sum;
  end_time(output);
}

template <class T>
Status run(const ReduceKernel& kernel, Executor& executor, Queue& queue, const ReduceCall& call,
           ReduceResult& result) noexcept {
  return run_rung<T>(contiguous<T>, kernel.name, 1, reduce_threads, reduce_threads, executor, queue, call, result);
}

template <class T>
constexpr ReduceKernel rung{.name = "contiguous",
                            .summary = "256 threads, a contiguous part each",
                            .source = "CUDA course",
                            .type = reduced_dtype_of<T>,
                            .summation = summation_of<T>,
                            .run = run<T>};

} // namespace

const ReduceKernel contiguous_f32 = rung<float>;
const ReduceKernel contiguous_f64 = rung<double>;
const ReduceKernel contiguous_i32 = rung<std::int32_t>;

} // namespace tessera::cuda
