#include "row_product.cuh"

#include <cooperative_groups.h>

#include <algorithm>
#include <cstdint>

#include "canonical.cuh"
#include "cluster_launch.cuh"
#include "early_launch.cuh"
#include "grid.cuh"
#include "rounding.cuh"
#include "tma_plan.hpp"

/// A group of columns is a line of 128 bytes of each row of B. A warp reads such lines of four rows at a time, 16 bytes
/// a lane; a block's warps and then a cluster's blocks, which have parts of k, add their sums through shared memory, in
/// an order that depends on the sizes and the number of multiprocessors alone. B's bytes once, 2·n·k operations.

namespace tessera::cuda {
namespace {

namespace cg = ::cooperative_groups;

constexpr int warps = 16, most_parts = 8; ///< parts of k: the blocks of a cluster
constexpr int lanes = 8, rows = 4;        ///< of a warp: side by side, and of B
constexpr int batch = 8;                  ///< a lane's reads under way, and as many more while these are used
/// Of shared memory: so much that a multiprocessor has room for one block, wherever the next kernel's may go first.
constexpr int shared_bytes = 116 << 10;

struct RowProduct {
  const void* a;
  const void* b;
  Index step, ldb; ///< elements from one k to the next in A and B
  int k, groups;
  Finish<float> finish;
};

/// A lane's elements of some rows of B, and of A what they are multiplied by; zeros where there are none.
template <class T>
struct Reads {
  uint4 row[batch];
  T factor[batch];

