#pragma once

/// Planted faults, and the backend that has them.

#include <cstring>

#include <tessera/tessera.hpp>

#include "fault.hpp"

namespace tessera::test {

inline Backend faulty() { return parse_backend("faulty"); }

inline void plant(const Fault& fault) {
  static_cast<void>(executor(faulty()));
  fault_setter(FAULTY_PLUGIN)(fault);
}

template <class T>
bool equal_bits(const Matrix<T>& x, const Matrix<T>& y) {
  for (Index i = 0; i < x.rows(); ++i)
    for (Index j = 0; j < x.cols(); ++j) {
      const T of_x = x(i, j), of_y = y(i, j);
      if (std::memcmp(&of_x, &of_y, sizeof of_x) != 0) return false;
    }
  return true;
}

} // namespace tessera::test
