#include "without_memory.hpp"

#include <algorithm>
#include <cmath>

#include <tessera/detail/floating_point.hpp>

#include "reference/elementwise/complex_number.hpp"
#include "reference/fma_clones.hpp"

namespace tessera::host {
namespace {

constexpr Index block = 128; ///< columns of C whose sums are on the stack

/// sum[j] := fma(a, b[j · step], sum[j]), for j < n.
TESSERA_FMA_CLONES void extend_chains(float a, const float* b, Index step, float* sum, Index n) {
  for (Index j = 0; j < n; ++j) sum[j] = std::fma(a, b[j * step], sum[j]);
}
TESSERA_FMA_CLONES void extend_chains(double a, const double* b, Index step, double* sum, Index n) {
  for (Index j = 0; j < n; ++j) sum[j] = std::fma(a, b[j * step], sum[j]);
}

/// Computes `cols` elements of row i of C, from column j on.
template <class T>
void multiply_columns(const GemmOperands<T>& x, Index i, Index j, Index cols) {
  T sum[block], segment[block];
  for (Index first = 0; first < x.k; first += canonical_segment) {
    std::fill(segment, segment + cols, T{0});
    for (Index p = first; p < std::min(first + canonical_segment, x.k); ++p)
      extend_chains(x.at_a(i, p), &x.at_b(p, j), x.op_b == Op::None ? 1 : x.ldb, segment, cols);
    for (Index c = 0; c < cols; ++c) sum[c] = first == 0 ? segment[c] : sum[c] + segment[c];
  }
  T* const out = x.c + i * x.ldc + j;
  for (Index c = 0; c < cols; ++c) {
    const T r = x.alpha * sum[c];
    out[c] = x.beta == T{0} ? r : std::fma(x.beta, out[c], r);
  }
}

template <class T>
void multiply(const GemmOperands<T>& x) {
  const bool scales = x.k == 0 || x.alpha == T{0};
  for (Index i = 0; i < x.m; ++i) {
    for (Index j = 0; j < x.n && !scales; j += block) multiply_columns(x, i, j, std::min(block, x.n - j));
    for (Index j = 0; j < x.n && scales; ++j) {
      T& c = x.c[i * x.ldc + j];
      c = x.beta == T{0} ? T{0} : x.beta * c;
    }
  }
}

/// A complex operand: the number (row, col) of op(X).
template <class T>
struct Numbers {
  const ComplexNumber<T>* data;
  Index ld;
  Op op;
  ComplexNumber<T> at(Index row, Index col) const {
    if (op == Op::None) return data[row * ld + col];
    const ComplexNumber<T> x = data[col * ld + row];
    return op == Op::ConjugateTranspose ? conjugate(x) : x;
  }
};

/// Returns the sum of a segment, p from `first` on.
template <class T>
inline ComplexNumber<T> chain(const Numbers<T>& a, const Numbers<T>& b, Index i, Index j, Index first, Index last) {
  ComplexNumber<T> sum{0, 0};
  for (Index p = first; p < last; ++p) {
    const ComplexNumber<T> x = a.at(i, p), y = b.at(p, j);
    sum = {std::fma(x.re, y.re, sum.re), std::fma(x.re, y.im, sum.im)};
    sum = {std::fma(x.im, -y.im, sum.re), std::fma(x.im, y.re, sum.im)};
  }
  return sum;
}
TESSERA_FMA_CLONES ComplexNumber<float> segment_sum(const Numbers<float>& a, const Numbers<float>& b, Index i, Index j,
                                                    Index first, Index last) {
  return chain(a, b, i, j, first, last);
}
TESSERA_FMA_CLONES ComplexNumber<double> segment_sum(const Numbers<double>& a, const Numbers<double>& b, Index i,
                                                     Index j, Index first, Index last) {
  return chain(a, b, i, j, first, last);
}

template <class T>
void multiply(const ComplexGemmCall& call) {
  const auto number = [](std::complex<double> x) {
    return ComplexNumber<T>{static_cast<T>(x.real()), static_cast<T>(x.imag())};
  };
  const auto numbers = [](const void* data) { return static_cast<const ComplexNumber<T>*>(data); };
  const Numbers<T> a{numbers(call.a), call.lda, call.op_a}, b{numbers(call.b), call.ldb, call.op_b};
  const ComplexNumber<T> alpha = number(call.alpha), beta = number(call.beta);
  const bool scales = call.k == 0 || call.alpha == 0.0;
  constexpr Index complex_segment = canonical_segment / 2;
  for (Index i = 0; i < call.m; ++i)
    for (Index j = 0; j < call.n; ++j) {
      ComplexNumber<T>& c = static_cast<ComplexNumber<T>*>(call.c)[i * call.ldc + j];
      if (scales) {
        c = call.beta == 0.0 ? ComplexNumber<T>{0, 0} : scaled(beta, c);
        continue;
      }
      ComplexNumber<T> sum{0, 0};
      for (Index first = 0; first < call.k; first += complex_segment) {
        const auto segment = segment_sum(a, b, i, j, first, std::min(first + complex_segment, call.k));
        sum = first == 0 ? segment : ComplexNumber<T>{sum.re + segment.re, sum.im + segment.im};
      }
      const ComplexNumber<T> r = scaled(alpha, sum);
      c = call.beta == 0.0 ? r : added(beta, c, r);
    }
}

} // namespace

bool can_multiply_without_memory(const GemmCall& call) noexcept {
  return call.math == Math::Strict && call.result == call.type && !is_16_bit(call.type) && call.epilogue.empty();
}

void multiply_without_memory(const GemmCall& call) noexcept {
  const detail::ContractArithmetic contract;
  call.type == DType::F64 ? multiply(GemmOperands<double>(call)) : multiply(GemmOperands<float>(call));
}

void multiply_without_memory(const ComplexGemmCall& call) noexcept {
  const detail::ContractArithmetic contract;
  call.type == DType::F64 ? multiply<double>(call) : multiply<float>(call);
}

} // namespace tessera::host
