#pragma once

/// A product in high precision, row by row, with the norms of its operands that the comparison needs.

#include <cstddef>
#include <vector>

#include <tessera/compare.hpp>

#include "accumulate.hpp"
#include "norm2.hpp"

namespace tessera::compare {

/// The norms of one row of op(A), or of one column of op(B).
struct VectorNorms {
  double sum = 0;     ///< Σ|x|
  double largest = 0; ///< of the finite elements
  Norm2 squares;      ///< of the finite elements
  double two = 0;     ///< √Σx² of the finite elements
  bool finite = true;
};

/// The product of the rows `rows` of op(A). Arrays hold rows.size() × n elements, row after row.
template <class T>
struct Product {
  Product(const GemmCall& call, std::vector<Index> rows, int threads);

  Index m, n, k;
  double alpha, beta;
  std::vector<Index> rows;
  std::vector<double> high, low; ///< the product; low is empty for f32
  std::vector<double> magnitude; ///< S = Σ|a||b|
  std::vector<double> old;       ///< |beta||C|; empty if beta = 0
  std::vector<T> gold, canonical;
  std::vector<VectorNorms> row_norms, col_norms;
  double largest_a = 0, largest_b = 0; ///< of the finite elements of all of A and B
  bool scalars_finite = true;

  /// Rounds gold and canonical to a 16-bit type and widens them again, for comparisons with results of that type.
  void round_results(DType type);

  std::size_t at(std::size_t r, Index j) const { return r * static_cast<std::size_t>(n) + static_cast<std::size_t>(j); }
  /// True if NaN or Inf is among the numbers that element j of row number r is computed from.
  bool exceptional(std::size_t r, Index j) const;

 private:
  void measure_a(const GemmOperands<T>& x, int threads);
  void measure_columns(const T* b, Index ldb, Index depth, int threads);
  void sum_rows(const GemmOperands<T>& x, const T* b, Index ldb, std::size_t first, std::size_t last);
  void close_segment(std::size_t r, Index j, bool is_first, StripSums<T>& sums);
  void keep(std::size_t r, Index j, const StripSums<T>& sums);
  void finish_row(const GemmOperands<T>& x, std::size_t r);
};

extern template struct Product<float>;
extern template struct Product<double>;

} // namespace tessera::compare
