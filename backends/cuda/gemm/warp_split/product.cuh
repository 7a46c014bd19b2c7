#pragma once

/// The kernel of emulated_fp16x3 and scaled_fp16 for products of few results: in one launch, without packed operands.
///
/// Each warp of a block reads a chunk of k of its 16 rows and 16 columns, splits both in registers and multiplies them.
/// The warps that share a tile have different chunks. They leave the chunks' sums in shared memory, and every lane adds
/// up the sums of a few results in ascending order of k. A block has all segments of k; or the blocks of a cluster have
/// one each, and the first block adds their sums. Results of rows or columns with NaN or Inf are computed again by the
/// strict summation. Sources: Ootomo and Yokota (2022) for the split; NVIDIA CUTLASS for slices of k within a block.

#include "cuda/gemm/common/cluster_send.cuh"
#include "cuda/gemm/common/emulated_fp16x3/strict_sum.cuh"
#include "cuda/gemm/common/programmatic_launch.cuh"
#include "cuda/gemm/common/ring.cuh"
#include "cuda/gemm/common/stores/results.cuh"
#include "cuda/gemm/common/warp_mma.cuh"
#include "params.cuh"
#include "warp_lines.cuh"

namespace tessera::cuda::warp_split {

#if defined(__CUDA_ARCH_FEAT_SM90_ALL)

/// Multiplies the chunk that the lines hold, and writes its sums.
template <int terms, Along a_along, Along b_along>
__device__ void multiply_chunk(WarpLines<a_along>& a, WarpLines<b_along>& b, ChunkSums& to, int lane) {
  a.scale();
  b.scale();
  float sum[2][4] = {};
#pragma unroll
  for (int step = 0; step < steps; ++step) {
    unsigned a_high[4], b_high[4];
    const auto multiply = [&](const unsigned(&x)[4], const unsigned(&y)[4]) {
#pragma unroll
      for (int half = 0; half < 2; ++half)
        multiply_in_warp<__half>(sum[half], x[0], x[2], x[1], x[3], y[half * 2], y[half * 2 + 1]);
    };
    if constexpr (terms == 2) {
      unsigned a_low[4], b_low[4];
      a.split(step, a_high, a_low);
      b.split(step, b_high, b_low);
      multiply(a_low, b_high);
      multiply(a_high, b_low);
    } else {
      a.round(step, a_high);
      b.round(step, b_high);
    }
    multiply(a_high, b_high);
  }
#pragma unroll
  for (int half = 0; half < 2; ++half)
#pragma unroll
    for (int e = 0; e < 4; ++e) to.sum[half * 4 + e][lane] = sum[half][e];
  if (lane % 4 == 0) {
    to.rows[lane / 4] = a.factor(0);
    to.rows[8 + lane / 4] = a.factor(1);
    to.columns[lane / 4] = b.factor(0);
    to.columns[8 + lane / 4] = b.factor(1);
  }
}

/// The results that a lane adds up: `own` of its 8 of a warp's tile, from result `first` on.
template <int own>
class OwnResults {
 public:
  __device__ OwnResults(int first, int lane) : first_(first), lane_(lane) {
#pragma unroll
    for (int e = 0; e < own; ++e) {
      carried_[e] = 0;
      total[e] = -0.0f; // to which the first segment is added without a change
      unfit[e] = false;
    }
  }
  /// Adds the sums of the chunk that follows.
  __device__ void add(const ChunkSums& x) {
#pragma unroll
    for (int e = 0; e < own; ++e) {
      const float row = x.rows[row_half(e) * 8 + lane_ / 4], column = x.columns[column_half(e) * 8 + column_in_half(e)];
      carried_[e] = wgmma::add_with_factors(carried_[e], x.sum[first_ + e][lane_], row, column);
      unfit[e] = unfit[e] || isnan(row) || isnan(column);
    }
  }
  /// Ends a segment.
  __device__ void end_segment() {
#pragma unroll
    for (int e = 0; e < own; ++e) {
      total[e] = __fadd_rn(total[e], carried_[e]);
      carried_[e] = 0;
    }
  }
  /// Returns the row of result e in the warp's tile.
  template <Along along>
  __device__ int row(int e) const {
    return line_of<along>(row_half(e), lane_ / 4);
  }
  template <Along along>
  __device__ int column(int e) const {
    return line_of<along>(column_half(e), column_in_half(e));
  }

  float total[own];
  bool unfit[own]; ///< the row or the column has NaN or Inf

 private:
  __device__ int column_half(int e) const { return (first_ + e) / 4; }
  __device__ int row_half(int e) const { return (first_ + e) / 2 % 2; }
  __device__ int column_in_half(int e) const { return lane_ % 4 * 2 + (first_ + e) % 2; }

