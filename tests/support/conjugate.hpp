#pragma once

/// The conjugate of a number in a test of real and complex numbers.

#include <type_traits>

namespace tessera::test {

/// Returns the conjugate of x, or x where it is real.
template <class T>
T conjugate(T x) {
  if constexpr (std::is_floating_point_v<T>)
    return x;
  else
    return {x.real(), -x.imag()};
}

} // namespace tessera::test
