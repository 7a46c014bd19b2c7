#pragma once

/// Block → warp → thread tiles: the sizes, and a thread's part of the work. Shared by warp_tile and async_copy, which
/// differ in how tiles get into shared memory.
///
/// A warp's lanes are 4 down and 8 across. A lane's rows and columns come in vectors, lane after lane, so that eight
/// lanes read 128 bytes of B in a row and one vector of A together: no bank conflicts. NVIDIA CUTLASS has this shape.

#include "whole_store.cuh"

namespace tessera::cuda::warp_tiling {

/// How a warp's lanes lie: row by row, or along a Z-curve, where the reads of B take half the time, and of A no more.
enum class Lanes { Rows, ZCurve };

/// A lane's results in vectors, and a block's warps. `width_m`: rows that a lane reads of A at once.
template <class T, int vectors_m_, int vectors_n_, int warps_m_, int warps_n_, Lanes lanes_ = Lanes::Rows,
          int width_m_ = Vector<T>::width>
struct Shape {
  using Element = T;
  static constexpr Lanes lanes = lanes_;
  static constexpr int width = Vector<T>::width, width_m = width_m_;
  static constexpr int lanes_m = 4, lanes_n = 8;
  static constexpr int vectors_m = vectors_m_; ///< vectors of rows a lane
  static constexpr int vectors_n = vectors_n_; ///< vectors of columns a lane
  static constexpr int rows = vectors_m * width_m, cols = vectors_n * width;
  static constexpr int warp_m = lanes_m * rows, warp_n = lanes_n * cols;
  static constexpr int warps_m = warps_m_, warps_n = warps_n_;
  static constexpr int block_m = warps_m * warp_m, block_n = warps_n * warp_n;
  static constexpr int threads = 32 * warps_m * warps_n;
  static constexpr int a_ld = padded<T>(block_m), b_ld = padded<T>(block_n);
};

/// In f32 a thread has 16×8 results (wide) or 8×8. Wide, 24 elements from shared memory feed 128 FMAs and 255 registers
/// leave room for two blocks of four warps; else 16 feed 64, and it is two blocks of eight. f64 results take two
/// registers each, so that there are half as many.
template <class T>
constexpr int columns_of = sizeof(T) == 4 ? 2 : 4; ///< in vectors
template <class T>
using Wide = Shape<T, 4, columns_of<T>, 2, 2>;
template <class T>
using Narrow = Shape<T, 2, columns_of<T>, 4, 2>;

/// This thread's first row and column in the block's tile.
template <class S>
struct Position {
  int row, col;

  __device__ explicit Position(int thread) {
    const Place warp = row_order(thread / 32, S::warps_n);
    const Place lane = S::lanes == Lanes::ZCurve ? z_curve(thread % 32) : row_order(thread % 32, S::lanes_n);
    row = warp.down * S::warp_m + lane.down * S::width_m;
    col = warp.across * S::warp_n + lane.across * S::width;
  }
};

/// What a thread needs of one step: its rows of A and its columns of B.
template <class S>
struct Fragments {
  using T = typename S::Element;
  T a[S::rows], b[S::cols];

  /// From one line of each tile, starting at the thread's position.
  __device__ void load(const T* a_line, const T* b_line) {
#pragma unroll
    for (int v = 0; v < S::vectors_m; ++v)
      load_fragment<T, S::width_m>(a_line + v * S::lanes_m * S::width_m, a + v * S::width_m);
#pragma unroll
    for (int v = 0; v < S::vectors_n; ++v)
      load_fragment<T, S::width>(b_line + v * S::lanes_n * S::width, b + v * S::width);
  }
};

template <class S>
using Sums = CanonicalTile<typename S::Element, S::rows, S::cols>;

/// Vector v of a thread's results, from its first one on.
template <class S>
constexpr __host__ __device__ ResultPlace place_of(int v) {
  const int r = v / S::vectors_n;
  return {r / S::width_m * S::lanes_m * S::width_m + r % S::width_m, v % S::vectors_n * S::lanes_n * S::width};
}

/// A function of its own, or the main loop would have fewer registers and the store's instructions be far away.
template <class S>
__device__ __noinline__ void store_with_epilogue(EpilogueStore<typename S::Element> epilogue,
                                                 const typename S::Element* held, Index i, Index j) {
  constexpr int vectors = S::rows * S::cols / S::width, together = vectors < 4 ? vectors : 4;
  store_held<S::rows * S::cols, together, S::width>(epilogue, held, [&](int v) -> ResultPlace {
    return {i + place_of<S>(v).row, j + place_of<S>(v).col};
  });
}

/// alpha·sum + beta·C for the thread whose first result is C(i, j).
template <class S, Edges edges = Edges::Unrolled>
__device__ void store_plain(const VectorOperands<typename S::Element>& x, Index i, Index j, const Sums<S>& sums,
                            typename Sums<S>::Totals& totals) {
  store_whole<S::width, edges>(x, i, j, sums, totals, [](int v) { return place_of<S>(v); });
}

/// The same, or what else is to be done.
template <class S>
__device__ void store(const VectorOperands<typename S::Element>& x, Index i, Index j, const Sums<S>& sums,
                      typename Sums<S>::Totals& totals) {
  if (x.epilogue.wanted) [[unlikely]]
    store_with_epilogue<S>(x.epilogue, held_in(totals, sums), i, j);
  else
    store_plain<S>(x, i, j, sums, totals);
}

} // namespace tessera::cuda::warp_tiling