  const int first_, lane_;
  float carried_[own];
};

/// Adds up the sums of a cluster's blocks in the first one. Returns false in the others.
template <class Tile>
__device__ bool add_parts(int parts, int part, OwnResults<Tile::own>& results, PartSums<Tile>& received,
                          Arrivals& arrivals) {
  if (parts == 1) return true;
  const int thread = static_cast<int>(threadIdx.x);
  if (part > 0) {
#pragma unroll
    for (int e = 0; e < Tile::own; ++e) {
      const float one[1]{results.unfit[e] ? __uint_as_float(wgmma::unfit_sum) : results.total[e]};
      send(place_in(0, &received.sum[part - 1][e][thread]), one, place_in(0, &arrivals.barrier));
    }
    return false;
  }
  arrivals.wait();
  for (int p = 0; p < parts - 1; ++p)
#pragma unroll
    for (int e = 0; e < Tile::own; ++e) {
      const float more = received.sum[p][e][thread];
      results.unfit[e] = results.unfit[e] || wgmma::is_unfit(more);
      results.total[e] = __fadd_rn(results.total[e], more);
    }
  return true;
}

#endif

template <class Tile, int terms, Along a_along, Along b_along>
__global__ void __launch_bounds__(Tile::threads, 1) product(const __grid_constant__ Product x) {
#if defined(__CUDA_ARCH_FEAT_SM90_ALL)
  constexpr int groups = Tile::groups, own = Tile::own;
  using S = Shared<Tile>;
  extern __shared__ __align__(16) char memory[];
  __shared__ Arrivals arrivals;
  auto& shared = *reinterpret_cast<S*>(memory);
  const int parts = x.parts, part = static_cast<int>(blockIdx.x) % parts;
  const int warp = static_cast<int>(threadIdx.x) / 32, lane = static_cast<int>(threadIdx.x) % 32;
  const int group = warp % groups, tile = warp / groups;
  auto& chunks = shared.chunks[tile];
  auto& written = shared.written[tile];
  if (group == 0 && lane < S::rounds) ::cuda::ptx::mbarrier_init(&written[lane], groups);
  if (parts > 1) {
    if (part == 0 && threadIdx.x == 0)
      arrivals.start((parts - 1) * Tile::own * Tile::threads * static_cast<int>(sizeof(float)));
    ::cuda::ptx::barrier_cluster_arrive(::cuda::ptx::sem_relaxed);
  }
  const TilePlace place = x.order.place(blockIdx.x / parts);
  const Index row = place.row * Tile::m + tile / Tile::across * tile_lines;
  const Index column = place.col * Tile::n + tile % Tile::across * tile_lines;
  const int begin = part * x.segment_chunks;
  const int end = parts > 1 ? min(x.chunks, begin + x.segment_chunks) : x.chunks;
  const StridedOperands<float>& whole = x.whole;
  const int m = static_cast<int>(whole.m), n = static_cast<int>(whole.n), k = static_cast<int>(whole.k);
  WarpLines<a_along> a({whole.a, whole.a_row, whole.a_col, m, k, x.a_vectors}, row, lane);
  WarpLines<b_along> b({whole.b, whole.b_col, whole.b_row, n, k, x.b_vectors}, column, lane);
  OwnResults<own> results(group * own, lane);
  const auto read = [&](int chunk) {
    if (chunk >= end) return;
    a.read(chunk * wgmma::chunk_k);
    b.read(chunk * wgmma::chunk_k);
  };
  launch_dependents();
  __syncthreads(); // the barriers are there
  wait_for_kernel_before();
  read(begin + group);
  int left = x.segment_chunks; // chunks of the segment that are not yet added
  const auto add_round = [&](int round) {
    const int first = begin + round * groups;
    wait(written[round % S::rounds], round / S::rounds % 2);
#pragma unroll 1
    for (int g = 0; g < groups && first + g < end; ++g) {
      results.add(chunks[round % S::rounds][g]);
      if (--left > 0) continue;
      results.end_segment();
      left = x.segment_chunks;
    }
  };
  const int rounds = ceil_div(end - begin, groups);
#pragma unroll 1
  for (int round = 0; round < rounds; ++round) {
    const int chunk = begin + round * groups + group;
    if (chunk < end) multiply_chunk<terms>(a, b, chunks[round % S::rounds][group], lane);
    read(chunk + groups);
    __syncwarp();
    if (lane == 0) ::cuda::ptx::mbarrier_arrive(&written[round % S::rounds]);
    if (round > 0) add_round(round - 1);
  }
  add_round(rounds - 1);
  if (left < x.segment_chunks) results.end_segment();
  if (parts > 1) ::cuda::ptx::barrier_cluster_wait();
  if (!add_parts<Tile>(parts, part, results, shared.received, arrivals)) return;
  float old[own]; // read together, because a lane would wait for each read
  const auto place_of = [&](int e) -> ResultPlace {
    return {row + results.template row<a_along>(e), column + results.template column<b_along>(e)};
  };
  const auto is_in_c = [&](const ResultPlace& at) { return at.row < whole.m && at.col < whole.n; };
  if (whole.beta != 0 && !whole.epilogue.wanted) {
#pragma unroll
    for (int e = 0; e < own; ++e)
      if (const ResultPlace at = place_of(e); is_in_c(at)) old[e] = whole.c[at.row * whole.ldc + at.col];
  }
#pragma unroll
  for (int e = 0; e < own; ++e) {
    const ResultPlace at = place_of(e);
    if (!is_in_c(at)) continue;
    const float sum = results.unfit[e] ? wgmma::strict_sum(whole, at.row, at.col) : results.total[e];
    if (whole.epilogue.wanted) [[unlikely]] {
      const float one[1][1]{{sum}};
      whole.epilogue.store([&](int) { return at; }, one);
    } else {
      whole.c[at.row * whole.ldc + at.col] = strict_result(sum, whole.alpha, whole.beta, old[e]);
    }
  }
#endif
}

} // namespace tessera::cuda::warp_split
