#pragma once

/// The arithmetic of block-cyclic distributions, one dimension at a time.

#include <tessera/types.hpp>

namespace tessera::distributed {

/// One dimension of a matrix, whose blocks are dealt to `count` coordinates in turn. A coordinate c contributes
/// c·stride to the rank. The indices are first … first + size − 1.
struct Axis {
  Index size = 0;
  Index block = 1;
  int source = 0; ///< the coordinate of the first block
  int count = 1;
  int stride = 0;
  Index first = 0;

  /// Returns the coordinate that holds index i.
  int owner(Index i) const noexcept { return static_cast<int>(((i - first) / block + source) % count); }
  /// Returns the place of index i among the indices of its owner.
  Index local(Index i) const noexcept { return (i - first) / block / count * block + (i - first) % block; }
  /// Returns the index of a place.
  Index global(Index place, int coordinate) const noexcept {
    return first + (place / block * count + turn(coordinate)) * block + place % block;
  }
  /// Returns how many indices less than `end` a coordinate holds.
  Index held_before(Index end, int coordinate) const noexcept {
    const Index blocks = (end - first) / block, rounds = blocks / count, extra = blocks % count, at = turn(coordinate);
    return rounds * block + (at < extra ? block : at == extra ? (end - first) % block : 0);
  }
  /// Returns how many indices in [begin, end) a coordinate holds.
  Index held(Index begin, Index end, int coordinate) const noexcept {
    return held_before(end, coordinate) - held_before(begin, coordinate);
  }
  /// Returns how many indices a coordinate holds.
  Index held(int coordinate) const noexcept { return held_before(first + size, coordinate); }

 private:
  /// Returns when in a round the coordinate gets its block.
  int turn(int coordinate) const noexcept { return (coordinate - source + count) % count; }
};

/// Do two axes give each index to one and the same rank?
inline bool same_owners(const Axis& x, const Axis& y) noexcept {
  if (x.size != y.size || x.count != y.count || x.first != y.first) return false;
  return x.count == 1 || (x.block == y.block && x.source == y.source && x.stride == y.stride);
}

} // namespace tessera::distributed
