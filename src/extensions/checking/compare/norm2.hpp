#pragma once

/// Computes √Σx² without overflow or underflow of intermediate sums.

#include <cmath>

namespace tessera::compare {

/// Sums large, medium and small numbers apart, and scales the large and the small ones.
/// Source: J. L. Blue, "A portable Fortran program to find the Euclidean norm of a vector", TOMS 4, 1978.
class Norm2 {
 public:
  void add(double x) {
    const double size = std::abs(x);
    if (size > 0x1p500)
      large_ += (size * 0x1p-600) * (size * 0x1p-600);
    else if (size < 0x1p-500)
      small_ += (size * 0x1p600) * (size * 0x1p600);
    else
      middle_ += size * size;
  }
  /// Adds a sum of squares that neither overflowed nor lost digits to underflow.
  void add_squares(double sum) { middle_ += sum; }
  void add(const Norm2& other) {
    large_ += other.large_;
    middle_ += other.middle_;
    small_ += other.small_;
  }
  double value() const {
    return std::hypot(std::sqrt(large_) * 0x1p600, std::sqrt(middle_), std::sqrt(small_) * 0x1p-600);
  }

 private:
  double large_ = 0;
  double middle_ = 0;
  double small_ = 0;
};

} // namespace tessera::compare
