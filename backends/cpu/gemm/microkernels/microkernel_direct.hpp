#pragma once

/// The direct micro-kernel: it reads the operands where they are. It is for products in which packing would cost as
/// much as multiplying: small products, and products with a short side.
///
/// A tile has up to max_rows rows, and as many vectors of B beside them as the registers then hold: few rows take many
/// vectors (one row is a matrix-vector product), many rows take one. B's rows are read in vectors. The last vector of a
/// row is masked, so that nothing beyond the operand is touched. A's elements are read one by one, whatever their
/// strides. Source: the small-matrix paths of libxsmm (Heinecke et al. 2016) and OpenBLAS.

#include <type_traits>

#include "cpu/gemm/common/microkernel.hpp"
#include "packing.hpp"

namespace tessera::cpu {

/// Names Simd::Half, a vector of half the width, for a Simd that has one.
template <class Simd>
struct HalfOf {
  using type = typename Simd::Half;
};

template <class Simd>
struct DirectBody {
  using T = typename Simd::T;
  using Vector = typename Simd::Vector;
  static constexpr int lanes = Simd::lanes;
  static constexpr int max_rows = Simd::registers - 4; // two registers hold B and A; two are spare
  static constexpr int most_vectors = 8;
  /// Returns how many vectors v of B stand beside `rows` elements of A. The registers hold rows·v sums, v vectors of B
  /// and one of A.
  static constexpr int vectors_for(int rows) {
    const int fit = (Simd::registers - 1) / (rows + 1);
    return fit < 1 ? 1 : fit < most_vectors ? fit : most_vectors;
  }
  /// The columns of a tile of one row. Its sums wait in L1 rather than in registers, so that long rows of B are read.
  static constexpr int cols_of_one_row = direct_tile_bytes / sizeof(T);
  static int cols_for(int rows) { return rows == 1 ? cols_of_one_row : vectors_for(rows) * lanes; }

  /// Adds `steps` more terms to each chain of a tile of one row: `steps` elements of A times `steps` rows of B.
  template <int steps>
  static void extend_row(int cols, const T* a, Index a_step, const T* b, Index b_step, T* sums) {
    Vector of_a[steps];
#pragma GCC unroll 8
    for (int s = 0; s < steps; ++s) of_a[s] = Simd::broadcast(a + s * a_step);
    int c = 0;
    for (; c + lanes <= cols; c += lanes) {
      Vector sum = Simd::load_unaligned(sums + c);
#pragma GCC unroll 8
      for (int s = 0; s < steps; ++s) {
        __builtin_prefetch(b + (s + steps) * b_step + c, 0, 2); // into L2, see add_step
        sum = Simd::fma(of_a[s], Simd::load_unaligned(b + s * b_step + c), sum);
      }
      Simd::store(sums + c, sum);
    }
    if (c == cols) return;
    const auto edge = Simd::mask(cols - c);
    Vector sum = Simd::load_part(sums + c, edge);
#pragma GCC unroll 8
    for (int s = 0; s < steps; ++s) sum = Simd::fma(of_a[s], Simd::load_part(b + s * b_step + c, edge), sum);
    Simd::store_part(sums + c, edge, sum);
  }

  /// Computes a matrix-vector product. It reads eight rows of B at a time, each from end to end, and prefetches the
  /// next eight meanwhile.
  static void multiply_row(const DirectTile<T>& x) {
    constexpr int steps = 8;
    if (!x.more)
      for (int c = 0; c < x.cols; ++c) x.tile[c] = T{0};
    Index p = 0;
    for (; p + steps <= x.k; p += steps)
      extend_row<steps>(x.cols, x.a + p * x.a_step, x.a_step, x.b + p * x.b_step, x.b_step, x.tile);
    for (; p < x.k; ++p) extend_row<1>(x.cols, x.a + p * x.a_step, x.a_step, x.b + p * x.b_step, x.b_step, x.tile);
  }

  /// The kind of a row's last vector: whole; cut off by a mask; or, where it is at most half full and half a vector
  /// costs less, half a vector with a mask.
  enum class Edge { Whole, Masked, Half };
  static constexpr bool has_half = HasHalf<Simd>;

  /// A row of a tile: whole vectors, and a last vector of the kind `edge`.
  template <int vectors, Edge edge>
  struct Row {
    using Last = typename std::conditional_t<edge == Edge::Half, HalfOf<Simd>, std::type_identity<Simd>>::type;
    using Mask = typename Last::Mask;
    typename Simd::Vector whole[vectors > 1 ? vectors - 1 : 1];
    typename Last::Vector last;

    void clear() {
#pragma GCC unroll 8
      for (int v = 0; v + 1 < vectors; ++v) whole[v] = Simd::zero();
      last = Last::zero();
    }
    void load(const T* x, Mask mask) {
#pragma GCC unroll 8
      for (int v = 0; v + 1 < vectors; ++v) whole[v] = Simd::load_unaligned(x + v * lanes);
      x += (vectors - 1) * lanes;
      if constexpr (edge == Edge::Whole)
        last = Last::load_unaligned(x);
      else
        last = Last::load_part(x, mask);
    }
    void store(T* x, Mask mask) const {
#pragma GCC unroll 8
      for (int v = 0; v + 1 < vectors; ++v) Simd::store(x + v * lanes, whole[v]);
      x += (vectors - 1) * lanes;
      if constexpr (edge == Edge::Whole)
        Last::store(x, last);
      else
        Last::store_part(x, mask, last);
    }
    void add_product(const T* a_element, const Row& b) {
      if constexpr (vectors == 1 || (vectors == 2 && edge == Edge::Half)) { // at most one and a half multiply-adds
        if constexpr (vectors == 2) whole[0] = Simd::fma(Simd::broadcast_once(a_element), b.whole[0], whole[0]);
        last = Last::fma(Last::broadcast_once(a_element), b.last, last);
        return;
      }
      const Vector a = Simd::broadcast(a_element);
#pragma GCC unroll 8
      for (int v = 0; v + 1 < vectors; ++v) whole[v] = Simd::fma(a, b.whole[v], whole[v]);
      if constexpr (edge == Edge::Half)
        last = Last::fma(Last::half_of(a), b.last, last);
      else
        last = Last::fma(a, b.last, last);
    }
  };

