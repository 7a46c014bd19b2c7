#pragma once

/// The products of the BLAS's level 3 with triangles and symmetric matrices, in a device's memory. Each constructor
/// takes all memory, but for what complex products take for their expanded operands; `begins` becomes true before the
/// result is written.

#include <complex>

#include <tessera/linear_algebra/triangular.hpp>

#include "system.hpp"

namespace tessera::linear_algebra::device {

/// X := alpha·op(T)·X or alpha·X·op(T), of a device that has the steps of factorisations.
///
/// A segment of rows, or of columns, begins with the product of its block on the diagonal, whose other triangle is
/// zeros; what the zeros changed is put right (PanelOp::TriangleTerms). Products of whole segments are added.
class TriangularProduct {
 public:
  TriangularProduct(const Steps& steps, const detail::TriangularForm& form, Index n, Index count);
  void run(std::complex<double> alpha, Place t, Place x, bool& begins) const;

 private:
  struct Range {
    Index first, end;
    Index size() const { return end - first; }
  };
  void multiply_diagonal(Place t, Range segment, Place x) const;
  void add(Place t, Range to, Range of, Place x) const;
  void correct(Place block, Range segment, Place x) const;
  void find_least(Index rows, Index cols, Place x, Index which) const;
  Place numbers(Place x, Index i) const { return is_left_ ? x.at(i, 0) : x.at(0, i); }
  Place part(Place t, Range to, Range of) const {
    return is_turned_ ? t.at(of.first, to.first) : t.at(to.first, of.first);
  }
  void product(Range to, Range of, Place factor, double beta, Place x) const;

  const Steps& steps_;
  detail::TriangularForm form_;
  Index n_, count_, segment_;
  bool is_left_;
  bool is_turned_; ///< the rows of M are columns of the memory, where the result is M·X or X·Mᵀ
  bool is_lower_;  ///< of M
  OptionalMatrix copy_, square_;
  DeviceArray least_; ///< two magnitudes, of the triangle and of X
};

/// What an update of rank k, or 2k, is.
struct UpdateForm {
  Triangle triangle = Triangle::Lower;
  Op op = Op::None;
  bool is_hermitian = false;
  bool has_b = false;
};

/// One triangle of C := alpha·op(A)·op(A)ᵀ + beta·C and of its kin (RankUpdateCall); op(A) is n×k.
class RankUpdate {
 public:
  RankUpdate(const Steps& steps, const UpdateForm& form, Index n, Index k);
  void run(std::complex<double> alpha, Place a, Place b, std::complex<double> beta, Place c, bool& begins) const;

 private:
  void add(std::complex<double> alpha, Place a, Place b, std::complex<double> beta) const;

  const Steps& steps_;
  UpdateForm form_;
  Index n_, k_;
  OptionalMatrix sums_;
};

/// C := alpha·A·B + beta·C or alpha·B·A + beta·C, m×n, with a symmetric or Hermitian A of which one triangle counts.
/// Without terms (alpha = 0) nothing of A and B is read.
class SymmetricProduct {
 public:
  SymmetricProduct(const Steps& steps, Side side, Triangle triangle, bool is_hermitian, Index m, Index n, bool reads);
  void run(std::complex<double> alpha, Place a, Place b, std::complex<double> beta, Place c, bool& begins) const;

 private:
  const Steps& steps_;
  Side side_;
  Triangle triangle_;
  bool is_hermitian_;
  Index m_, n_, order_;
  bool reads_;
  OptionalMatrix whole_, transposed_;
};

} // namespace tessera::linear_algebra::device
