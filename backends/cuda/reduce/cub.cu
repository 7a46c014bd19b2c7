/// cub: the vendor's reduction (CCCL), as a peer of the rungs.
///
/// A padded matrix is read through an iterator that computes each element's place. CUB's kernels read no clock, so that
/// this row does not report `device_seconds`.

#include <thrust/iterator/counting_iterator.h>
#include <cub/device/device_reduce.cuh>

#include <limits>

#include <tessera/executor.hpp>

#include "rung.cuh"

namespace tessera::cuda {
namespace {

struct Plus {
  __device__ double operator()(double x, double y) const { return x + y; }
};

template <class T>
struct SquareOf {
  __device__ double operator()(T x) const { return static_cast<double>(x) * static_cast<double>(x); }
};

template <class T>
struct SquareAt {
  Elements<T> x;
  __device__ double operator()(Index e) const { return x.square(e); }
};

/// Enqueues the reduction. If `temporary` is null, only sets `bytes` to the temporary memory that the reduction needs.
template <class T>
cudaError_t sum_of_squares(void* temporary, std::size_t& bytes, const Elements<T>& x, double* sum,
                           cudaStream_t stream) {
  if (x.cols == x.ld)
    return ::cub::DeviceReduce::TransformReduce(temporary, bytes, x.x, sum, x.count, Plus{}, SquareOf<T>{}, 0.0,
                                                stream);
  return ::cub::DeviceReduce::TransformReduce(temporary, bytes, thrust::counting_iterator<Index>(0), sum, x.count,
                                              Plus{}, SquareAt<T>{x}, 0.0, stream);
}

template <class T>
Status run(const ReduceKernel&, Executor& executor, Queue& queue, const ReduceCall& call,
           ReduceResult& result) noexcept {
  const Elements<T> x(call);
  const cudaStream_t stream = stream_of(queue);
  std::size_t bytes = 0;
  if (Status status = check(sum_of_squares(nullptr, bytes, x, static_cast<double*>(nullptr), stream), "cub");
      !status.ok())
    return status;
  Scratch temporary;
  Scratch sum;
  if (Status status = temporary.allocate(executor, queue, bytes); !status.ok()) return status;
  if (Status status = sum.allocate(executor, queue, sizeof(double)); !status.ok()) return status;
  if (Status status = check(sum_of_squares(temporary.data(), bytes, x, sum.as<double>(), stream), "cub"); !status.ok())
    return status;
  if (Status status = check(cudaMemcpyAsync(&result.value, sum.data(), sizeof(double), cudaMemcpyDeviceToHost, stream),
                            "fetching a sum");
      !status.ok())
    return status;
  return queue.synchronize();
}

template <class T>
constexpr ReduceKernel row{.name = "cub",
                           .summary = "the vendor's device-wide reduction",
                           .source = "CCCL",
                           .type = dtype_of<T>,
                           .run = run<T>};

} // namespace

const ReduceKernel cub_f32 = row<float>;
const ReduceKernel cub_f64 = row<double>;

} // namespace tessera::cuda
