#pragma once

/// The memory of a factorisation's panels: columns, and of complex numbers their real parts side by side and then their
/// imaginary ones, so that vectors are of one kind of part.

#include <algorithm>

#include "host_numbers.hpp"
#include "numbers.hpp"
#include "substitution.hpp"

namespace tessera::linear_algebra {

/// Returns a leading dimension, of at least `least`, that is an odd multiple of 8: columns lie no power of two apart,
/// and so not in the same lines of a cache.
inline Index apart(Index least) { return ((least + 7) / 8 | 1) * 8; }

/// The columns that are copied at once, so that their lines stay in the cache.
inline constexpr Index planes_strip = 16;

/// Takes the numbers of a matrix, rows×cols, apart: part p of element (r, c) becomes number (2·c + p)·ld + r of `to`.
/// Column c's element r lies at place(c, r).
template <class T>
void take_apart(Index rows, Index cols, const T* from, Place place, Part<T>* to, Index ld) {
  for (Index first = 0; first < cols; first += planes_strip)
    for (Index r = 0; r < rows; ++r)
      for (Index c = first; c < std::min(cols, first + planes_strip); ++c) {
        const T& number = from[place(c, r)];
        to[2 * c * ld + r] = number.real();
        to[(2 * c + 1) * ld + r] = number.imag();
      }
}
template <class T>
void put_together(Index rows, Index cols, const Part<T>* from, Index ld, T* to, Place place) {
  for (Index first = 0; first < cols; first += planes_strip)
    for (Index r = 0; r < rows; ++r)
      for (Index c = first; c < std::min(cols, first + planes_strip); ++c)
        to[place(c, r)] = {from[2 * c * ld + r], from[(2 * c + 1) * ld + r]};
}

} // namespace tessera::linear_algebra
