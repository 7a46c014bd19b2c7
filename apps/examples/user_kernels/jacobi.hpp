#pragma once

/// A step of Jacobi's method for Laplace's equation on a square, whose edge is given: each inner point becomes the mean
/// of its four neighbours.

#include <tessera/user_kernel/user_kernel.hpp>

struct Step {
  static constexpr char name[] = "jacobi_step";
  tessera::In<double> old;    ///< with the edge
  tessera::Out<double> inner; ///< without it
  TESSERA_FN void operator()(tessera::Index i, tessera::Index j) const {
    inner(i, j) = 0.25 * ((old(i, j + 1) + old(i + 2, j + 1)) + (old(i + 1, j) + old(i + 1, j + 2)));
  }
};

/// How much a point has changed.
struct Change {
  static constexpr char name[] = "jacobi_change";
  tessera::In<double> x, y;
  TESSERA_FN double operator()(tessera::Index i, tessera::Index j) const { return tessera::abs(x(i, j) - y(i, j)); }
};

struct Point {
  static constexpr char name[] = "jacobi_point";
  tessera::In<double> x;
  TESSERA_FN double operator()(tessera::Index i, tessera::Index j) const { return x(i, j); }
};
