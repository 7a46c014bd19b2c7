#pragma once

/// A loop and a sum, which the tests of every kind of device code have.

#include <tessera/user_kernel/user_kernel.hpp>

namespace tessera::test {

struct Saxpy {
  static constexpr char name[] = "saxpy";
  In<float> x;
  InOut<float> y;
  float a;
  TESSERA_FN void operator()(Index i, Index j) const { y(i, j) = tessera::fma(a, x(i, j), y(i, j)); }
};

struct Square {
  static constexpr char name[] = "square";
  In<float> x;
  TESSERA_FN double operator()(Index i, Index j) const { return double(x(i, j)) * x(i, j); }
};

} // namespace tessera::test
