#pragma once

/// The part of C that a product computes.

#include <limits>

#include <tessera/backend/stored_product.hpp>

namespace tessera::cpu {

/// A triangle of C or all of it, in elements; `parts` of them are a number.
class PartOfResult {
 public:
  /// With `has_real_diagonal`, the imaginary parts of the diagonal are not the product's.
  PartOfResult(MatrixPart part, Index parts, bool has_real_diagonal)
      : part_(part), parts_(parts), has_real_diagonal_(has_real_diagonal) {}

  /// Returns the first column of row i.
  Index begin(Index i) const { return part_ == MatrixPart::Upper ? parts_ * i : 0; }
  /// Returns the column after the last one of row i.
  Index end(Index i) const { return part_ == MatrixPart::Lower ? parts_ * (i + 1) : std::numeric_limits<Index>::max(); }
  /// Is nothing of the rows [i, last_i) and columns [j, last_j) in the part?
  bool has_none(Index i, Index last_i, Index j, Index last_j) const {
    return end(last_i - 1) <= j || last_j <= begin(i);
  }
  /// Is something of them not in the part, or not the product's?
  bool cuts(Index i, Index last_i, Index j, Index last_j) const {
    const bool meets_diagonal = j < parts_ * last_i && parts_ * i < last_j;
    return j < begin(last_i - 1) || end(i) < last_j || (has_real_diagonal_ && meets_diagonal);
  }

 private:
  MatrixPart part_;
  Index parts_;
  bool has_real_diagonal_;
};

} // namespace tessera::cpu
