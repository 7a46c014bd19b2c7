#pragma once

/// The functors of the library's side: BabelStream's, and the elements themselves, whose sum is raced against CUB's.

#include "babelstream.hpp"

namespace speed {

struct Element {
  static constexpr char name[] = "speed_element";
  tessera::In<double> x;
  TESSERA_FN double operator()(tessera::Index i) const { return x(i); }
};

} // namespace speed
