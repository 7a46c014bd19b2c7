/// gold: the serial triple loop against which errors and speeds of other kernels are measured.
///
/// f32, f16 and bf16 accumulate in double, f64 in a pair of doubles (Dekker, Knuth), which is about 106 bits. The sum
/// is rounded once, at the end. The kernel does 2·m·n·k operations (many more in f64) and reuses nothing on purpose.

#include <cmath>

#include <tessera/half.hpp>

#include "ladder.hpp"
#include "reference/fma_clones.hpp"

namespace tessera::reference {
namespace {

/// The value high + low.
struct Pair {
  double high = 0;
  double low = 0;
};

/// Returns sum + x·y. The rounding errors of the product and of the addition are kept in `low`.
inline Pair add_product(Pair sum, double x, double y) {
  const double product = x * y;
  const double product_error = std::fma(x, y, -product);
  const double high = sum.high + product;
  const double part = high - sum.high;
  const double addition_error = (sum.high - (high - part)) + (product - part);
  return {high, sum.low + (product_error + addition_error)};
}

/// Returns the inner product of two vectors of k elements, `step_a` and `step_b` elements apart.
template <class T>
double inner(const T* a, Index step_a, const T* b, Index step_b, Index k) { // 16-bit elements
  double sum = 0;
  for (Index p = 0; p < k; ++p) sum += double{a[p * step_a]} * double{b[p * step_b]};
  return sum;
}
TESSERA_FMA_CLONES double inner(const float* a, Index step_a, const float* b, Index step_b, Index k) {
  double sum = 0;
  for (Index p = 0; p < k; ++p) sum += static_cast<double>(a[p * step_a]) * static_cast<double>(b[p * step_b]);
  return sum;
}
TESSERA_FMA_CLONES Pair inner(const double* a, Index step_a, const double* b, Index step_b, Index k) {
  Pair sum;
  for (Index p = 0; p < k; ++p) sum = add_product(sum, a[p * step_a], b[p * step_b]);
  return sum;
}

/// Return alpha·sum + beta·c, rounded once to C's type.
template <class R>
R scale_and_round(double sum, float alpha, float beta, const R* c) {
  const double r = static_cast<double>(alpha) * sum;
  return static_cast<R>(beta == 0.0f ? r : std::fma(static_cast<double>(beta), static_cast<double>(*c), r));
}
double scale_and_round(Pair sum, double alpha, double beta, const double* c) {
  if (!std::isfinite(sum.high)) { // the error terms of Inf and NaN mean nothing
    const double r = alpha * sum.high;
    return beta == 0.0 ? r : std::fma(beta, *c, r);
  }
  Pair r = add_product({alpha * sum.low, 0}, alpha, sum.high);
  if (beta != 0.0) r = add_product(r, beta, *c);
  return std::isfinite(r.high) ? r.high + r.low : r.high;
}

template <class T, class R>
void multiply(const GemmOperands<T, R>& x) {
  for (Index i = 0; i < x.m; ++i)
    for (Index j = 0; j < x.n; ++j) {
      const auto sum =
          inner(&x.at_a(i, 0), x.op_a == Op::None ? 1 : x.lda, &x.at_b(0, j), x.op_b == Op::None ? x.ldb : 1, x.k);
      R& c = x.c[i * x.ldc + j];
      c = scale_and_round(sum, x.alpha, x.beta, &c);
    }
}

template <class T>
Status run(const GemmKernel&, Executor&, Queue&, const GemmCall& call) noexcept {
  call.result == call.type ? multiply(GemmOperands<T>(call)) : multiply(GemmOperands<T, Scalar<T>>(call));
  return {};
}

template <class T>
constexpr GemmKernel rung{.name = "gold",
                          .summary = "serial triple loop, accumulates in higher precision",
                          .source = "textbook",
                          .type = dtype_of<T>,
                          .accumulator = Accumulator::Wider,
                          .run = run<T>};

} // namespace

const GemmKernel gold_f32 = rung<float>;
const GemmKernel gold_f64 = rung<double>;
const GemmKernel gold_f16 = rung<f16>;
const GemmKernel gold_bf16 = rung<bf16>;

} // namespace tessera::reference
