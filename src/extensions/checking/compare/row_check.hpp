#pragma once

/// Freivalds' check of one product, row by row; docs/error_bounds.md has the mathematics.

#include <limits>
#include <optional>
#include <vector>

#include <tessera/epilogue.hpp>

#include "bound.hpp"
#include "product.hpp"
#include "sign_sums.hpp"

namespace tessera::compare {

/// A product to check: C := epilogue(alpha·A·B + beta·C₀), with the operands as they are read.
struct RowProblem {
  ElementSource a, b;
  ElementSource c_before;                 ///< is read if beta ≠ 0
  double alpha = 1, beta = 0;             ///< exact in T
  std::optional<ElementSource> bias = {}; ///< 1×n or m×1
  BiasPer bias_per = BiasPer::None;
  std::optional<ElementSource> residual = {};
  Activation activation = Activation::None; ///< None or Relu
  DType result = DType::F32;                ///< the type that elements are rounded to at the end

  Index m() const { return a.rows; }
  Index n() const { return b.cols; }
  Index k() const { return a.cols; }
  bool has_epilogue() const { return bias || residual || activation != Activation::None; }
};

/// The right-hand sides of one product, computed in T with this precision.
template <class T>
class RowCheck {
 public:
  /// Under Sums::Short the precision becomes Precise where elements are so large that chains in T may overflow.
  /// Without `largest` the bounds that it is used with must not depend on the largest elements (needs_largest).
  /// `beside` is given all of B.
  RowCheck(const RowProblem& problem, Index bundles, std::uint64_t seed, Sums how, int threads, bool largest = true,
           SampledRows<T>* beside = nullptr);

  /// Returns the worst error of each row over all vectors in units of the row's bound; −1 for a row that is not judged.
  /// `bound` holds for the product before the epilogue; where there is none, for C itself.
  std::vector<double> check(const ElementSource& c, const BoundCoefficients& bound, int threads) const;
  /// Returns w_i, the bound of row i; −1 for a row that NaN, Inf or overflow of sums may reach. It holds for a row of C
  /// without infinities where the last rounding, to a 16-bit result, may give them.
  double limit(Index i, const BoundCoefficients& bound) const;
  /// Would this check find a C of zeros in a row? A row that ReLU may have cut is not judged, and does not tell.
  bool tells_zeros(const BoundCoefficients& bound) const;
  /// Is an element of the vectors that C is compared with other than 0?
  bool expects_any() const;
  Sums sums() const { return x_->sums(); }
  /// Returns the largest elements of A and B if all elements are finite.
  std::optional<KnownSizes> known_sizes() const;

 private:
  static constexpr bool pairs = sizeof(T) == sizeof(double);

  void prepare(std::uint64_t seed, Index bundles, Sums how, int threads, SampledRows<T>* beside);
  void close(Index i, const Bundles& old, const Bundles& bias, const Bundles& residual, const Bundles& ones);
  bool results_may_overflow(Index i, const BoundCoefficients& bound) const;
  double worst_of_row(const Bundles& sums, Index i, double limit) const;

  RowProblem problem_;
  Sizes sizes_;
  std::optional<Vectors<T>> x_;          ///< the signs
  Bundles expected_;                     ///< (alpha·A·B + beta·C₀ + bias + residual)·x
  std::vector<RowSize> a_, old_;         ///< rows of A, weighted with the sums of the rows of B; rows of C₀
  std::vector<RowSize> bias_, residual_; ///< of each row; empty: there are none
  double sum_b_ = 0;                     ///< Σ|b|
  double largest_a_ = 0, largest_b_ = 0; ///< of A, in the rows without NaN and Inf
};

extern template class RowCheck<float>;
extern template class RowCheck<double>;

/// Do the bounds depend on the largest elements of the operands? Whether a result with fewer exponents than f32, such
/// as f16, may overflow does.
inline bool needs_largest(const BoundCoefficients& bound, DType result) {
  return bound.exact || element_type(result).largest_exponent < element_type(DType::F32).largest_exponent ||
         bound.norms > 0 || bound.input > 0 || bound.scaled > 0 ||
         bound.largest_input < std::numeric_limits<double>::infinity();
}

/// Is the error of short sums small beside this bound? The bound of a row is then at most a quarter larger.
bool short_sums_suffice(const BoundCoefficients& bound, DType scalar);

} // namespace tessera::compare
