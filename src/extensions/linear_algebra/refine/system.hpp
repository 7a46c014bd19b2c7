#pragma once

/// A system that is refined, wherever its matrix lies: what the steps of refinement and the certificate ask of it.

#include <complex>
#include <numeric>
#include <span>
#include <utility>
#include <vector>

#include <tessera/matrix.hpp>

#include "extensions/linear_algebra/products.hpp"

namespace tessera::linear_algebra {

/// The numbers of which the factors are made.
template <class T>
struct Narrowed {
  using Type = float;
};
template <>
struct Narrowed<std::complex<double>> {
  using Type = std::complex<float>;
};
template <class T>
using Narrow = typename Narrowed<T>::Type;

/// The powers of two that bring the largest element of each row, and then of each column, to [1, 2).
struct Scales {
  std::vector<double> rows, cols;
  std::vector<double> least; ///< of each row of A, the least magnitude but 0 of a number, or of a part; Inf: all are 0
};

/// Returns 2^−e for magnitudes in [2^e, 2^(e + 1)), or 1 for 0. Both it and its inverse are numbers.
double scale_of(double magnitude);
std::vector<double> scales_of(std::span<const double> magnitudes);
/// Throws NotRefined where the largest magnitude of a row of the matrix of this name is NaN or Inf.
void expect_numbers(const char* name, std::span<const double> largest);

/// A, n×n, and its factors, with memory of the host for matrices of n rows and a column for each right-hand side. The
/// constructor of a class that is derived finds the scales, and throws NotRefined where A has NaN or Inf.
template <class T>
class RefinedSystem {
 public:
  virtual ~RefinedSystem() = default;

  const Scales& scales() const { return scales_; }
  Block<T> x() const { return x_; }         ///< a solution, which is 0 at first
  Block<T> r() const { return r_; }         ///< a residual
  Block<Narrow<T>> y() const { return y_; } ///< what is solved with the factors
  /// Returns the rows of y in which the rows of a right-hand side stand: LU's pivots have exchanged them.
  const std::vector<Index>& places() const { return places_; }

  /// Factors A, scaled and rounded to f32. Throws NotRefined where a pivot is 0.
  virtual void factor() = 0;
  /// Solves with the factors, in y's place.
  virtual void solve() = 0;
  /// R = R − A·X, a product of Math::Strict with its bits.
  virtual void subtract_product() = 0;
  /// Returns |A|·Z, likewise, where A counts as a matrix of the parts of its numbers. The factors and x are gone then.
  virtual Matrix<double> multiply_magnitudes(const Matrix<double>& z) = 0;

 protected:
  void place_rows(std::span<const Index> pivots) {
    std::vector<Index> rows(pivots.size());
    std::iota(rows.begin(), rows.end(), Index{0});
    for (std::size_t j = 0; j < pivots.size(); ++j) std::swap(rows[j], rows[static_cast<std::size_t>(pivots[j])]);
    places_.resize(rows.size());
    for (std::size_t j = 0; j < rows.size(); ++j) places_[static_cast<std::size_t>(rows[j])] = static_cast<Index>(j);
  }

  Scales scales_;
  Block<T> x_, r_;
  Block<Narrow<T>> y_;

 private:
  std::vector<Index> places_;
};

} // namespace tessera::linear_algebra
