#pragma once

/// Rounding to the types of results.

#include <tessera/half.hpp>

namespace tessera::compare {

/// Returns `x` rounded to f32 or to a 16-bit type, and widened again.
template <class X>
float rounded(X x, DType type) {
  return visit(type, [x]<class T>(std::type_identity<T>) { return static_cast<float>(static_cast<T>(x)); });
}

} // namespace tessera::compare