  /// Computes a tile. `near`: nothing is prefetched. A tile that ends a row never does: for it the hardware's
  /// prefetchers suffice.
  template <int rows, int vectors, Edge edge, bool near>
  static void multiply_tile(const DirectTile<T>& x) {
    using Sums = Row<vectors, edge>;
    auto mask = Sums::Last::mask(x.cols - (vectors - 1) * lanes);
    const Index a_row = x.a_row;
    const Index a_step = x.a_step;
    const Index b_step = x.b_step;
    const Index b_ahead = x.b_ahead;
    const T* b = x.b;
    // One pointer serves four rows: the processor adds one, two or three times the stride as it loads.
    constexpr int groups = (rows + 3) / 4;
    const T* group[groups];
#pragma GCC unroll 8
    for (int g = 0; g < groups; ++g) group[g] = x.a + 4 * g * a_row;
    const Index row_3 = 3 * a_row;
    Sums sum[rows];
    if (x.more) {
      const T* from = x.tile;
#pragma GCC unroll 32
      for (int r = 0; r < rows; ++r, from += x.ld) sum[r].load(from, mask);
    } else {
#pragma GCC unroll 32
      for (int r = 0; r < rows; ++r) sum[r].clear();
    }
    Index p = x.k;
    // A round has four steps where that is worth the code: up to some 150 steps a processor then predicts the loop's
    // end.
    if constexpr (near) {
#pragma GCC unroll 4
      for (; p > 0; --p) add_step<near>(sum, group, b, a_row, row_3, a_step, b_step, b_ahead, mask);
    } else {
      for (; p > 0; --p) add_step<near>(sum, group, b, a_row, row_3, a_step, b_step, b_ahead, mask);
    }
    T* to = x.tile;
    Index ld = x.ld;
    asm("" : "+r"(to), "+r"(ld)); // keeps the compiler from holding the addresses of all rows, for lack of registers
#pragma GCC unroll 32
    for (int r = 0; r < rows; ++r, to += ld) sum[r].store(to, mask);
  }

  /// Does one step of k of a tile.
  template <bool near, int rows, int vectors, Edge edge, int groups>
  [[gnu::always_inline]] static void add_step(Row<vectors, edge> (&sum)[rows], const T* (&group)[groups], const T*& b,
                                              Index a_row, Index row_3, Index a_step, Index b_step, Index b_ahead,
                                              typename Row<vectors, edge>::Mask& mask) {
    // The prefetch goes into L2: L1 has few miss buffers, and when all of them wait for memory the tile's loads wait
    // too.
    if constexpr (!near) {
#pragma GCC unroll 8
      for (int v = 0; v < vectors; ++v) __builtin_prefetch(b + b_ahead + v * lanes, 0, 2);
    }
    if constexpr (edge != Edge::Whole) Row<vectors, edge>::Last::keep_mask(mask); // gcc would load it in each step
    Row<vectors, edge> of_b;
    of_b.load(b, mask);
#pragma GCC unroll 32
    for (int r = 0; r < rows; ++r) sum[r].add_product(group[r / 4] + (r % 4 == 3 ? row_3 : r % 4 * a_row), of_b);
#pragma GCC unroll 8
    for (int g = 0; g < groups; ++g) group[g] += a_step;
    b += b_step;
  }

  using Tile = void (*)(const DirectTile<T>& x);
  struct Table {
    Tile tiles[max_rows][most_vectors][4] = {}; ///< [rows − 1][vectors − 1][edge, or whole_and_near]
  };
  static constexpr int whole_and_near = 3;

  template <int rows, int vectors>
  static constexpr void fill_row(Table& table) {
    auto& tiles = table.tiles[rows - 1][vectors - 1];
    tiles[static_cast<int>(Edge::Whole)] = multiply_tile<rows, vectors, Edge::Whole, false>;
    tiles[static_cast<int>(Edge::Masked)] = multiply_tile<rows, vectors, Edge::Masked, true>;
    if constexpr (has_half) tiles[static_cast<int>(Edge::Half)] = multiply_tile<rows, vectors, Edge::Half, true>;
    tiles[whole_and_near] = multiply_tile<rows, vectors, Edge::Whole, true>;
    if constexpr (vectors > 1) fill_row<rows, vectors - 1>(table);
  }
  template <int rows>
  static constexpr void fill(Table& table) {
    fill_row<rows, vectors_for(rows)>(table);
    if constexpr (rows > 1) fill<rows - 1>(table);
  }
  static constexpr Table make_table() {
    Table table;
    fill<max_rows>(table);
    return table;
  }

  static void multiply(const DirectTile<T>& x) {
    if (x.rows == 1 && x.cols > lanes) return multiply_row(x);
    static constexpr Table table = make_table();
    const int vectors = (x.cols + lanes - 1) / lanes;
    const int last = x.cols - (vectors - 1) * lanes;
    const Edge edge = last == lanes ? Edge::Whole : has_half && last <= lanes / 2 ? Edge::Half : Edge::Masked;
    const int kind = edge == Edge::Whole && x.b_ahead == 0 ? whole_and_near : static_cast<int>(edge);
    table.tiles[x.rows - 1][vectors - 1][kind](x);
  }
};

} // namespace tessera::cpu
