#pragma once

/// Multiplies matrices by bundles of vectors in twice the matrix's precision, for a Freivalds check.

#include <cmath>
#include <cstddef>
#include <vector>

#include <tessera/types.hpp>

#include "accumulate.hpp"
#include "parallel.hpp"

namespace tessera::compare {

/// Number of vectors in a bundle. They are multiplied together, and their sums stay in registers.
inline constexpr Index lanes = 16;

/// Bundles of vectors: `bundles` × `length` × lanes numbers. With pairs, for f64, each number is high + low.
struct Bundles {
  Index bundles = 0;
  Index length = 0;
  std::vector<double> high, low;

  Bundles() = default;
  Bundles(Index count, Index size, bool pairs) : bundles(count), length(size) {
    high.resize(static_cast<std::size_t>(count * size * lanes));
    if (pairs) low.resize(high.size());
  }
  std::size_t at(Index bundle, Index i) const { return static_cast<std::size_t>((bundle * length + i) * lanes); }
};

/// A matrix whose element (i, j) is data[i·row + j·col].
template <class T>
struct StridedMatrix {
  const T* data;
  Index rows, cols;
  Index row, col;
};

/// Adds Σ_p a[p·step]·x_p to the sums, for the lanes of one bundle.
void add_products(const float* a, Index step, Index count, const double* x, const double* x_low, double* sums,
                  double* sums_low);
void add_products(const double* a, Index step, Index count, const double* x, const double* x_low, double* sums,
                  double* sums_low);

/// Computes y_i = Σ_j x_ij·v_j for each row i of x, and then calls body(i) while the row is still in a cache.
template <class T, class Body>
void multiply(const StridedMatrix<T>& x, const Bundles& v, Bundles& y, int threads, const Body& body) {
  constexpr Index rows_per_task = 64 / static_cast<Index>(sizeof(T)); // a cache line of a transposed matrix
  constexpr Index piece = 256;
  parallel(static_cast<std::size_t>((x.rows + rows_per_task - 1) / rows_per_task), threads, [&](std::size_t task) {
    const Index first = static_cast<Index>(task) * rows_per_task;
    const Index last = std::min(first + rows_per_task, x.rows);
    for (Index j = 0; j < x.cols; j += piece)
      for (Index i = first; i < last; ++i)
        for (Index b = 0; b < v.bundles; ++b) {
          const std::size_t from = v.at(b, j);
          const std::size_t to = y.at(b, i);
          add_products(x.data + i * x.row + j * x.col, x.col, std::min(piece, x.cols - j), &v.high[from],
                       v.low.empty() ? nullptr : &v.low[from], &y.high[to], y.low.empty() ? nullptr : &y.low[to]);
        }
    for (Index i = first; i < last; ++i) body(i);
  });
}

} // namespace tessera::compare
