#pragma once

/// The chains of systems that lie side by side (lanes.hpp), and their divisions. All of it is inlined, because a call
/// would leave the version of a function that is compiled for the processor (fma_clones.hpp).

#include <cmath>
#include <complex>

#include "extensions/linear_algebra/pivot_key.hpp"
#include "lanes.hpp"

namespace tessera::linear_algebra {

/// Chains that are taken at once, to hide the latency of a multiply-add.
inline constexpr Index chains_at_once = 4;

/// What a term is: varied · shared, or shared · varied, and which of the two is conjugated.
struct TermOrder {
  bool shared_first = false, conjugate_varied = false, conjugate_shared = false;
};

/// In each lane, the chains of `rows` numbers go on with varied(r, k) and shared(k) for k = 0 … count − 1. Distances
/// count parts.
template <class T, Index rows, TermOrder order>
[[gnu::always_inline]] inline void extend_lane_chains(Index count, const Part<T>* __restrict varied, Index of_row,
                                                      Index of_k, const Part<T>* __restrict shared, Index shared_of_k,
                                                      Part<T>* __restrict sums) {
  constexpr Index lanes = lane_count<T>, parts = Number<T>::parts;
  Part<T> sum[rows * parts][lanes];
  for (Index r = 0; r < rows * parts; ++r)
    for (Index l = 0; l < lanes; ++l) sum[r][l] = sums[r * lanes + l];
  for (; count > 0; --count, varied += of_k, shared += shared_of_k)
    for (Index r = 0; r < rows; ++r) {
      const Part<T>* const x = varied + r * of_row;
      const Part<T>* const y = shared;
      if constexpr (is_complex<T>) {
        constexpr bool conjugate_a = order.shared_first ? order.conjugate_shared : order.conjugate_varied,
                       conjugate_b = order.shared_first ? order.conjugate_varied : order.conjugate_shared;
        const Part<T>* const a = order.shared_first ? y : x;
        const Part<T>* const b = order.shared_first ? x : y;
        Part<T>* const re = sum[2 * r];
        Part<T>* const im = sum[2 * r + 1];
#pragma GCC unroll 1 // else the compiler takes the lanes apart before it makes vectors of them
        for (Index l = 0; l < lanes; ++l) {
          const Part<T> a_im = conjugate_a ? -a[lanes + l] : a[lanes + l],
                        b_im = conjugate_b ? -b[lanes + l] : b[lanes + l];
          re[l] = std::fma(a_im, -b_im, std::fma(a[l], b[l], re[l]));
          im[l] = std::fma(a_im, b[l], std::fma(a[l], b_im, im[l]));
        }
      } else {
#pragma GCC unroll 1
        for (Index l = 0; l < lanes; ++l) sum[r][l] = std::fma(x[l], y[l], sum[r][l]);
      }
    }
  for (Index r = 0; r < rows * parts; ++r)
    for (Index l = 0; l < lanes; ++l) sums[r * lanes + l] = sum[r][l];
}

/// Divides by the number of each lane.
template <class T>
struct LaneDivisor {
  [[gnu::always_inline]] void set(const Part<T>* d) {
    for (Index l = 0; l < lane_count<T>; ++l) real[l] = d[l];
  }
  /// Divides by 1 in the lanes whose number is 0.
  [[gnu::always_inline]] void spare_zeros() {
    for (Index l = 0; l < lane_count<T>; ++l) real[l] = real[l] == 0 ? Part<T>(1) : real[l];
  }
  [[gnu::always_inline]] void divide(Part<T>* x) const {
    for (Index l = 0; l < lane_count<T>; ++l) x[l] /= real[l];
  }

  alignas(64) Part<T> real[lane_count<T>];
};
template <class T>
struct LaneDivisor<std::complex<T>> {
  static constexpr Index lanes = lane_count<std::complex<T>>;

  [[gnu::always_inline]] void set(const T* d) {
    all_real = true;
    for (Index l = 0; l < lanes; ++l) {
      const Divisor<std::complex<T>> one({d[l], d[lanes + l]});
      is_real[l] = one.is_real;
      all_real = all_real && one.is_real;
      real[l] = one.is_real ? d[l] : T(1);
      scale[l] = one.scale;
      inverse_re[l] = one.inverse_re;
      inverse_im[l] = one.inverse_im;
    }
  }
  [[gnu::always_inline]] void spare_zeros() {
    for (Index l = 0; l < lanes; ++l) real[l] = is_real[l] != 0 && real[l] == 0 ? T(1) : real[l];
  }
  [[gnu::always_inline]] void divide(T* x) const {
    T re[lanes], im[lanes];
    for (Index l = 0; l < lanes; ++l) {
      re[l] = x[l] / real[l];
      im[l] = x[lanes + l] / real[l];
    }
    for (Index l = 0; l < lanes && !all_real; ++l) {
      const T a = scale[l] * x[l], b = scale[l] * x[lanes + l];
      const T quotient_re = std::fma(a, inverse_re[l], -(b * inverse_im[l])),
              quotient_im = std::fma(a, inverse_im[l], b * inverse_re[l]);
      re[l] = is_real[l] != 0 ? re[l] : quotient_re;
      im[l] = is_real[l] != 0 ? im[l] : quotient_im;
    }
    for (Index l = 0; l < lanes; ++l) {
      x[l] = re[l];
      x[lanes + l] = im[l];
    }
  }

  bool all_real = true;
  alignas(64) Key<T> is_real[lanes];
  alignas(64) T real[lanes], scale[lanes], inverse_re[lanes], inverse_im[lanes];
};

} // namespace tessera::linear_algebra
