#pragma once

/// What a power iteration does beside its products: x := y / ‖y‖, and the sums for the norm and the eigenvalue.

#include <tessera/user_kernel/user_kernel.hpp>

struct Divide {
  static constexpr char name[] = "power_divide";
  tessera::In<double> y;
  tessera::Out<double> x;
  double by;
  TESSERA_FN void operator()(tessera::Index i) const { x(i) = y(i) / by; }
};

struct Product {
  static constexpr char name[] = "power_product";
  tessera::In<double> x, y;
  TESSERA_FN double operator()(tessera::Index i) const { return x(i) * y(i); }
};
