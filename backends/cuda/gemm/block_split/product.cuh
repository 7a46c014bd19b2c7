#pragma once

/// The kernel of emulated_fp16x3 and scaled_fp16 for products of few results, whose operands are not packed before.
///
/// A block has a tile of 64×64 results and some chunks of k, all of one segment. For each chunk its threads read the
/// lines of both operands into registers, scale and split them, and write the terms to shared memory, while the matrix
/// units multiply the chunk before. If a segment has several pieces, or k several segments, sums go to planes, which
/// add_planes.cuh adds up. Sources: Ootomo and Yokota (2022) for the split; NVIDIA CUTLASS for tiles of warpgroups.

#include <type_traits>

#include "block_lines.cuh"
#include "cuda/gemm/common/programmatic_launch.cuh"
#include "cuda/gemm/common/wgmma.cuh"
#include "results.cuh"

namespace tessera::cuda::block_split {

/// What a block has in shared memory, of two chunks.
template <int terms>
struct Shared {
  char a[2][terms * term_bytes], b[2][terms * term_bytes];
  float row_factors[2][tile_lines], column_factors[2][tile_lines];
  float largest_a[steps][tile_lines], largest_b[steps][tile_lines];
  UnfitOfTile unfit;
};

#if defined(__CUDA_ARCH_FEAT_SM90_ALL)

/// The descriptor of an operand in shared memory, of which only the lower half differs from place to place.
struct LinesDescriptor {
  unsigned low;

