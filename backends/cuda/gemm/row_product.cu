#include "row_product.cuh"

#include <cooperative_groups.h>
#include <cstdint>

#include "canonical.cuh"
#include "grid.cuh"
#include "rounding.cuh"
#include "status.hpp"

/// A warp reads 512 bytes of a row of B at a time, 16 a lane, of its own part of k; a block's warps and then a
/// cluster's blocks add their sums through shared memory, in the order of k. B's bytes once, 2·n·k operations.

namespace tessera::cuda {
namespace {

namespace cg = ::cooperative_groups;

constexpr int warps = 16, parts = 8; ///< parts of k: warps of a block, and blocks of a cluster

struct RowProduct {
  const void* a;
  const void* b;
  void* c;
  Index step, ldb; ///< elements from one k to the next in A and B
  int n, k;
  float alpha, beta;
  Finish<float> finish;
};

template <class T, class R>
__global__ void __launch_bounds__(warps * 32) row_product(const __grid_constant__ RowProduct x) {
#if __CUDA_ARCH__ >= 900
  constexpr int width = 16 / sizeof(T), columns = width * 32; ///< of a lane, of a block
  constexpr int batch = 8;                                    ///< rows of B under way
  __shared__ float sums[warps][columns];
  const cg::cluster_group cluster = cg::this_cluster();
  const int rank = static_cast<int>(cluster.block_rank());
  const int warp = static_cast<int>(threadIdx.x) / 32, lane = static_cast<int>(threadIdx.x) % 32;
  const int first = static_cast<int>(blockIdx.x) / parts * columns;
  const int col = first + lane * width;
  const int each = (x.k + warps * parts - 1) / (warps * parts);
  const int begin = (rank * warps + warp) * each, end = min(begin + each, x.k);
  const T* const a = static_cast<const T*>(x.a);
  const T* const b = static_cast<const T*>(x.b) + col;
  float sum[width]{};
  if (col < x.n)
    for (int k = begin; k < end; k += batch) {
      uint4 row[batch];
      float factor[batch];
#pragma unroll
      for (int i = 0; i < batch; ++i)
        if (k + i < end) {
          row[i] = __ldcs(reinterpret_cast<const uint4*>(b + (k + i) * x.ldb));
          factor[i] = Rounding<T>::value(a[(k + i) * x.step]);
        }
#pragma unroll
      for (int i = 0; i < batch; ++i)
        if (k + i < end) {
          const T* const elements = reinterpret_cast<const T*>(&row[i]);
#pragma unroll
          for (int e = 0; e < width; ++e) sum[e] = fused(factor[i], Rounding<T>::value(elements[e]), sum[e]);
        }
    }
#pragma unroll
  for (int e = 0; e < width; ++e) sums[warp][lane * width + e] = sum[e];
  __syncthreads();
  if (const int j = static_cast<int>(threadIdx.x); j < columns) {
    float all = sums[0][j];
#pragma unroll
    for (int w = 1; w < warps; ++w) all += sums[w][j];
    sums[0][j] = all;
  }
  cluster.sync();
  // A share of the columns for each block.
  constexpr int share = columns / parts;
  const int own = rank * share + static_cast<int>(threadIdx.x), j = first + own;
  if (threadIdx.x < share && j < x.n) {
    float part[parts];
#pragma unroll
    for (int p = 0; p < parts; ++p) part[p] = *cluster.map_shared_rank(&sums[0][own], static_cast<unsigned>(p));
    float all = part[0];
#pragma unroll
    for (int p = 1; p < parts; ++p) all += part[p];
    if (x.finish.wanted) [[unlikely]] {
      x.finish.store([&](int) -> ResultPlace { return {0, j}; }, {{all}});
    } else {
      R* const c = static_cast<R*>(x.c) + j;
      const float r = x.alpha * all;
      *c = Rounding<R>::round(x.beta == 0 ? r : fused(x.beta, Rounding<R>::value(*c), r));
    }
  }
  cluster.sync(); // nobody leaves while others read its sums
#endif
}

template <class T, class R>
Status launch(cudaStream_t stream, const GemmCall& call, const char* name) noexcept {
  constexpr int columns = 16 / sizeof(T) * 32;
  cudaLaunchAttribute in_clusters{};
  in_clusters.id = cudaLaunchAttributeClusterDimension;
  in_clusters.val.clusterDim = {parts, 1, 1};
  cudaLaunchConfig_t config{};
  config.gridDim = static_cast<unsigned>(ceil_div<Index>(call.n, columns) * parts);
  config.blockDim = warps * 32;
  config.stream = stream;
  // Not launched ahead: blocks would go where the kernel before ends first, several to a multiprocessor.
  config.attrs = &in_clusters;
  config.numAttrs = 1;
  const RowProduct x{call.a,
                     call.b,
                     call.c,
                     call.op_a == Op::Transpose ? call.lda : 1,
                     call.ldb,
                     static_cast<int>(call.n),
                     static_cast<int>(call.k),
                     static_cast<float>(call.alpha),
                     static_cast<float>(call.beta),
                     Finish<float>(call)};
  return check(cudaLaunchKernelEx(&config, row_product<T, R>, x), name);
}

} // namespace

bool is_row_product(const GemmCall& call) noexcept {
  const Index size = static_cast<Index>(size_of(call.type));
  return call.m == 1 && call.op_b == Op::None && call.n * size >= 4096 && call.n * size % 16 == 0 &&
         call.ldb * size % 16 == 0 && reinterpret_cast<std::uintptr_t>(call.b) % 16 == 0;
}

Status launch_row_product(cudaStream_t stream, const GemmCall& call, const char* name) noexcept {
  switch (call.type) {
    case DType::BF16:
      return call.result == DType::F32 ? launch<__nv_bfloat16, float>(stream, call, name)
                                       : launch<__nv_bfloat16, __nv_bfloat16>(stream, call, name);
    case DType::F16:
      return call.result == DType::F32 ? launch<__half, float>(stream, call, name)
                                       : launch<__half, __half>(stream, call, name);
    default:
      return launch<float, float>(stream, call, name);
  }
}

} // namespace tessera::cuda
