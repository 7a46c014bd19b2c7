#pragma once

/// The direct micro-kernel for a B whose columns lie along k, so that the elements of a row of B are far apart. It
/// reads one vector along k from as many columns as a vector has lanes, transposes these vectors in registers, and
/// multiplies each of them at once. It is for few rows: packing a strip first costs a store and a load of each vector
/// more, and only many rows pay that back.
///
/// A processor does the shuffles of the next vectors while it multiplies. From about eight rows on they cost no time on
/// a Zen 4. Other libraries avoid the transpose by partial sums along k; the contract's chains in ascending k do not
/// allow partial sums.

#include <type_traits>

#include "cpu/gemm/common/microkernel.hpp"

namespace tessera::cpu {

template <class Simd>
struct TransposingBody {
  using T = typename Simd::T;
  using Vector = typename Simd::Vector;
  static constexpr int lanes = Simd::lanes;
  static constexpr int most_rows = 12;
  /// The registers hold the sums of the rows, `lanes` vectors of B, and four vectors for the transpose.
  static constexpr int max_rows = Simd::registers - lanes - 4 < most_rows ? Simd::registers - lanes - 4 : most_rows;

  /// The columns of a tile that fills all lanes.
  struct AllColumns {
    static constexpr int groups = lanes < 4 ? 1 : lanes / 4;
    const T* group[groups]; ///< one pointer serves four columns, as in DirectBody
    Index col, col_3;
    AllColumns(const T* b, Index b_col, int) : col(b_col), col_3(3 * b_col) {
#pragma GCC unroll 8
      for (int g = 0; g < groups; ++g) group[g] = b + 4 * g * b_col;
    }
    const T* at(int lane) const { return group[lane / 4] + (lane % 4 == 3 ? col_3 : lane % 4 * col); }
    void advance() {
#pragma GCC unroll 8
      for (int g = 0; g < groups; ++g) group[g] += lanes;
    }
  };
  /// The columns of a tile that fills some lanes. The last column stands for the lanes without one.
  struct SomeColumns {
    const T* b;
    Index offset[lanes];
    SomeColumns(const T* first, Index b_col, int cols) : b(first) {
      for (int lane = 0; lane < lanes; ++lane) offset[lane] = (lane < cols ? lane : cols - 1) * b_col;
    }
    const T* at(int lane) const { return b + offset[lane]; }
    void advance() { b += lanes; }
  };

  /// Element (r, p) of A for the step p that is in use.
  template <int rows>
  struct Elements {
    static constexpr int groups = (rows + 3) / 4;
    const T* group[groups];
    Index row, row_3, step;
    explicit Elements(const DirectTile<T>& x) : row(x.a_row), row_3(3 * x.a_row), step(x.a_step) {
#pragma GCC unroll 8
      for (int g = 0; g < groups; ++g) group[g] = x.a + 4 * g * x.a_row;
    }
    /// Adds the step's products with a vector of B, and goes on to the next step.
    [[gnu::always_inline]] void add_products(Vector b, Vector (&sum)[rows]) {
#pragma GCC unroll 16
      for (int r = 0; r < rows; ++r)
        sum[r] = Simd::fma(Simd::broadcast_once(group[r / 4] + (r % 4 == 3 ? row_3 : r % 4 * row)), b, sum[r]);
#pragma GCC unroll 8
      for (int g = 0; g < groups; ++g) group[g] += step;
    }
  };

  template <int rows, bool whole>
  static void multiply_tile(const DirectTile<T>& x) {
    std::conditional_t<whole, AllColumns, SomeColumns> columns(x.b, x.b_col, x.cols);
    Elements<rows> elements(x);
    Vector sum[rows];
#pragma GCC unroll 16
    for (int r = 0; r < rows; ++r) sum[r] = Simd::zero();
    Vector b[lanes];
    Index left = x.k;
    for (; left >= lanes; left -= lanes) {
#pragma GCC unroll 16
      for (int lane = 0; lane < lanes; ++lane) {
        b[lane] = Simd::load_unaligned(columns.at(lane));
        Simd::keep(b[lane]); // gcc would copy some of them to the stack
      }
      columns.advance();
      Simd::transpose(b);
#pragma GCC unroll 16
      for (int q = 0; q < lanes; ++q) elements.add_products(b[q], sum);
    }
    if (left > 0) { // the loop over the last steps is not unrolled, so that the one above keeps its sums in registers
      alignas(64) T last[lanes * lanes];
      const auto part = Simd::mask(static_cast<int>(left));
#pragma GCC unroll 16
      for (int lane = 0; lane < lanes; ++lane) b[lane] = Simd::load_part(columns.at(lane), part);
      Simd::transpose(b);
#pragma GCC unroll 16
      for (int q = 0; q < lanes; ++q) {
        if (q == left) break;
        Simd::store(last + q * lanes, b[q]);
      }
#pragma GCC unroll 1
      for (Index q = 0; q < left; ++q) elements.add_products(Simd::load(last + q * lanes), sum);
    }
    T* to = x.tile;
#pragma GCC unroll 16
    for (int r = 0; r < rows; ++r, to += x.ld) {
      if constexpr (whole)
        Simd::store(to, sum[r]);
      else
        Simd::store_part(to, Simd::mask(x.cols), sum[r]);
    }
  }

  /// Calls multiply_tile<x.rows, …>, of half vectors where they hold the columns.
  template <int rows = max_rows>
  static void multiply(const DirectTile<T>& x) {
    if constexpr (rows > 1) {
      if (x.rows != rows) return multiply<rows - 1>(x);
    }
    if constexpr (requires { typename Simd::Half; }) {
      if (x.cols <= lanes / 2) return TransposingBody<typename Simd::Half>::template multiply<rows>(x);
    }
    if (x.cols == lanes) return multiply_tile<rows, true>(x);
    multiply_tile<rows, false>(x);
  }

  /// MicroKernel::transpose.
  static void transpose(int rows, int cols, const T* from, Index ld_from, T* to, Index ld_to) {
    for (int i = 0; i < rows; i += lanes) {
      const int height = rows - i < lanes ? rows - i : lanes;
      const auto part = Simd::mask(height);
      for (int j = 0; j < cols; j += lanes) {
        const int width = cols - j < lanes ? cols - j : lanes;
        const auto edge = Simd::mask(width);
        Vector v[lanes];
#pragma GCC unroll 16
        for (int r = 0; r < lanes; ++r)
          v[r] = r < height ? Simd::load_part(from + (i + r) * ld_from + j, edge) : Simd::zero();
        Simd::transpose(v);
        T* out = to + j * ld_to + i;
#pragma GCC unroll 16
        for (int c = 0; c < lanes; ++c, out += ld_to) {
          if (c == width) break;
          if (height == lanes)
            Simd::store(out, v[c]);
          else
            Simd::store_part(out, part, v[c]);
        }
      }
    }
  }
};

} // namespace tessera::cpu
