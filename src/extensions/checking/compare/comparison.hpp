#pragma once

/// Compares a computed product with its reference, element by element. Comparisons of different rows may run in
/// parallel and are then merged.

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>

#include "add_errors.hpp"
#include "bound.hpp"
#include "norm2.hpp"
#include "product.hpp"

namespace tessera::compare {

inline bool same_bits(float x, float y) { return std::bit_cast<std::uint32_t>(x) == std::bit_cast<std::uint32_t>(y); }
inline bool same_bits(double x, double y) { return std::bit_cast<std::uint64_t>(x) == std::bit_cast<std::uint64_t>(y); }

/// True if x and y are equal or both are NaN.
template <class T>
bool same_value(T x, T y) {
  return std::isnan(x) ? std::isnan(y) : x == y;
}

template <class T>
void count(NonFinite& found, T x) {
  if (std::isnan(x))
    ++found.nan;
  else if (std::isinf(x))
    ++found.inf;
}

/// Returns how many steps of the 16-bit type H lie between two of its numbers, which are given widened.
template <class H>
std::uint64_t narrow_distance(float x, float y) {
  const auto place = [](float value) {
    const Index bits = H(value).bits;
    return bits < 0x8000 ? bits : 0x8000 - bits;
  };
  const Index distance = place(x) - place(y);
  return static_cast<std::uint64_t>(distance < 0 ? -distance : distance);
}

/// Returns the part of the bound that all elements share.
template <class T>
double shared_bound(const ReferenceProduct<T>& product, const BoundCoefficients& bound) {
  if (bound.norms == 0) return 0;
  return bound.norms * std::abs(product.alpha) * product.largest_a * product.largest_b;
}

/// Returns the bound of element j of row number r of the product, whose exact value has this magnitude.
template <class T>
double element_bound(const ReferenceProduct<T>& product, const BoundCoefficients& coefficients, std::size_t r, Index j,
                     double exact) {
  const std::size_t e = product.at(r, j);
  const double size = std::abs(product.alpha);
  double bound =
      coefficients.product * size * product.magnitude[e] + coefficients.result * exact + coefficients.constant;
  if (!product.old.empty()) bound += coefficients.old * product.old[e];
  const auto& a = product.row_norms[r];
  const auto& b = product.col_norms[static_cast<std::size_t>(j)];
  if (coefficients.input > 0) bound += coefficients.input * size * (a.sum + b.sum); // these sums may overflow
  if (coefficients.scaled > 0) bound += coefficients.scaled * size * (a.largest * b.sum + b.largest * a.sum);
  return bound + shared_bound(product, coefficients);
}

/// The comparison of some rows. `bits` are the elements that the kernel's contract promises, in the product's order.
/// `result` is T's type, or a 16-bit type whose widened elements are compared.
template <class T>
class Comparison {
 public:
  Comparison(const ReferenceProduct<T>& product, const std::vector<T>& bits, const BoundCoefficients& bound,
             DType result)
      : product_(product), bits_(bits), bound_(bound), result_(result), unit_(unit_roundoff(result)) {}

  /// Compares row number r of the product's rows.
  template <class H>
  void add_row(std::size_t r, const H* c) {
    for (Index j = 0; j < product_.shape.n; ++j) add(r, j, static_cast<T>(c[j]));
  }

  /// Adds a comparison of rows that come after the rows of this one.
  void merge(const Comparison& later) {
    const GemmError& other = later.error_;
    add_errors(error_, other);
    error_.row_column = std::max(error_.row_column, other.row_column);
    error_.differing_bits += other.differing_bits;
    for (const WorstElement& element : other.worst) keep(element);
    sum_rel_ += later.sum_rel_;
    elements_ += later.elements_;
    off_.add(later.off_);
    exact_.add(later.exact_);
    old_.add(later.old_);
  }

  /// Returns the errors of all rows. `a` and `b` are the Frobenius norms of the compared rows of A and of B.
  GemmError finish(double a, double b) {
    error_.rows = product_.shape.m;
    error_.rows_compared = static_cast<Index>(product_.rows.size());
    error_.mean_rel = elements_ > 0 ? sum_rel_ / static_cast<double>(elements_) : 0;
    error_.norm_error = off_.value();
    error_.norm_exact = exact_.value();
    error_.normwise = error_.misplaced > 0 ? infinity : ratio(off_.value(), exact_.value());
    error_.norm_product =
        error_.misplaced > 0 ? infinity : ratio(off_.value(), std::abs(product_.alpha) * a * b + old_.value()) / unit_;
    if (!error_.worst.empty()) {
      error_.max_over_bound = error_.worst.front().over_bound;
      error_.worst_row = error_.worst.front().row;
      error_.worst_col = error_.worst.front().col;
    }
    return error_;
  }

 private:
  static constexpr double infinity = std::numeric_limits<double>::infinity();

  static double ratio(double x, double y) { return x == 0 ? 0 : x / y; }

  std::uint64_t distance(T x, T y) const {
    return visit(result_, [x, y]<class R>(std::type_identity<R>) {
      if constexpr (sizeof(R) == 2) return narrow_distance<R>(static_cast<float>(x), static_cast<float>(y));
      return ulp_distance(x, y);
    });
  }

