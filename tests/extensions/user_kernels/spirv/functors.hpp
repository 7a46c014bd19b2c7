#pragma once

/// The functors of the tests of plug-ins in SPIR-V.

#include "../saxpy.hpp"

namespace tessera::test {

/// It has more bytes than any device takes as a kernel's argument.
struct Large {
  static constexpr char name[] = "large";
  Out<float> y;
  double table[4000];
  TESSERA_FN void operator()(Index i) const { y(i) = static_cast<float>(table[i]); }
};

} // namespace tessera::test
