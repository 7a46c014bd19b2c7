#pragma once

/// Tiles of block, warp and thread: their sizes, and the work of a thread. warp_tile, async_copy and stream_k share
/// this; they differ in how tiles get into shared memory.
///
/// A warp's lanes are 4 down and 8 across. A lane's rows and columns come in vectors, lane after lane, so that eight
/// lanes read 128 contiguous bytes of B and one vector of A together, without bank conflicts. NVIDIA CUTLASS has this
/// shape.

#include "stores/staged_store.cuh"
#include "stores/whole_store.cuh"

namespace tessera::cuda::warp_tiling {

/// Describes how a warp's lanes are laid out: row by row, or along a Z-curve, where the reads of B take half the time
/// and the reads of A no longer than before.
enum class Lanes { Rows, ZCurve };

/// The shape of a block's tile, from a lane's results in vectors and the block's warps. `width_m` is the number of rows
/// of A that a lane reads at once.
template <class T, int vectors_m_, int vectors_n_, int warps_m_, int warps_n_, Lanes lanes_ = Lanes::Rows,
          int width_m_ = Vector<T>::width>
struct Shape {
  using Element = T;
  static constexpr Lanes lanes = lanes_;
  static constexpr int width = Vector<T>::width, width_m = width_m_;
  static constexpr int lanes_m = 4, lanes_n = 8;
  static constexpr int vectors_m = vectors_m_; ///< vectors of rows of a lane
  static constexpr int vectors_n = vectors_n_; ///< vectors of columns of a lane
  static constexpr int rows = vectors_m * width_m, cols = vectors_n * width;
  static constexpr int warp_m = lanes_m * rows, warp_n = lanes_n * cols;
  static constexpr int warps_m = warps_m_, warps_n = warps_n_;
  static constexpr int block_m = warps_m * warp_m, block_n = warps_n * warp_n;
  static constexpr int threads = 32 * warps_m * warps_n;
  static constexpr int a_ld = padded<T>(block_m), b_ld = padded<T>(block_n);
};

/// In f32 a thread has 16×8 results (Wide) or 8×8 (Narrow). In Wide, 24 elements from shared memory feed 128 FMAs, and
/// 255 registers leave room for two blocks of four warps; in Narrow, 16 elements feed 64 FMAs, and there is room for
/// two blocks of eight warps. f64 results take two registers each, so that a thread has half as many.
template <class T>
constexpr int columns_of = sizeof(T) == 4 ? 2 : 4; ///< a lane's columns, in vectors
template <class T>
using Wide = Shape<T, 4, columns_of<T>, 2, 2>;
template <class T>
using Narrow = Shape<T, 2, columns_of<T>, 4, 2>;

/// The first row and column of a thread in the block's tile.
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

/// The operands of a thread for one step of k: its rows of A and its columns of B.
template <class S>
struct Fragments {
  using T = typename S::Element;
  T a[S::rows], b[S::cols];

  /// Reads them from one line of each tile. The lines start at the thread's position.
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

/// Returns the place of vector v of a thread's results in C, relative to the thread's first result.
template <class S>
constexpr __host__ __device__ ResultPlace place_of(int v) {
  const int r = v / S::vectors_n;
  return {r / S::width_m * S::lanes_m * S::width_m + r % S::width_m, v % S::vectors_n * S::lanes_n * S::width};
}

/// A warp's results for store_staged(): two rows of each lane in a round.
template <class S>
struct StagedResults {
  static constexpr int together = 2; ///< rows of a lane in a round
  static constexpr int rounds = S::rows / together, rows = S::lanes_m * together, columns = S::warp_n;

  __device__ static int row_of(int round, int row) {
    return row % S::lanes_m * S::width_m + place_of<S>((round * together + row / S::lanes_m) * S::vectors_n).row;
  }
  template <class F>
  __device__ static void put(int round, int lane, F f) {
    const Place place = S::lanes == Lanes::ZCurve ? z_curve(lane) : row_order(lane, S::lanes_n);
#pragma unroll
    for (int r = 0; r < together; ++r)
#pragma unroll
      for (int q = 0; q < S::vectors_n; ++q) {
        const int v = (round * together + r) * S::vectors_n + q;
        f(r * S::lanes_m + place.down, place.across * S::width + place_of<S>(v).col, v * S::width);
      }
  }
};

/// Stores the results of the calling warp by way of shared memory; the block's tile begins at C(row, col).
template <class S>
__device__ void store_by_rows(const StridedOperands<typename S::Element>& x, Index row, Index col,
                              const Sums<S>& sums) {
  using G = StagedResults<S>;
  __shared__ StagedRows<typename S::Element, G> staged[S::threads / 32];
  const int warp = static_cast<int>(threadIdx.x) / 32, lane = static_cast<int>(threadIdx.x) % 32;
  const Place place = row_order(warp, S::warps_n);
  store_staged<G>(x, row + place.down * S::warp_m, col + place.across * S::warp_n, sums, lane, staged[warp]);
}

/// Stores the results of a thread through the epilogue; the first one is C(i, j). It is not inlined: the main loop
/// would have fewer registers, and the instructions of the plain store would be farther away.
template <class S>
__device__ __noinline__ void store_with_epilogue(EpilogueStore<typename S::Element> epilogue,
                                                 const typename S::Element* held, Index i, Index j) {
  constexpr int vectors = S::rows * S::cols / S::width, together = vectors < 4 ? vectors : 4;
  store_held<S::rows * S::cols, together, S::width>(epilogue, held, [&](int v) -> ResultPlace {
    return {i + place_of<S>(v).row, j + place_of<S>(v).col};
  });
}

/// C := alpha·sum + beta·C for the thread whose first result is C(i, j).
template <class S, Edges edges = Edges::Unrolled>
__device__ void store_plain(const VectorOperands<typename S::Element>& x, Index i, Index j, const Sums<S>& sums,
                            typename Sums<S>::Totals& totals) {
  store_whole<S::width, edges>(x, i, j, sums, totals, [](int v) { return place_of<S>(v); });
}

/// Stores the results of the thread whose first result is C(i, j): through the epilogue if one is wanted, else by
/// store_plain.
template <class S>
__device__ void store(const VectorOperands<typename S::Element>& x, Index i, Index j, const Sums<S>& sums,
                      typename Sums<S>::Totals& totals) {
  if (x.epilogue.wanted) [[unlikely]]
    store_with_epilogue<S>(x.epilogue, held_in(totals, sums), i, j);
  else
    store_plain<S>(x, i, j, sums, totals);
}

} // namespace tessera::cuda::warp_tiling