  __device__ void start(const T* a, Index a_step, const T* b, Index b_step, int k, int end) {
#pragma unroll
    for (int i = 0; i < batch; ++i) {
      row[i] = {};
      factor[i] = T(0.0f);
      if (k + i * warps * rows < end) {
        row[i] = __ldcs(reinterpret_cast<const uint4*>(b + i * b_step));
        factor[i] = a[i * a_step];
      }
    }
  }
  template <int width>
  __device__ void add_to(float (&sum)[width]) const {
#pragma unroll
    for (int i = 0; i < batch; ++i) {
      const T* const elements = reinterpret_cast<const T*>(&row[i]);
#pragma unroll
      for (int e = 0; e < width; ++e)
        sum[e] = fused(Rounding<T>::value(factor[i]), Rounding<T>::value(elements[e]), sum[e]);
    }
  }
};

/// A lane's sums over its rows from `begin` on.
template <class T, int width>
__device__ void add_rows(const RowProduct& x, int col, int begin, int end, float (&sum)[width]) {
  constexpr int apart = warps * rows; // rows between two reads of a lane
  const Index a_step = x.step * apart, b_step = x.ldb * apart;
  int k = begin + static_cast<int>(threadIdx.x) / lanes;
  const T* a = static_cast<const T*>(x.a) + k * x.step;
  const T* b = static_cast<const T*>(x.b) + k * x.ldb + col;
  if (col >= x.finish.n) return;
  const auto start = [&](Reads<T>& reads) {
    reads.start(a, a_step, b, b_step, k, end);
    k += batch * apart;
    a += batch * a_step;
    b += batch * b_step;
  };
  Reads<T> even, odd;
  start(even);
  while (true) {
    const bool more = k < end;
    if (more) start(odd);
    even.add_to(sum);
    if (!more) return;
    const bool again = k < end;
    if (again) start(even);
    odd.add_to(sum);
    if (!again) return;
  }
}

template <class T, class R>
__global__ void __launch_bounds__(warps * 32, 1) row_product(const __grid_constant__ RowProduct x) {
#if __CUDA_ARCH__ >= 900
  constexpr int width = 16 / sizeof(T), columns = width * lanes; ///< of a lane, of a group
  __shared__ float sums[warps][columns];
  __shared__ float of_parts[2][most_parts][columns];
  const cg::cluster_group cluster = cg::this_cluster();
  const int parts = static_cast<int>(cluster.num_blocks()), rank = static_cast<int>(cluster.block_rank());
  const int thread = static_cast<int>(threadIdx.x), warp = thread / 32, lane = thread % 32;
  const int each = (x.k + parts - 1) / parts;
  const int begin = rank * each, end = min(begin + each, x.k);
  launch_dependents();
  wait_for_kernel_before();
  cluster.sync(); // all blocks are there
  int turn = 0;
  for (int group = static_cast<int>(blockIdx.x) / parts; group < x.groups;
       group += static_cast<int>(gridDim.x) / parts, turn ^= 1) {
    float sum[width]{};
    add_rows<T>(x, group * columns + lane % lanes * width, begin, end, sum);
#pragma unroll
    for (int e = 0; e < width; ++e) {
#pragma unroll
      for (int other = lanes; other < 32; other *= 2) sum[e] += __shfl_xor_sync(~0U, sum[e], other);
      if (lane < lanes) sums[warp][lane * width + e] = sum[e];
    }
    __syncthreads();
    if (thread < columns) {
      float all = sums[0][thread];
#pragma unroll
      for (int w = 1; w < warps; ++w) all += sums[w][thread];
      *cluster.map_shared_rank(&of_parts[turn][rank][thread], 0) = all;
    }
    cluster.sync();
    const int j = group * columns + thread;
    if (rank != 0 || thread >= columns || j >= x.finish.n) continue;
    float all = of_parts[turn][0][thread];
    for (int part = 1; part < parts; ++part) all += of_parts[turn][part][thread];
    if (x.finish.wanted) [[unlikely]] {
      x.finish.store([&](int) -> ResultPlace { return {0, j}; }, {{all}});
    } else {
      R* const c = static_cast<R*>(x.finish.c) + j;
      const float r = x.finish.alpha * all;
      *c = Rounding<R>::round(x.finish.beta == 0 ? r : fused(x.finish.beta, Rounding<R>::value(*c), r));
    }
  }
#endif
}

/// Of how many parts of k, so that the multiprocessors have as little as possible to do one after the other.
int choose_parts(Index groups, Index multiprocessors) noexcept {
  int best = 1;
  Index least = 0;
  for (int parts = 1; parts <= most_parts; parts *= 2) {
    const Index rounds = ceil_div(groups, tma::clusters_at_once(multiprocessors, parts));
    const Index cost = rounds * most_parts / parts;
    if (least == 0 || cost < least) {
      least = cost;
      best = parts;
    }
  }
  return best;
}

template <class T, class R>
Status launch(cudaStream_t stream, const GemmCall& call, Index multiprocessors, const char* name) noexcept {
  const Index groups = ceil_div<Index>(call.n, lanes * 16 / sizeof(T));
  const int parts = choose_parts(groups, multiprocessors);
  const RowProduct x{call.a,
                     call.b,
                     call.op_a == Op::Transpose ? call.lda : 1,
                     call.ldb,
                     static_cast<int>(call.k),
                     static_cast<int>(groups),
                     Finish<float>(call)};
  const Index clusters = std::min(groups, tma::clusters_at_once(multiprocessors, parts));
  const ClusterLaunch how{
      .clusters = clusters, .blocks = parts, .threads = warps * 32, .shared = shared_bytes, .early = true};
  return launch_in_clusters(row_product<T, R>, how, stream, x, name);
}

} // namespace

bool is_row_product(const GemmCall& call) noexcept {
  const Index size = static_cast<Index>(size_of(call.type));
  return call.m == 1 && call.op_b == Op::None && call.n * size >= 4096 && call.n * size % 16 == 0 &&
         call.ldb * size % 16 == 0 && reinterpret_cast<std::uintptr_t>(call.b) % 16 == 0;
}

Status launch_row_product(cudaStream_t stream, const GemmCall& call, Index multiprocessors, const char* name) noexcept {
  switch (call.type) {
    case DType::BF16:
      return call.result == DType::F32 ? launch<__nv_bfloat16, float>(stream, call, multiprocessors, name)
                                       : launch<__nv_bfloat16, __nv_bfloat16>(stream, call, multiprocessors, name);
    case DType::F16:
      return call.result == DType::F32 ? launch<__half, float>(stream, call, multiprocessors, name)
                                       : launch<__half, __half>(stream, call, multiprocessors, name);
    default:
      return launch<float, float>(stream, call, multiprocessors, name);
  }
}

} // namespace tessera::cuda
