#pragma once

/// A product in high precision, row by row, with what the comparison needs to know about its operands.

#include <cstddef>
#include <vector>

#include <tessera/compare.hpp>

#include "accumulate.hpp"
#include "norm2.hpp"

namespace tessera::compare {

/// One row of op(A), or one column of op(B).
struct VectorNorms {
  double sum = 0;     ///< Σ|x|
  double largest = 0; ///< of the finite elements
  Norm2 squares;      ///< of the finite elements
  double two = 0;     ///< √Σx² of the finite elements
  bool finite = true;
};

/// Arrays hold rows().size() × n elements, row after row.
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
  bool scalars_finite = true;

  /// gold and canonical rounded to a 16-bit type, and widened again: what a result of that type is compared with.
  void round_results(DType type);

  std::size_t at(std::size_t r, Index j) const { return r * static_cast<std::size_t>(n) + static_cast<std::size_t>(j); }
  /// NaN or Inf among what element j of row number r is made of.
  bool exceptional(std::size_t r, Index j) const;

 private:
  void measure_columns(const T* b, Index ldb, Index depth, int threads);
  void sum_rows(const GemmOperands<T>& x, const T* b, Index ldb, std::size_t first, std::size_t last);
  void close_segment(std::size_t r, Index j, bool is_first, StripSums<T>& sums);
  void keep(std::size_t r, Index j, const StripSums<T>& sums);
  void finish_row(const GemmOperands<T>& x, std::size_t r);
};

extern template struct Product<float>;
extern template struct Product<double>;

} // namespace tessera::compare
