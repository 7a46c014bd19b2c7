#pragma once

/// What follows the product of a layer of a network: y := tanh(y + bias).

#include <tessera/user_kernel/user_kernel.hpp>

struct BiasAndTanh {
  static constexpr char name[] = "bias_and_tanh";
  tessera::In<float> bias; ///< a number for each column
  tessera::InOut<float> y;
  TESSERA_FN void operator()(tessera::Index i, tessera::Index j) const { y(i, j) = tessera::tanh(y(i, j) + bias(j)); }
};

struct Element {
  static constexpr char name[] = "element";
  tessera::In<float> x;
  TESSERA_FN double operator()(tessera::Index i, tessera::Index j) const { return x(i, j); }
};
