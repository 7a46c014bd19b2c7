/// Batches of 16-bit operands on matrix units, in the modes Bf16 and Fp16: a block computes 64×64 results of a product
/// by the matrix instructions of a warp, from operands at any address.
///
/// A product of 64×64×64 alone takes the time of a launch; a multiprocessor needs less to read its 16 KiB and to
/// compute it. So products share a launch. The kernel is built from the stages of the kernel for small products whose
/// lines begin anywhere (common/any_alignment/product.cuh), for any k. Source: the batched kernels of cuBLAS.

#include <cuda_bf16.h>
#include <cuda_fp16.h>

#include <tessera/half.hpp>

#include "batch_operands.cuh"
#include "cuda/device/status.hpp"
#include "cuda/gemm/common/any_alignment/product.cuh"
#include "cuda/gemm/common/grid.cuh"
#include "tile_of_batch.cuh"

namespace tessera::cuda {
namespace {

/// The type by which CUDA knows elements of T.
template <class T>
using Native = std::conditional_t<std::is_same_v<T, bf16>, __nv_bfloat16, __half>;

/// Returns product `number` of the group.
template <class T, class R>
__device__ any_alignment::Product product_of(const BatchGroup<T, R>& x, unsigned number) {
  using any_alignment::Lines;
  const auto operands = x.product(number);
  return {.m = x.m,
          .n = x.n,
          .k = x.k,
          .segment = x.segment,
          .a = x.transpose_a ? Lines::of(operands.a, x.lda, x.k, x.m) : Lines::of(operands.a, x.lda, x.m, x.k),
          .b = x.transpose_b ? Lines::of(operands.b, x.ldb, x.n, x.k) : Lines::of(operands.b, x.ldb, x.k, x.n),
          .to = {.c = operands.c, .ldc = x.ldc, .alpha = x.alpha, .beta = x.beta},
          .narrow = std::is_same_v<T, R>,
          .epilogue = epilogue_of(x, operands.c)};
}

template <class T, class R>
__global__ void __launch_bounds__(any_alignment::threads, 2)
    batch_mma(const __grid_constant__ BatchGroups<T, R> groups) {
#if __CUDA_ARCH__ >= 800
  constexpr int side = any_alignment::tile_side;
  __shared__ any_alignment::Workspace here;
  __shared__ alignas(any_alignment::Product) unsigned char of_product[sizeof(any_alignment::Product)];
  auto& product = *reinterpret_cast<any_alignment::Product*>(of_product);
  __shared__ FoundProduct<T, R> found;
  TileOfBatch<T, R> here_is;
  if (!find_tile<true>(groups, blockIdx.x, side, found, here_is)) return;
  const BatchGroup<T, R>& x = *here_is.group;
  const unsigned tile = here_is.tile;
  if (threadIdx.x == 0) product = product_of(x, here_is.product);
  __syncthreads();
  const int row = static_cast<int>(tile / x.across) * side, column = static_cast<int>(tile % x.across) * side;
  const auto compute = [&]<Along a, Along b>() { any_alignment::compute<Native<T>, a, b>(product, row, column, here); };
  if (x.transpose_a && x.transpose_b)
    compute.template operator()<Along::Outer, Along::K>();
  else if (x.transpose_a)
    compute.template operator()<Along::Outer, Along::Outer>();
  else if (x.transpose_b)
    compute.template operator()<Along::K, Along::K>();
  else
    compute.template operator()<Along::K, Along::Outer>();
#endif
}

} // namespace

template <class T, class R>
Status launch_mma_batch(cudaStream_t stream, const BatchGroups<T, R>& groups) noexcept {
  static_assert(middle_tile<T>.m == any_alignment::tile_side && middle_tile<T>.n == any_alignment::tile_side);
  batch_mma<T, R><<<groups.tiles, any_alignment::threads, 0, stream>>>(groups);
  return launched("batch_mma");
}

template Status launch_mma_batch(cudaStream_t, const BatchGroups<bf16, bf16>&) noexcept;
template Status launch_mma_batch(cudaStream_t, const BatchGroups<bf16, float>&) noexcept;
template Status launch_mma_batch(cudaStream_t, const BatchGroups<f16, f16>&) noexcept;
template Status launch_mma_batch(cudaStream_t, const BatchGroups<f16, float>&) noexcept;

} // namespace tessera::cuda
