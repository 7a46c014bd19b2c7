#pragma once

/// A matrix of a system, which has real numbers, or complex ones in two parts.

#include <array>

#include "extensions/checking/compare/element_source.hpp"

namespace tessera::solution {

/// The parts of a complex number.
struct Parts {
  double re = 0, im = 0;
};

/// A matrix as it is read.
class Operand {
 public:
  explicit Operand(const CheckedMatrix& stored)
      : is_complex_(stored.is_complex), is_conjugated_(stored.op == Op::ConjugateTranspose) {
    parts_[0] = parts_[1] = compare::ElementSource::of(stored);
    if (!is_complex_) return;
    for (compare::ElementSource& part : parts_) {
      part.row *= 2;
      part.col *= 2;
    }
    if (stored.data != nullptr)
      parts_[1].data = static_cast<const char*>(stored.data) + checked_type(stored.type).bytes;
  }

  Index rows() const { return parts_[0].rows; }
  Index cols() const { return parts_[0].cols; }
  bool is_complex() const { return is_complex_; }

  /// The real parts; all of a real matrix.
  const compare::ElementSource& real() const { return parts_[0]; }
  /// The imaginary parts of a complex matrix as they are stored.
  const compare::ElementSource& imaginary() const { return parts_[1]; }
  /// What the stored imaginary parts are multiplied by.
  double sign() const { return is_conjugated_ ? -1 : 1; }

  /// Returns element (i, j).
  Parts at(Index i, Index j) const {
    return {compare::element_at<double>(parts_[0], i, j),
            is_complex_ ? sign() * compare::element_at<double>(parts_[1], i, j) : 0};
  }

 private:
  std::array<compare::ElementSource, 2> parts_;
  bool is_complex_, is_conjugated_;
};

} // namespace tessera::solution