  __device__ explicit LinesDescriptor(const void* shared)
      : low((static_cast<unsigned>(__cvta_generic_to_shared(shared)) & 0x3FFFF) >> 4 | along_k_bytes >> 4 << 16) {
    asm volatile("" : "+r"(low)); // otherwise it would be computed anew for each chunk
  }
  /// Returns the descriptor of an operand that lies `bytes` further on.
  __device__ LinesDescriptor moved(unsigned bytes) const {
    LinesDescriptor other = *this;
    other.low += bytes >> 4;
    return other;
  }
  __device__ std::uint64_t at(unsigned bytes) const {
    return std::uint64_t{group_bytes >> 4} << 32 | (low + (bytes >> 4));
  }
};

/// Starts the products of a chunk, in the order of chunk_scales.cuh.
template <int terms>
__device__ void multiply_chunk(float (&sum)[own], const LinesDescriptor& a, const LinesDescriptor& b) {
  const auto multiply_terms = [&](unsigned a_at, unsigned b_at, int accumulate) {
    multiply<MatrixUnitType::Fp16, group_columns>(sum, a.at(a_at), b.at(b_at), accumulate);
  };
  begin_products();
#pragma unroll
  for (int step = 0; step < steps; ++step) {
    const unsigned at = step * 2 * along_k_bytes;
    if constexpr (terms == 2) {
      multiply_terms(term_bytes + at, at, step > 0 ? 1 : 0);
      multiply_terms(at, term_bytes + at, 1);
      multiply_terms(at, at, 1);
    } else {
      multiply_terms(at, at, step > 0 ? 1 : 0);
    }
  }
  commit_products();
}

/// A barrier that threads may reach at different places of the code.
__device__ inline void wait_for_block() { asm volatile("bar.sync 0, %0;" ::"n"(threads) : "memory"); }

/// Puts unfit_sum in the place of sums in rows or columns that cannot be split.
__device__ inline void mark_unfit(const UnfitOfTile& unfit, const ResultPlace& in_tile, float (&sum)[own]) {
  if (unfit.any == 0) [[likely]]
    return;
#pragma unroll
  for (int e = 0; e < own; ++e)
    if (unfit.rows[in_tile.row + e / 2 % 2 * 8] != 0 || unfit.columns[in_tile.col + e / 4 * 8 + e % 2] != 0)
      sum[e] = __uint_as_float(wgmma::unfit_sum);
}

/// Writes a thread's sums to its tile in a plane.
__device__ inline void store_plane(const Planes& planes, Index plane, unsigned tile, const float (&sum)[own]) {
  float* const to = planes.sums + plane * planes.size + Index{tile} * (tile_lines * tile_lines) + threadIdx.x * 4;
#pragma unroll
  for (int e = 0; e < own; e += 4)
    *reinterpret_cast<float4*>(to + e * multiplying) = make_float4(sum[e], sum[e + 1], sum[e + 2], sum[e + 3]);
}

#endif

template <int terms, Along a_along, Along b_along>
__global__ void __launch_bounds__(threads, 1) product(const __grid_constant__ Product x) {
#if defined(__CUDA_ARCH_FEAT_SM90_ALL)
  extern __shared__ __align__(128) char memory[];
  auto& shared = *reinterpret_cast<Shared<terms>*>(memory);
  const int thread = static_cast<int>(threadIdx.x);
  const Pieces& pieces = x.pieces;
  const auto tiles = static_cast<unsigned>(x.order.tiles());
  const unsigned number = blockIdx.x % tiles;
  const int piece = static_cast<int>(blockIdx.x / tiles);
  const int segment = piece / pieces.of_segment(), in_segment = piece - segment * pieces.of_segment();
  const int segment_begin = segment * pieces.segment_chunks, begin = segment_begin + in_segment * pieces.piece_chunks;
  const int end = min(min(pieces.chunks, segment_begin + pieces.segment_chunks), begin + pieces.piece_chunks);
  const TilePlace tile = x.order.place(number);
  const Index first_row = tile.row * tile_lines, first_column = tile.col * tile_lines;
  const StridedOperands<float>& whole = x.whole;
  const int m = static_cast<int>(whole.m), n = static_cast<int>(whole.n), k = static_cast<int>(whole.k);
  BlockLines<a_along> a({whole.a, whole.a_row, whole.a_col, m, k, x.a_vectors}, first_row, begin * wgmma::chunk_k);
  BlockLines<b_along> b({whole.b, whole.b_col, whole.b_row, n, k, x.b_vectors}, first_column, begin * wgmma::chunk_k);
  const ResultPlace in_tile = place_in_tile(thread);
  if (thread < tile_lines) {
    shared.unfit.rows[thread] = shared.unfit.columns[thread] = 0;
#pragma unroll
    for (int buffer = 0; buffer < 2; ++buffer) // of lines that are not there
      shared.row_factors[buffer][thread] = shared.column_factors[buffer][thread] = 1;
  }
  if (thread == 0) shared.unfit.any = 0;
  launch_dependents();
  __syncthreads();
  wait_for_kernel_before();

  const LinesDescriptor a_terms(shared.a[0]), b_terms(shared.b[0] + thread / 128 * group_columns * line_bytes);
  const bool adds_up = in_segment == 0; // otherwise each chunk has a plane
  const Index first_plane = Index{segment} * pieces.segment_planes();
  float sum[own], carried[own];
#pragma unroll
  for (int e = 0; e < own; ++e) carried[e] = sum[e] = 0;
  // Ends a chunk whose products are done.
  const auto finish = [&](int chunk) {
    const float* const rows = shared.row_factors[(chunk - begin) % 2];
    const float* const columns = shared.column_factors[(chunk - begin) % 2];
    if (adds_up) {
      wgmma::add_chunk(carried, sum, {rows[in_tile.row], rows[in_tile.row + 8]},
                       [&](int e) { return *reinterpret_cast<const float2*>(columns + in_tile.col + e * 2); });
      return;
    }
    const Index plane = first_plane + 1 + chunk - segment_begin - pieces.piece_chunks;
    mark_unfit(shared.unfit, in_tile, sum);
    store_plane(x.planes, plane, number, sum);
    if (thread >= tile_lines) return;
    if (tile.col == 0) x.planes.row_factors[plane * x.planes.rows + first_row + thread] = rows[thread];
    if (tile.row == 0) x.planes.column_factors[plane * x.planes.columns + first_column + thread] = columns[thread];
  };
  const auto run = [&](auto multiplies) {
    a.read();
    b.read();
#pragma unroll 1
    for (int chunk = begin; chunk < end; ++chunk) {
      const int buffer = (chunk - begin) % 2;
      const SplitLines a_to{shared.a[buffer], shared.row_factors[buffer], shared.largest_a, shared.unfit.rows,
                            &shared.unfit.any};
      const SplitLines b_to{shared.b[buffer], shared.column_factors[buffer], shared.largest_b, shared.unfit.columns,
                            &shared.unfit.any};
      if constexpr (a_along == Along::Outer || b_along == Along::Outer) {
        a.find_largest(a_to);
        b.find_largest(b_to);
        wait_for_block();
      }
      a.template split<terms>(a_to);
      if (chunk + 1 < end) a.read();
      b.template split<terms>(b_to);
      if (chunk + 1 < end) b.read();
      if constexpr (multiplies.value)
        if (chunk > begin) {
          wait_for_products<0>();
          finish(chunk - 1);
        }
      asm volatile("fence.proxy.async.shared::cta;" ::: "memory"); // the matrix units read what was written
      wait_for_block();
      if constexpr (multiplies.value) {
        const unsigned buffer_at = buffer * sizeof(shared.a[0]);
        multiply_chunk<terms>(sum, a_terms.moved(buffer_at), b_terms.moved(buffer_at));
      }
    }
    if constexpr (multiplies.value) {
      wait_for_products<0>();
      finish(end - 1);
    }
  };
  // The loop is there twice, because a branch around the products would make the compiler wait for each of them.
  if (thread >= multiplying) return run(std::false_type{});
  run(std::true_type{});
  if (!adds_up) return;
  mark_unfit(shared.unfit, in_tile, carried);
  if (x.planes.sums != nullptr) return store_plane(x.planes, first_plane, number, carried);
  const Index row = first_row + in_tile.row, column = first_column + in_tile.col;
  float old[own / 2][2]; // read together, because a thread would wait for each read
  if (whole.beta != 0 && !whole.epilogue.wanted) {
#pragma unroll
    for (int v = 0; v < own / 2; ++v) read_old(x, row + v % 2 * 8, column + v / 2 * 8, old[v]);
  }
#pragma unroll
  for (int v = 0; v < own / 2; ++v) {
    float two[2]{carried[v * 2], carried[v * 2 + 1]};
    store_two(x, row + v % 2 * 8, column + v / 2 * 8, two, old[v]);
  }
#endif
}

} // namespace tessera::cuda::block_split
