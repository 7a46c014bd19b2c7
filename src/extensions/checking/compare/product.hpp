#pragma once

/// A product in high precision, row by row, with the norms of its operands that the comparison needs.

#include <cstddef>
#include <optional>
#include <vector>

#include <tessera/checking/compare.hpp>

#include "accumulate.hpp"
#include "element_source.hpp"
#include "norm2.hpp"
#include "sampled_rows.hpp"

namespace tessera::compare {

/// The norms of one row of op(A), or of one column of op(B).
struct VectorNorms {
  double sum = 0;     ///< Σ|x|
  double largest = 0; ///< of the finite elements
  Norm2 squares;      ///< of the finite elements
  double two = 0;     ///< √Σx² of the finite elements
  bool finite = true;
};

/// The operands of alpha·A·B + beta·C₀ as they are read. C₀ is read if beta ≠ 0. alpha and beta are exact in T.
struct ProductSource {
  ElementSource a, b, c_before;
  double alpha = 1, beta = 0;

  /// Describes the operands of a checked call.
  static ProductSource of(const GemmCall& call);
};

/// Sizes of operands that are known to be finite. Norms of columns are then left out, so that errors relative to them
/// are meaningless.
struct KnownSizes {
  double largest_a = 0, largest_b = 0;
};

/// The product of the rows `rows` of op(A). Arrays hold rows.size() × n elements, row after row.
template <class T>
struct ReferenceProduct {
  /// Elements are widened to T, which is exact. With `known` sizes A and the columns of B are not measured.
  ReferenceProduct(const ProductSource& x, std::vector<Index> rows, int threads,
                   const std::optional<KnownSizes>& known = std::nullopt);
  /// Takes the sums of these rows from a pass over B. There are no strict sums: `canonical` is gold.
  ReferenceProduct(const ProductSource& x, std::vector<Index> rows, int threads, const KnownSizes& known,
                   const SampledRows<T>& sums);

  GemmShape shape;
  double alpha, beta;
  std::vector<Index> rows;
  std::vector<double> high, low; ///< the product; low is empty for f32
  std::vector<double> magnitude; ///< S = Σ|a||b|
  std::vector<double> old;       ///< |beta||C|; empty if beta = 0
  std::vector<T> gold, canonical;
  std::vector<VectorNorms> row_norms, col_norms;
  double largest_a = 0, largest_b = 0; ///< of the finite elements of all of A and B
  bool scalars_finite = true;
  std::vector<double> limit;         ///< the elements' bounds; empty: they follow from the members above
  std::vector<std::uint8_t> special; ///< marks elements that NaN or Inf in an epilogue reach; may be empty

  /// Rounds `gold` and `canonical` to a 16-bit type and widens them again, for comparisons with results of that type.
  void round_results(DType type);

  std::size_t at(std::size_t r, Index j) const {
    return r * static_cast<std::size_t>(shape.n) + static_cast<std::size_t>(j);
  }
  /// True if NaN or Inf is among the numbers that element j of row number r is computed from.
  bool exceptional(std::size_t r, Index j) const;

 private:
  ReferenceProduct(const ProductSource& x, std::vector<Index>&& rows); ///< with room for all numbers
  void keep_sizes(const KnownSizes& known);
  void measure_a(const ElementSource& a, Index depth, int threads);
  void keep_norms(const ElementSource& b, Index depth, Index j, const StripNorms<T>& strip_norms);
  void sum_piece(const ProductSource& x, Index depth, std::size_t first, std::size_t last, Index j, bool measures);
  void close_segment(std::size_t r, Index j, bool is_first, StripSums<T>& sums);
  void keep(std::size_t r, Index j, const StripSums<T>& sums);
  void finish_row(const ProductSource& x, Index depth, std::size_t r);
};

extern template struct ReferenceProduct<float>;
extern template struct ReferenceProduct<double>;

} // namespace tessera::compare
