#pragma once

/// Where a row comes from after exchanges.

namespace tessera::cuda {

/// Returns the row that stands at `place` after row begin + i has changed places with row other[i], for i = 0 … count −
/// 1 in this order.
template <class Row>
__device__ inline Row source(Row place, int begin, int count, const Row* other) {
  for (int i = count - 1; i >= 0; --i) {
    if (place == begin + i)
      place = other[i];
    else if (place == other[i])
      place = begin + i;
  }
  return place;
}

} // namespace tessera::cuda
