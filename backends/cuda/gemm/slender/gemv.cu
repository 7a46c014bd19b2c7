#include "cuda/gemm/common/gemv.cuh"

#include <cstdint>

#include "cuda/device/status.hpp"
#include "cuda/gemm/common/canonical.cuh"
#include "cuda/gemm/common/cluster_send.cuh"
#include "cuda/gemm/common/few_vectors_operands.hpp"
#include "cuda/gemm/common/grid.cuh"
#include "cuda/gemm/common/programmatic_launch.cuh"
#include "cuda/gemm/common/rounding.cuh"

/// A block reads lines of 128 bytes of B, over its part of k. A warp reads four lines at once, 16 bytes a lane. Lanes,
/// then the warps of a block, then the blocks of a cluster add their sums, in an order that depends on the sizes alone.
/// B's bytes are read once; operations: 2·n·k.

namespace tessera::cuda {
namespace {

constexpr int warps = 16;
constexpr int max_k_parts = 3; ///< parts of k, which are the blocks of a cluster

struct GemvParams {
  const void* a;
  const void* b;
  void* c;
  Index step, ldb; ///< elements from one k to the next in A and in B
  int n, k;
  int k_parts, k_per_part; ///< number of parts of k, and the k of each
  float alpha, beta;
  EpilogueStore<float> epilogue;
};

template <class T>
constexpr int columns_of = 128 / static_cast<int>(sizeof(T)); ///< columns of a block

#if __CUDA_ARCH__ >= 900

constexpr int at_once = 4;          ///< rows of B that a warp reads at once
constexpr int lanes = 32 / at_once; ///< lanes along a line

/// Returns two neighbouring elements as f32.
__device__ inline float2 pair_of(const __nv_bfloat16*, unsigned x) {
  return {__uint_as_float(x << 16), __uint_as_float(x & 0xffff0000u)};
}
__device__ inline float2 pair_of(const __half*, unsigned x) {
  return __half22float2(reinterpret_cast<const __half2&>(x));
}
/// Returns the elements of 16 bytes as f32.
template <class T>
__device__ void unpack(const uint4& x, float (&to)[8]) {
  const unsigned words[4]{x.x, x.y, x.z, x.w};
#pragma unroll
  for (int w = 0; w < 4; ++w) {
    const float2 pair = pair_of(static_cast<const T*>(nullptr), words[w]);
    to[w * 2] = pair.x;
    to[w * 2 + 1] = pair.y;
  }
}
template <class T>
__device__ void unpack(const uint4& x, float (&to)[4]) {
  to[0] = __uint_as_float(x.x);
  to[1] = __uint_as_float(x.y);
  to[2] = __uint_as_float(x.z);
  to[3] = __uint_as_float(x.w);
}

/// The loads that a warp has under way: `reads` reads of B for each lane, and one element of A for each lane and 32
/// rows.
template <class T, int reads>
struct RowBatch {
  static constexpr int rows = reads * at_once;
  static_assert(rows % 32 == 0);
  uint4 row[reads];
  T factor[rows / 32];

