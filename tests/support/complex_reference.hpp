#pragma once

/// The complex product as include/tessera/complex.hpp defines it, number by number. Every backend has to give its bits.

#include <cmath>
#include <complex>

#include <tessera/complex.hpp>

namespace tessera::test {

template <class T>
std::complex<T> number_of(Op op, const void* matrix, Index ld, Index row, Index col) {
  const auto* numbers = static_cast<const std::complex<T>*>(matrix);
  if (op == Op::None) return numbers[row * ld + col];
  const std::complex<T> number = numbers[col * ld + row];
  return op == Op::ConjugateTranspose ? std::conj(number) : number;
}

/// Returns Σ op(A)(i, p)·op(B)(p, j) over k, summed in segments of 512.
template <class T>
std::complex<T> canonical_sum(const ComplexGemmCall& call, Index i, Index j) {
  T sum_re = 0, sum_im = 0;
  for (Index first = 0; first < call.k; first += 512) {
    T re = 0, im = 0;
    for (Index p = first; p < std::min(first + 512, call.k); ++p) {
      const std::complex<T> a = number_of<T>(call.op_a, call.a, call.lda, i, p);
      const std::complex<T> b = number_of<T>(call.op_b, call.b, call.ldb, p, j);
      re = std::fma(a.real(), b.real(), re);
      re = std::fma(a.imag(), -b.imag(), re);
      im = std::fma(a.real(), b.imag(), im);
      im = std::fma(a.imag(), b.real(), im);
    }
    sum_re = first == 0 ? re : sum_re + re;
    sum_im = first == 0 ? im : sum_im + im;
  }
  return {sum_re, sum_im};
}

/// Returns factor·x.
template <class T>
std::complex<T> product(const std::complex<T>& factor, const std::complex<T>& x) {
  if (factor.imag() == T{0}) return {factor.real() * x.real(), factor.real() * x.imag()};
  return {std::fma(-factor.imag(), x.imag(), factor.real() * x.real()),
          std::fma(factor.imag(), x.real(), factor.real() * x.imag())};
}

/// Returns factor·x + sum.
template <class T>
std::complex<T> product_added(const std::complex<T>& factor, const std::complex<T>& x, const std::complex<T>& sum) {
  const T re = std::fma(factor.real(), x.real(), sum.real());
  const T im = std::fma(factor.real(), x.imag(), sum.imag());
  if (factor.imag() == T{0}) return {re, im};
  return {std::fma(-factor.imag(), x.imag(), re), std::fma(factor.imag(), x.real(), im)};
}

/// Computes C of a call whose operands are in host memory.
template <class T>
void multiply_as_defined(const ComplexGemmCall& call) {
  const std::complex<T> alpha(call.alpha), beta(call.beta), zero;
  for (Index i = 0; i < call.m; ++i)
    for (Index j = 0; j < call.n; ++j) {
      std::complex<T>& c = static_cast<std::complex<T>*>(call.c)[i * call.ldc + j];
      if (alpha == zero || call.k == 0) {
        c = beta == zero ? zero : product(beta, c);
        continue;
      }
      const std::complex<T> r = product(alpha, canonical_sum<T>(call, i, j));
      c = beta == zero ? r : product_added(beta, c, r);
    }
}

} // namespace tessera::test
