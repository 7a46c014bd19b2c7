#pragma once

/// Hopper's double-precision matrix instruction, and how a warp's fragments lie in shared memory and in C. For dmma and
/// stream_k. PTX ISA, "mma.m16n8k8 with .f64".

#include "canonical.cuh"
#include "tile_loader.cuh"

namespace tessera::cuda::dmma_tiling {

constexpr int fragment_m = 16, fragment_n = 8, depth = 8; ///< of one instruction
constexpr int padding = 4; ///< makes rows of 4 modulo 16 elements, so that 4×4 neighbours lie in 16 different banks

/// A tile as its operand is stored.
template <int outer, int block_k, Along along>
struct alignas(32) StoredTile {
  static constexpr int lines = along == Along::K ? outer : block_k;
  static constexpr int ld = (along == Along::K ? block_k : outer) + padding;
  double at[lines][ld];

  __device__ double operator()(int i, int p) const { return along == Along::K ? at[i][p] : at[p][i]; }
};

/// A block of warps_m×warps_n warps with down×across fragments each.
template <int down_, int across_, int warps_m, int warps_n, int block_k_>
struct Shape {
  static constexpr int down = down_, across = across_;
  static constexpr int warp_m = down * fragment_m, warp_n = across * fragment_n;
  static constexpr int block_m = warps_m * warp_m, block_n = warps_n * warp_n, block_k = block_k_;
  static constexpr int threads = 32 * warps_m * warps_n;

  template <Along a_along, Along b_along>
  struct Stage {
    StoredTile<block_m, block_k, a_along> a;
    StoredTile<block_n, block_k, b_along> b;
  };

  /// A fragment of results is four a lane: rows g and g + 8, columns 2t and 2t + 1, with g = lane / 4 and t = lane % 4.
  using Sums = CanonicalTile<double, down * across, 4>;

  /// A lane's in the block's tile.
  struct Place {
    int row, col, t;
    __device__ explicit Place(int thread)
        : row(thread / 32 / warps_n * warp_m + thread % 32 / 4),
          col(thread / 32 % warps_n * warp_n + thread % 32 / 4),
          t(thread % 4) {}
  };

  /// What a lane needs of one instruction's depth: its elements of the warp's fragments.
  struct Fragment {
    double a[down][4], b[across][2];

    /// From step p on of a stage.
    template <class S>
    __device__ void load(const S& stage, const Place& place, int p) {
#pragma unroll
      for (int i = 0; i < down; ++i)
#pragma unroll
        for (int e = 0; e < 4; ++e) a[i][e] = stage.a(place.row + i * fragment_m + e % 2 * 8, p + place.t + e / 2 * 4);
#pragma unroll
      for (int j = 0; j < across; ++j)
#pragma unroll
        for (int e = 0; e < 2; ++e) b[j][e] = stage.b(place.col + j * fragment_n, p + place.t + e * 4);
    }
  };

  __device__ static void multiply([[maybe_unused]] Sums& sums, [[maybe_unused]] const Fragment& f) {
#if __CUDA_ARCH__ >= 900 // earlier devices are rejected
#pragma unroll
    for (int i = 0; i < down; ++i)
#pragma unroll
      for (int j = 0; j < across; ++j) {
        const int s = i * across + j;
        asm("mma.sync.aligned.m16n8k8.row.col.f64.f64.f64.f64.rn {%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, "
            "{%0, %1, %2, %3};"
            : "+d"(sums.at(s, 0)), "+d"(sums.at(s, 1)), "+d"(sums.at(s, 2)), "+d"(sums.at(s, 3))
            : "d"(f.a[i][0]), "d"(f.a[i][1]), "d"(f.a[i][2]), "d"(f.a[i][3]), "d"(f.b[j][0]), "d"(f.b[j][1]));
      }
#endif
  }

  /// C's tile starts at (row, col).
  __device__ static void store(const VectorOperands<double>& x, Index row, Index col, const Place& place,
                               const Sums& sums) {
    const int left = place.col / warp_n * warp_n + place.t * 2;
#pragma unroll
    for (int i = 0; i < down; ++i)
#pragma unroll
      for (int j = 0; j < across; ++j)
#pragma unroll
        for (int half = 0; half < 2; ++half) {
          Vector<double> sum;
          sum.lane[0] = sums.value(i * across + j, half * 2);
          sum.lane[1] = sums.value(i * across + j, half * 2 + 1);
          store_vector(x, row + place.row + i * fragment_m + half * 8, col + left + j * fragment_n, sum);
        }
  }
};

} // namespace tessera::cuda::dmma_tiling
