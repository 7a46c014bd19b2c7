/// cub: the vendor's reduction (CCCL), as a peer of the rungs.
///
/// A padded matrix is read through an iterator that computes each element's place. CUB's kernels read no clock, so that
/// this kernel does not report `device_seconds`.

#include <thrust/iterator/counting_iterator.h>
#include <cub/device/device_reduce.cuh>

#include <limits>

#include <tessera/executor.hpp>

#include "rung.cuh"

namespace tessera::cuda {
namespace {

struct Plus {
  __device__ double operator()(double x, double y) const { return x + y; }
  __device__ host::WholeSum operator()(host::WholeSum x, host::WholeSum y) const { return x + y; }
};

template <class T>
struct SquareOf {
  __device__ double operator()(T x) const { return static_cast<double>(x) * static_cast<double>(x); }
};

template <>
struct SquareOf<std::int32_t> {
  __device__ host::WholeSum operator()(std::int32_t x) const { return host::WholeSum::square(x); }
};

template <class T>
struct SquareAt {
  Elements<T> x;
  __device__ SumOf<T> operator()(Index e) const { return x.square(e); }
};

/// Enqueues the reduction. If `temporary` is null, only sets `bytes` to the temporary memory that the reduction needs.
template <class T>
cudaError_t sum_of_squares(void* temporary, std::size_t& bytes, const Elements<T>& x, SumOf<T>* sum,
                           cudaStream_t stream) {
  if (x.cols == x.ld)
    return ::cub::DeviceReduce::TransformReduce(temporary, bytes, x.x, sum, x.count, Plus{}, SquareOf<T>{}, SumOf<T>{},
                                                stream);
  return ::cub::DeviceReduce::TransformReduce(temporary, bytes, thrust::counting_iterator<Index>(0), sum, x.count,
                                              Plus{}, SquareAt<T>{x}, SumOf<T>{}, stream);
}

Status set_result(const ReduceCall&, double sum, ReduceResult& result) noexcept {
  result.value = sum;
  return {};
}
Status set_result(const ReduceCall& call, host::WholeSum sum, ReduceResult& result) noexcept {
  return host::set_whole(call, sum, result);
}

template <class T>
Status run(const ReduceKernel&, Executor& executor, Queue& queue, const ReduceCall& call,
           ReduceResult& result) noexcept {
  const Elements<T> x(call);
  const cudaStream_t stream = stream_of(queue);
  std::size_t bytes = 0;
  if (Status status = check(sum_of_squares(nullptr, bytes, x, static_cast<SumOf<T>*>(nullptr), stream), "cub");
      !status.ok())
    return status;
  Scratch temporary;
  Scratch sum;
  if (Status status = temporary.allocate(executor, queue, bytes); !status.ok()) return status;
  if (Status status = sum.allocate(executor, queue, sizeof(SumOf<T>)); !status.ok()) return status;
  if (Status status = check(sum_of_squares(temporary.data(), bytes, x, sum.as<SumOf<T>>(), stream), "cub");
      !status.ok())
    return status;
  SumOf<T> fetched{};
  if (Status status = check(cudaMemcpyAsync(&fetched, sum.data(), sizeof fetched, cudaMemcpyDeviceToHost, stream),
                            "fetching a sum");
      !status.ok())
    return status;
  if (Status status = queue.synchronize(); !status.ok()) return status;
  return set_result(call, fetched, result);
}

template <class T>
constexpr ReduceKernel rung{.name = "cub",
                            .summary = "the vendor's device-wide reduction",
                            .source = "CCCL",
                            .type = reduced_dtype_of<T>,
                            .summation = summation_of<T>,
                            .run = run<T>};

} // namespace

const ReduceKernel cub_f32 = rung<float>;
const ReduceKernel cub_f64 = rung<double>;
const ReduceKernel cub_i32 = rung<std::int32_t>;

} // namespace tessera::cuda
