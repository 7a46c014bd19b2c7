#pragma once

/// The order of pivots as integers: by magnitude, and every NaN above Inf.

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>
#include <type_traits>

#include "numbers.hpp"

namespace tessera::linear_algebra {

template <class T>
using Key = std::conditional_t<sizeof(T) == 4, std::int32_t, std::int64_t>;
template <class T>
[[gnu::always_inline]] inline Key<T> key_of(T value) {
  constexpr auto above_all = std::bit_cast<Key<T>>(std::numeric_limits<T>::infinity()) + 1;
  return std::min(std::bit_cast<Key<T>>(value) & std::numeric_limits<Key<T>>::max(), above_all);
}
/// Returns the key of the number whose parts lie `ld` apart.
template <class T>
[[gnu::always_inline]] inline Key<Part<T>> key_at(const Part<T>* a, [[maybe_unused]] Index ld) {
  if constexpr (is_complex<T>)
    return key_of(std::abs(a[0]) + std::abs(a[ld]));
  else
    return key_of(*a);
}

} // namespace tessera::linear_algebra
