#pragma once

/// What QR does with a number, real or complex, in the contract's order of roundings (docs/contract.md, "QR"), and how
/// its matrices lie in memory.
///
/// A complex matrix lies in planes: a row of real parts, and then the row of their imaginary ones. V and T are expanded
/// there, each number to [[re, −im], [im, re]]. So their products with other columns are real ones.

#include <tessera/types.hpp>

#include "cuda/panel/async_copy.cuh"
#include "cuda/panel/number.cuh"

namespace tessera::cuda {

/// The parts of a number.
template <class T>
inline constexpr int parts_of = NumberOf<T>::is_complex ? 2 : 1;

template <class T>
__device__ __forceinline__ Complex<T> operator+(const Complex<T>& a, const Complex<T>& b) {
  return {a.re + b.re, a.im + b.im};
}
template <class T>
__device__ __forceinline__ Complex<T> operator-(const Complex<T>& x) {
  return {-x.re, -x.im};
}

/// Returns a number whose parts are multiplied by a real one.
template <class T>
__device__ __forceinline__ T with_scale(T x, PartOf<T> scale) {
  if constexpr (NumberOf<T>::is_complex)
    return {x.re * scale, x.im * scale};
  else
    return x * scale;
}
/// Returns alpha·x. An alpha whose imaginary part is 0 is real.
template <class T>
__device__ __forceinline__ T multiplied(T alpha, T x) {
  if constexpr (NumberOf<T>::is_complex) {
    if (alpha.im == 0) return {alpha.re * x.re, alpha.re * x.im};
    return {fma(-alpha.im, x.im, alpha.re * x.re), fma(alpha.im, x.re, alpha.re * x.im)};
  } else {
    return alpha * x;
  }
}
/// Returns the sum that goes on with the squares of x's parts.
template <class T>
__device__ __forceinline__ PartOf<T> add_squares(T x, PartOf<T> sum) {
  if constexpr (NumberOf<T>::is_complex)
    return fma(x.im, x.im, fma(x.re, x.re, sum));
  else
    return fma(x, x, sum);
}

/// Reads a number that other blocks wrote, not from the first-level cache.
template <class T>
__device__ __forceinline__ T read_shared_number(const T* from) {
  if constexpr (NumberOf<T>::is_complex)
    return {__ldcg(&from->re), __ldcg(&from->im)};
  else
    return __ldcg(from);
}

/// Numbers in planes; `ld` counts parts from one row of them to the next.
template <class T>
struct PlanePlace {
  using Part = PartOf<T>;
  Part* data;
  Index ld;

  __device__ __forceinline__ PlanePlace at(Index row, Index col) const {
    return {data + row * (parts_of<T> * ld) + col, ld};
  }
  /// Goes on by some rows.
  __device__ __forceinline__ void skip(Index rows) { data += rows * (parts_of<T> * ld); }
  __device__ __forceinline__ T read_through() const {
    if constexpr (NumberOf<T>::is_complex)
      return {__ldcg(data), __ldcg(data + ld)};
    else
      return __ldcg(data);
  }
  __device__ __forceinline__ void write(T x) const {
    if constexpr (NumberOf<T>::is_complex) {
      data[0] = x.re;
      data[ld] = x.im;
    } else {
      *data = x;
    }
  }
  /// Begins to copy the number to shared memory.
  __device__ __forceinline__ void copy_to(T* to) const {
    if constexpr (NumberOf<T>::is_complex) {
      copy_async(&to->re, static_cast<const Part*>(data), true);
      copy_async(&to->im, static_cast<const Part*>(data + ld), true);
    } else {
      copy_async(to, static_cast<const T*>(data), true);
    }
  }
};

/// Numbers that are expanded: real ones stay as they are. The first column of an expanded number is its planes. Complex
/// ones are aligned, and `ld` is even.
template <class T>
struct ExpandedPlace {
  using Part = PartOf<T>;
  Part* data;
  Index ld;

  __device__ __forceinline__ PlanePlace<T> planes(Index row, Index col) const {
    return {data + row * (parts_of<T> * ld) + col * parts_of<T>, ld};
  }
  __device__ __forceinline__ void write(Index row, Index col, T x) const {
    const PlanePlace<T> to = planes(row, col);
    if constexpr (NumberOf<T>::is_complex) { // two parts by one store
      *reinterpret_cast<T*>(to.data) = conjugate_of(x);
      *reinterpret_cast<T*>(to.data + ld) = {x.im, x.re};
    } else {
      to.write(x);
    }
  }
};

} // namespace tessera::cuda
