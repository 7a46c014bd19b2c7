#pragma once

/// Makes matrices of whole numbers so small that sums of their products are exact in any order.

#include <tessera/tessera.hpp>

namespace tessera::test {

template <class T>
Matrix<T> whole_numbers(Index rows, Index cols, Seed seed) {
  return Matrix<T>::random(rows, cols, seed, Distribution::Integers, -3, 3);
}

} // namespace tessera::test
