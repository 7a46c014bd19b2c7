#pragma once

/// Sizes of blocks that stay within a limit of memory. Streamed products and complex products choose their blocks with
/// them.

#include <tessera/types.hpp>

namespace tessera::detail {

/// Returns the largest side from `least` to `most` for which `fits(side)` is true, or `least` if it is true for no
/// larger one. `fits` must be true for every side that is smaller than one that fits.
template <class Fits>
Index largest_side(Index least, Index most, const Fits& fits) {
  Index side = least;
  for (Index above = most + 1; above - side > 1;) {
    const Index middle = side + (above - side) / 2;
    (fits(middle) ? side : above) = middle;
  }
  return side;
}

/// Returns the size of blocks of about equal sizes that cut `size` into as many blocks as blocks of `block` do.
inline Index evened(Index size, Index block) {
  const Index count = (size + block - 1) / block;
  return (size + count - 1) / count;
}

} // namespace tessera::detail
