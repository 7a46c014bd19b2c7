#pragma once

/// Complex numbers whose parts are in vectors of their own, on processors with AVX2 and FMA. Two vectors of numbers
/// become a vector of real parts and one of imaginary parts by one shuffle each, where a step of numbers whose parts
/// alternate takes two shuffles a vector.

#include "extensions/linear_algebra/vectors/wide.hpp"

#if TESSERA_HAS_WIDE

namespace tessera::vectors {

TESSERA_WIDE_CODE __m256 less_product(__m256 a, __m256 b, __m256 c) { return _mm256_fnmadd_ps(a, b, c); }
TESSERA_WIDE_CODE __m256d less_product(__m256d a, __m256d b, __m256d c) { return _mm256_fnmadd_pd(a, b, c); }

/// The parts of as many numbers as two vectors hold, in the order that apart() gives them.
template <class R>
struct Apart {
  WideOf<R> re, im;
};
TESSERA_WIDE_CODE Apart<float> apart(__m256 a, __m256 b) {
  return {_mm256_shuffle_ps(a, b, 0x88), _mm256_shuffle_ps(a, b, 0xDD)};
}
TESSERA_WIDE_CODE Apart<double> apart(__m256d a, __m256d b) {
  return {_mm256_unpacklo_pd(a, b), _mm256_unpackhi_pd(a, b)};
}
/// The first and the second vector of numbers.
TESSERA_WIDE_CODE __m256 first_of(const Apart<float>& a) { return _mm256_unpacklo_ps(a.re, a.im); }
TESSERA_WIDE_CODE __m256 second_of(const Apart<float>& a) { return _mm256_unpackhi_ps(a.re, a.im); }
TESSERA_WIDE_CODE __m256d first_of(const Apart<double>& a) { return _mm256_unpacklo_pd(a.re, a.im); }
TESSERA_WIDE_CODE __m256d second_of(const Apart<double>& a) { return _mm256_unpackhi_pd(a.re, a.im); }

template <class R>
TESSERA_WIDE_CODE Apart<R> load_apart(const ComplexNumber<R>* x) {
  constexpr int w = wide_numbers<ComplexNumber<R>>;
  return apart(load(parts_of(x)), load(parts_of(x + w)));
}
template <class R>
TESSERA_WIDE_CODE void store_apart(ComplexNumber<R>* to, const Apart<R>& x) {
  constexpr int w = wide_numbers<ComplexNumber<R>>;
  store(parts_of(to), first_of(x));
  store(parts_of(to + w), second_of(x));
}

/// A number over and over, each part in a vector.
template <class R>
TESSERA_WIDE_CODE Apart<R> spread_apart(const ComplexNumber<R>& x) {
  return {spread(x.re), spread(x.im)};
}

/// The contract's step of chains with a·x, or with a's conjugate times x.
template <bool conjugated, class R>
TESSERA_WIDE_CODE void step_apart(Apart<R>& chain, const Apart<R>& a, const Apart<R>& x) {
  const WideOf<R> re = fused(a.re, x.re, chain.re), im = fused(a.re, x.im, chain.im);
  chain.re = conjugated ? fused(a.im, x.im, re) : less_product(a.im, x.im, re);
  chain.im = conjugated ? less_product(a.im, x.re, im) : fused(a.im, x.re, im);
}

} // namespace tessera::vectors

#endif
