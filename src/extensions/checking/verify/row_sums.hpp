#pragma once

/// The sums by which a product verifies itself: C·X beside alpha·(A·(B·X)) + beta·C₀·X, where each column of X has the
/// weights of one group of columns of C, and zeros elsewhere. docs/health.md has the theorem.
///
/// Source: K.-H. Huang, J. A. Abraham, "Algorithm-based fault tolerance for matrix operations", IEEE Transactions on
/// Computers C-33 (1984); the bound is Tessera's (docs/error_bounds.md), summed over a group.

#include <cstdint>
#include <vector>

#include <tessera/backend/kernel.hpp>
#include <tessera/executor.hpp>

#include "extensions/checking/compare/bound.hpp"
#include "extensions/checking/compare/element_source.hpp"
#include "extensions/checking/compare/sign_sums.hpp"
#include "group_sums.hpp"

namespace tessera::verify {

/// What the sums say of a row of C.
enum class RowState : std::uint8_t {
  Right, ///< every group is within its bound
  Off,   ///< a group is beyond it: an element of the row is beyond its own bound
  Open,  ///< NaN, Inf or sums that may overflow are in the row, which has to be looked at element by element
};

/// The sums of one product, computed with the executor's threads in T, the type that the product is computed in.
template <class T>
class RowSums {
 public:
  /// Reads op(A), op(B) and, if beta ≠ 0, C as it is before the product; `before` is where C as it was can be read
  /// later. `seed` decides the weights.
  RowSums(Executor& executor, const GemmCall& call, const compare::BoundCoefficients& bound, std::uint64_t seed);

  /// Compares `count` rows of C, from row `first` on, and sets their states.
  void check(Index first, Index count, RowState* states) const;

  /// Returns the columns of op(B) with NaN, Inf or numbers whose sums may overflow, in ascending order. No sum has
  /// them: their elements of C have to be looked at one by one.
  const std::vector<Index>& excluded() const { return excluded_; }

 private:
  static constexpr bool pairs = sizeof(T) == sizeof(double);
  static constexpr Index block_rows = 64; ///< rows that a thread takes at a time

  template <class Body>
  void for_blocks(Index rows, const Body& body, Index rows_together = block_rows) const;
  template <class Take>
  void sum_groups(const compare::ElementSource& x, Index first, Index rows, const Take& take) const;
  template <class Take>
  void sum_stored_columns(Index first, Index rows, const Take& take) const;
  void choose_weights(std::uint64_t seed);
  void read_b();
  void find_excluded(const compare::ElementSource& b, Index row, std::vector<char>& found) const;
  void read_a();
  void read_c();
  double limit(Index i, double& scale_of_own) const;
  std::size_t at(Index bundle, Index length, Index i) const {
    return static_cast<std::size_t>((bundle * length + i) * lanes);
  }

  Executor& executor_;
  GemmCall call_;
  compare::BoundCoefficients bound_;
  compare::ElementSource a_, b_, c_;
  Index width_ = lanes;  ///< columns of a group
  Index bundles_ = 1;    ///< segments of columns, each with `lanes` groups
  bool is_short_ = true; ///< are products with A summed in chains of T?
  std::vector<T> weights_;
  std::vector<Index> excluded_;
  std::vector<T> y_;               ///< B·X, by bundles
  std::vector<double> y_wide_;     ///< the same for sums in twice the precision
  std::vector<T> sizes_of_b_;      ///< of each row of op(B): the largest Σ|b·x| of a group
  std::vector<double> wide_sizes_; ///< the same in double
  double sum_b_ = 0, largest_b_ = 0, largest_a_ = 0;
  std::vector<double> expected_, expected_low_; ///< A·(B·X), by bundles
  std::vector<compare::RowSize> sizes_of_a_;    ///< of each row of op(A), weighted with sizes_of_b_
  std::vector<T> old_, sizes_of_old_;           ///< C₀·X, and the largest Σ|c·x| of a group
};

extern template class RowSums<float>;
extern template class RowSums<double>;

} // namespace tessera::verify
