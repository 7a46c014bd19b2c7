#pragma once

#include <tessera/user_kernel/user_kernel.hpp>

/// The functor of both twins.
struct Twin {
  static constexpr char name[] = "twin";
  tessera::In<float> x;
  tessera::Out<float> y;
  float factor;
  TESSERA_FN void operator()(tessera::Index i) const { y(i) = factor * x(i); }
};
