#pragma once

/// Vectors whose neighbours lie any number of elements apart.

#include <algorithm>

#include <tessera/types.hpp>

#include "reference/elementwise/complex_number.hpp"

namespace tessera::vectors {

/// A vector of real or complex numbers in host memory. A negative step goes backwards from `first`, and a step of 0
/// has one number `size` times.
template <class N>
struct Strided {
  N* first = nullptr; ///< element 0
  Index size = 0;
  Index step = 1;

  N& operator[](Index i) const { return first[i * step]; }
  bool is_contiguous() const { return step == 1; }
  Strided from(Index i, Index count) const { return {first + i * step, count, step}; }
};

/// Returns the vector as the BLAS stores it: with a negative step its last element lies at `data`.
template <class N>
Strided<N> stored(N* data, Index size, Index step) {
  return {step < 0 && size > 0 ? data - (size - 1) * step : data, size, step};
}

/// The real type of numbers, and how many parts of it they have.
template <class N>
struct Parts {
  using Real = N;
  static constexpr int count = 1;
};
template <class R>
struct Parts<ComplexNumber<R>> {
  using Real = R;
  static constexpr int count = 2;
};
template <class N>
using RealOf = typename Parts<N>::Real;
template <class N>
inline constexpr bool has_two_parts = Parts<N>::count == 2;

template <class N>
const RealOf<N>* parts_of(const N* numbers) {
  return reinterpret_cast<const RealOf<N>*>(numbers);
}
template <class N>
RealOf<N>* parts_of(N* numbers) {
  return reinterpret_cast<RealOf<N>*>(numbers);
}

/// Neighbouring elements of a vector side by side: where they lie, or copied to memory of this object.
template <class N, Index most>
class SideBySide {
 public:
  /// Returns `count` elements from `first` on, at most `most`.
  const N* of(const Strided<const N>& x, Index first, Index count) {
    if (x.is_contiguous()) return x.first + first;
    for (Index i = 0; i < count; ++i) copy_[i] = x[first + i];
    return copy_;
  }

 private:
  alignas(64) N copy_[most];
};

} // namespace tessera::vectors