  /// Starts the loads from row `first` on; rows from `end` on are zeros, unless the batch is `whole`. `b` is this
  /// lane's first column.
  template <bool whole>
  __device__ void fetch(const GemvParams& x, const T* b, int first, int end, int lane) {
    const T* const a = static_cast<const T*>(x.a);
#pragma unroll
    for (int f = 0; f < rows / 32; ++f) {
      const int k = first + f * 32 + lane;
      factor[f] = whole || k < end ? a[k * x.step] : Rounding<T>::round(0);
    }
    const T* from = b + (first + lane / lanes) * x.ldb;
    const Index next = at_once * x.ldb;
#pragma unroll
    for (int i = 0; i < reads; ++i, from += next) {
      if (!whole) row[i] = {};
      if (whole || first + i * at_once + lane / lanes < end) row[i] = __ldcs(reinterpret_cast<const uint4*>(from));
    }
  }
  template <int width>
  __device__ void add_to(float (&sum)[width], int lane) const {
#pragma unroll
    for (int i = 0; i < reads; ++i) {
      const float mine = Rounding<T>::value(factor[i * at_once / 32]);
      const float scale = __shfl_sync(~0U, mine, i * at_once % 32 + lane / lanes);
      float element[width];
      unpack<T>(row[i], element);
#pragma unroll
      for (int e = 0; e < width; ++e) sum[e] = fused(scale, element[e], sum[e]);
    }
  }
};

/// Adds a warp's rows of a block's part of k, batch by batch. One batch under way is enough: warps drift apart, so that
/// some of them always wait. Two batches of one warp would be waited for together, because ptxas gives both the same
/// scoreboard.
template <class T, int reads, int width>
__device__ void multiply(const GemvParams& x, const T* b, int begin, int end, int warp, int lane, float (&sum)[width]) {
  using B = RowBatch<T, reads>;
  int first = begin + warp * B::rows;
  for (; first + B::rows <= end; first += warps * B::rows) {
    B batch;
    batch.template fetch<true>(x, b, first, end, lane);
    batch.add_to(sum, lane);
  }
  if (first >= end) return;
  B batch;
  batch.template fetch<false>(x, b, first, end, lane);
  batch.add_to(sum, lane);
}

#endif

/// `blocks_there`: blocks that share a multiprocessor and its registers.
template <class T, class R, int reads, int blocks_there>
__global__ void __launch_bounds__(warps * 32, blocks_there) gemv_kernel(const __grid_constant__ GemvParams x) {
#if __CUDA_ARCH__ >= 900
  namespace ptx = ::cuda::ptx;
  constexpr int width = 16 / sizeof(T), columns = columns_of<T>;
  __shared__ __align__(16) float sums[warps][columns];
  __shared__ float sent[max_k_parts - 1][columns];
  __shared__ Arrivals arrivals;
  const int rank = static_cast<int>(ptx::get_sreg_cluster_ctarank());
  const int warp = static_cast<int>(threadIdx.x) / 32, lane = static_cast<int>(threadIdx.x) % 32;
  launch_dependents();
  if (x.k_parts > 1) {
    if (threadIdx.x == 0 && rank == 0) arrivals.start((x.k_parts - 1) * static_cast<int>(sizeof(sent[0])));
    ptx::barrier_cluster_arrive(ptx::sem_relaxed);
  }
  const int first = static_cast<int>(ptx::get_sreg_clusterid_x()) * columns;
  const int begin = rank * x.k_per_part, end = min(begin + x.k_per_part, x.k);
  // Lanes beyond the last column read the last vector again.
  const T* const b = static_cast<const T*>(x.b) + min(first + lane % lanes * width, x.n - width);
  float sum[width]{};
  wait_for_kernel_before();
  multiply<T, reads>(x, b, begin, end, warp, lane, sum);
#pragma unroll
  for (int apart = lanes; apart < 32; apart *= 2)
#pragma unroll
    for (int e = 0; e < width; ++e) sum[e] += __shfl_xor_sync(~0U, sum[e], apart);
  if (lane < lanes)
#pragma unroll
    for (int e = 0; e < width; e += 4)
      *reinterpret_cast<float4*>(&sums[warp][lane * width + e]) = {sum[e], sum[e + 1], sum[e + 2], sum[e + 3]};
  __syncthreads();
  if (x.k_parts > 1) ptx::barrier_cluster_wait(); // the block that adds is ready to receive
  const int own = static_cast<int>(threadIdx.x), j = first + own;
  if (own >= columns) return;
  float all = sums[0][own];
#pragma unroll
  for (int w = 1; w < warps; ++w) all += sums[w][own];
  if (rank > 0) return send(place_in(0, &sent[rank - 1][own]), all, place_in(0, &arrivals.barrier));
  if (x.k_parts > 1) {
    arrivals.wait();
    for (int p = 1; p < x.k_parts; ++p) all += sent[p - 1][own];
  }
  if (j >= x.n) return;
  if (x.epilogue.wanted) [[unlikely]] {
    x.epilogue.store([&](int) -> ResultPlace { return {0, j}; }, {{all}});
  } else {
    store_rounded(static_cast<R*>(x.c) + j, all, x.alpha, x.beta);
  }
#endif
}

/// Multiprocessors of an H100, which runs 66 clusters of 2 blocks and 39 of 3 at once. It is not the number of the
/// device at hand, because the order of the additions must depend on the sizes alone.
constexpr Index multiprocessors = 132;
/// Returns the number of parts of k that gives most multiprocessors one block.
constexpr int k_parts_of(Index groups, Index k) {
  if (groups > 66 || k < 512) return 1;
  return groups > 39 ? 2 : max_k_parts;
}

template <class T, class R>
Status launch(cudaStream_t stream, const GemmCall& call, const char* name) noexcept {
  const Index groups = ceil_div<Index>(call.n, columns_of<T>);
  const int k_parts = k_parts_of(groups, call.k);
  const GemvParams x{call.a,
                     call.b,
                     call.c,
                     call.op_a == Op::Transpose ? call.lda : 1,
                     call.ldb,
                     static_cast<int>(call.n),
                     static_cast<int>(call.k),
                     k_parts,
                     static_cast<int>(ceil_div<Index>(call.k, k_parts)),
                     static_cast<float>(call.alpha),
                     static_cast<float>(call.beta),
                     EpilogueStore<float>(call)};
  Launch how{.blocks = groups * k_parts, .threads = warps * 32, .programmatic = true, .cluster = k_parts};
  // Where there are more blocks than multiprocessors, two share one, so that one reads while the other starts or ends.
  if (groups > multiprocessors) return launch_kernel(stream, how, name, gemv_kernel<T, R, 8, 2>, x);
  const auto kernel = gemv_kernel<T, R, 16, 1>;
  how.shared = more_than_half;
  if (Status status = allow_shared(kernel, how.shared, name); !status.ok()) return status;
  return launch_kernel(stream, how, name, kernel, x);
}

} // namespace

bool is_gemv(const GemmCall& call) noexcept {
  constexpr Index least_bytes = 4096; // bytes of a row of B
  return call.m == 1 && call.op_b == Op::None && call.n * static_cast<Index>(size_of(call.type)) >= least_bytes &&
         few_vectors::is_whole(call.b, call.n, call.ldb, size_of(call.type));
}

Status launch_gemv(cudaStream_t stream, const GemmCall& call, const char* name) noexcept {
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
