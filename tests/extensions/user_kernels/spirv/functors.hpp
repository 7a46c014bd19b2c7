#pragma once

/// The functors of the tests of plug-ins in SPIR-V.

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
/// It has more bytes than any device takes as a kernel's argument.
struct Large {
  static constexpr char name[] = "large";
  Out<float> y;
  double table[4000];
  TESSERA_FN void operator()(Index i) const { y(i) = static_cast<float>(table[i]); }
};

} // namespace tessera::test