  void add(std::size_t r, Index j, T c) {
    const std::size_t e = product_.at(r, j);
    const T gold = product_.gold[e];
    if (!same_bits(c, bits_[e]) && !(std::isnan(c) && std::isnan(bits_[e]))) ++error_.differing_bits;
    ++elements_;
    count(error_.expected, gold);
    count(error_.found, c);
    if (same_value(c, gold))
      error_.ulps.add(0);
    else if (std::isfinite(c) && std::isfinite(gold))
      error_.ulps.add(distance(c, gold));
    else
      error_.ulps.add_infinite();
    if (product_.exceptional(r, j)) {
      ++error_.telling;
      // In some orders, finite terms that overflow to the other infinity turn an infinite sum into NaN. An infinity
      // times a number that a narrower input type rounds to zero does so too.
      const bool rounds_inputs = bound_.input > 0 && bound_.largest_input < infinity;
      const bool may_cancel = std::isnan(c) && std::isinf(gold) && (rounds_inputs || finite_terms_may_overflow(r, j));
      if (!same_value(c, gold) && !may_cancel) misplace(r, j, c);
    } else if (bound_.exact && may_overflow(r, j)) { // the sum may wrap around
      ++error_.unjudged;
    } else if (std::isfinite(c) && std::isfinite(product_.high[e]) &&
               (product_.low.empty() || std::isfinite(product_.low[e]))) { // a pair may overflow in its low part alone
      measure(r, j, c);
    } else if (!may_overflow(r, j)) {
      misplace(r, j, c);
    } else {
      ++error_.unjudged;
    }
  }

  void measure(std::size_t r, Index j, T c) {
    const std::size_t e = product_.at(r, j);
    const double low = product_.low.empty() ? 0 : product_.low[e];
    const double old = product_.old.empty() ? 0 : product_.old[e];
    const double exact = std::abs(product_.high[e]);
    const double off = std::abs((static_cast<double>(c) - product_.high[e]) - low);
    exact_.add(exact);
    if (old != 0) old_.add(old);
    const double limit = bound(r, j, exact);
    error_.telling += exact > limit;
    if (off == 0) return;
    off_.add(off);
    const double rel = off / exact; // infinite where zero was expected
    error_.total_abs += std::abs(static_cast<double>(c) - static_cast<double>(product_.gold[e]));
    error_.max_abs = std::max(error_.max_abs, off);
    error_.max_rel = std::max(error_.max_rel, rel);
    sum_rel_ += rel;
    const double size = std::abs(product_.alpha);
    const double norms = product_.row_norms[r].two * product_.col_norms[static_cast<std::size_t>(j)].two;
    error_.componentwise = std::max(error_.componentwise, off / (size * product_.magnitude[e] + old) / unit_);
    error_.row_column = std::max(error_.row_column, off / (size * norms + old) / unit_);
    judge({product_.rows[r], j, static_cast<double>(c), product_.high[e] + low, limit, off / limit});
  }

  double bound(std::size_t r, Index j, double exact) const {
    if (!product_.limit.empty()) return product_.limit[product_.at(r, j)];
    return element_bound(product_, bound_, r, j, exact);
  }

  double mixed() const { return shared_bound(product_, bound_); }

  /// May a right kernel's element be infinite: because a sum on the way overflows, or because a 16-bit result does?
  bool may_overflow(std::size_t r, Index j) const {
    const std::size_t e = product_.at(r, j);
    if (sums_may_overflow(r, j, product_.magnitude[e])) return true;
    if (!is_16_bit(result_)) return false;
    const double exact = std::abs(product_.high[e]);
    return !(exact + bound(r, j, exact) < narrow_rounding(result_).largest);
  }

  /// May the finite terms of an element with NaN or Inf among its terms overflow? Σ|a||b| ≤ ‖a‖‖b‖ over the finite
  /// ones.
  bool finite_terms_may_overflow(std::size_t r, Index j) const {
    return sums_may_overflow(r, j, product_.row_norms[r].two * product_.col_norms[static_cast<std::size_t>(j)].two);
  }

  bool sums_may_overflow(std::size_t r, Index j, double magnitude) const {
    const std::size_t e = product_.at(r, j);
    const double rounded =
        std::max(product_.row_norms[r].largest, product_.col_norms[static_cast<std::size_t>(j)].largest);
    if (rounded >= bound_.largest_input) return true;
    const double old = product_.old.empty() || std::isnan(product_.old[e]) ? 0 : product_.old[e];
    const double way = std::max(1.0, std::abs(product_.alpha)) * magnitude + old;
    return !(way * (1 + bound_.product) + mixed() < bound_.largest);
  }

  void misplace(std::size_t r, Index j, T c) {
    const std::size_t e = product_.at(r, j);
    const double exact = product_.low.empty() ? product_.high[e] : product_.high[e] + product_.low[e];
    ++error_.misplaced;
    error_.total_abs = error_.max_abs = error_.max_rel = error_.componentwise = error_.row_column = infinity;
    sum_rel_ = infinity;
    judge({product_.rows[r], j, static_cast<double>(c), exact, bound(r, j, std::abs(exact)), infinity});
  }

  void judge(WorstElement element) {
    if (std::isnan(element.over_bound)) element.over_bound = infinity;
    if (element.over_bound > 1) ++error_.beyond;
    if (error_.worst.size() < worst_elements || element.over_bound > error_.worst.back().over_bound) keep(element);
  }

  /// Inserts an element into the list of the worst. The first one found of equally bad elements stays in front.
  void keep(const WorstElement& element) {
    const auto at = std::upper_bound(error_.worst.begin(), error_.worst.end(), element,
                                     [](const auto& x, const auto& y) { return x.over_bound > y.over_bound; });
    error_.worst.insert(at, element);
    if (error_.worst.size() > worst_elements) error_.worst.pop_back();
  }

  const ReferenceProduct<T>& product_;
  const std::vector<T>& bits_;
  const BoundCoefficients& bound_;
  DType result_;
  double unit_;
  GemmError error_;
  Norm2 off_, exact_, old_;
  double sum_rel_ = 0;
  Index elements_ = 0;
};

} // namespace tessera::compare
