/// The rows after the last product of a group whose products share the rows of C: they become beta·C, as if they
/// belonged to a product whose k is 0. Only the device knows which rows they are. Mostly there are none.

#include <algorithm>

#include "cuda/device/status.hpp"
#include "cuda/gemm/common/ceil_div.hpp"
#include "cuda/gemm/common/epilogue.cuh"
#include "cuda/gemm/common/programmatic_launch.cuh"
#include "rows_after_last.hpp"

namespace tessera::cuda {
namespace {

constexpr int threads_of_block = 256;

/// Returns the largest of the ends, as all threads of the block see it. An end beyond `rows` counts as `rows`.
__device__ Index last_end(RowEnds ends, int products, Index rows) {
  __shared__ Index last[threads_of_block / 32];
  Index own = 0;
  for (int i = static_cast<int>(threadIdx.x); i < products; i += threads_of_block) own = max(own, ends.at(i));
#pragma unroll
  for (int lanes = 16; lanes > 0; lanes /= 2) own = max(own, __shfl_xor_sync(~0U, own, lanes));
  if (threadIdx.x % 32 == 0) last[threadIdx.x / 32] = own;
  __syncthreads();
#pragma unroll
  for (const Index other : last) own = max(own, other);
  return min(own, rows);
}

template <class S>
__global__ void __launch_bounds__(threads_of_block)
    rows_after_last(const EpilogueStore<S> to, RowEnds ends, int products) {
  constexpr int width = EpilogueStore<S>::width;
  wait_for_kernel_before();
  const Index first = last_end(ends, products, to.m), across = ceil_div<Index>(to.n, width);
  const Index all = (to.m - first) * across, step = Index{gridDim.x} * threads_of_block;
  for (Index i = Index{blockIdx.x} * threads_of_block + threadIdx.x; i < all; i += step) {
    const S sum[1][width]{};
    to.store([&](int) -> ResultPlace { return {first + i / across, i % across * width}; }, sum);
  }
}

template <class S>
Status launch_for(cudaStream_t stream, const GemmBatch& group, Index multiprocessors) noexcept {
  const Index most = ceil_div<Index>(group.call.m * group.call.n, threads_of_block);
  const Launch how{
      .blocks = std::clamp<Index>(most, 1, 2 * multiprocessors), .threads = threads_of_block, .programmatic = true};
  return launch_kernel(stream, how, "rows after a batch", rows_after_last<S>, EpilogueStore<S>(group.call), group.ends,
                       static_cast<int>(group.count));
}

} // namespace

Status scale_rows_after_last(cudaStream_t stream, const GemmBatch& group, Index multiprocessors) noexcept {
  return group.call.type == DType::F64 ? launch_for<double>(stream, group, multiprocessors)
                                       : launch_for<float>(stream, group, multiprocessors);
}

} // namespace tessera::cuda
