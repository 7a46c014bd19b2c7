#pragma once

/// A system that is refined, wherever its matrix lies: what the steps of refinement and the certificate ask of it.

#include <complex>
#include <span>
#include <vector>

#include <tessera/matrix.hpp>

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

/// A, n×n, and its factors. Other matrices, of n rows, are in host memory. The constructor of a class that is derived
/// finds the scales, and throws NotRefined where A has NaN or Inf.
template <class T>
class RefinedSystem {
 public:
  virtual ~RefinedSystem() = default;

  const Scales& scales() const { return scales_; }
  /// Factors A, scaled and rounded to f32. Throws NotRefined where a pivot is 0.
  virtual void factor() = 0;
  /// Solves with the factors, in y's place.
  virtual void solve(Matrix<Narrow<T>>& y) = 0;
  /// R = R − A·X, a product of Math::Strict with its bits.
  virtual void subtract_product(const Matrix<T>& x, Matrix<T>& r) = 0;
  /// Returns |A|·X, likewise, where A counts as a matrix of the parts of its numbers. The factors are gone then.
  virtual Matrix<double> multiply_magnitudes(const Matrix<double>& x) = 0;

 protected:
  Scales scales_;
};

} // namespace tessera::linear_algebra
