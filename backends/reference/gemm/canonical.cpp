/// canonical: the contract of Math::Strict, written down as code.
///
/// Each element of C is one chain of fused multiply-adds in ascending k within a segment of 1024; the segments' sums
/// are added in ascending order. The loop over j is inside the loop over k, so that B streams and the compiler can use
/// vectors: a vector holds the chains of several elements, and the order within a chain stays. The kernel is serial. It
/// does 2·m·n·k operations and reads B m times. 16-bit elements are widened to f32; the result is rounded to C's type
/// once.

#include <algorithm>
#include <cmath>
#include <new>
#include <type_traits>
#include <vector>

#include <tessera/backend/out_of_memory.hpp>
#include <tessera/half.hpp>

#include "finish_row.hpp"
#include "ladder.hpp"
#include "reference/fma_clones.hpp"

namespace tessera::reference {
namespace {

/// sum[j] := fma(a, b[j], sum[j]), for j < n.
TESSERA_FMA_CLONES void extend_chains(float a, const float* b, float* sum, Index n) {
  for (Index j = 0; j < n; ++j) sum[j] = std::fma(a, b[j], sum[j]);
}
TESSERA_FMA_CLONES void extend_chains(double a, const double* b, double* sum, Index n) {
  for (Index j = 0; j < n; ++j) sum[j] = std::fma(a, b[j], sum[j]);
}

/// Makes row i of C, of n elements, of their sums.
TESSERA_FMA_CLONES void finish(float alpha, float beta, const Epilogue& end, Index i, Index n, float* sums, float* c) {
  host::finish_row(alpha, beta, end, i, 0, n, sums, c);
}
TESSERA_FMA_CLONES void finish(float alpha, float beta, const Epilogue& end, Index i, Index n, float* sums, f16* c) {
  host::finish_row(alpha, beta, end, i, 0, n, sums, c);
}
TESSERA_FMA_CLONES void finish(float alpha, float beta, const Epilogue& end, Index i, Index n, float* sums, bf16* c) {
  host::finish_row(alpha, beta, end, i, 0, n, sums, c);
}
TESSERA_FMA_CLONES void finish(double alpha, double beta, const Epilogue& end, Index i, Index n, double* sums,
                               double* c) {
  host::finish_row(alpha, beta, end, i, 0, n, sums, c);
}

/// Returns the rows of op(B) in the type that is computed with, and their leading dimension. It copies them to `copy`
/// unless B is stored in this way already.
template <class T, class R>
const Scalar<T>* rows_of_b(const GemmOperands<T, R>& x, std::vector<Scalar<T>>& copy, Index& ld) {
  ld = x.ldb;
  if constexpr (std::is_same_v<T, Scalar<T>>)
    if (x.op_b == Op::None) return x.b;
  copy = sized_vector<Scalar<T>>(static_cast<std::size_t>(x.k * x.n), "a copy of op(B)");
  for (Index j = 0; j < x.n; ++j)
    for (Index p = 0; p < x.k; ++p) copy[static_cast<std::size_t>(p * x.n + j)] = x.at_b(p, j);
  ld = x.n;
  return copy.data();
}

template <class T, class R>
void multiply(const GemmOperands<T, R>& x, const Epilogue& epilogue) {
  using S = Scalar<T>;
  std::vector<S> copy;
  Index ldb = 0;
  const S* b = rows_of_b(x, copy, ldb);
  auto segment = sized_vector<S>(static_cast<std::size_t>(x.n), "the sums of a row");
  auto sum = sized_vector<S>(static_cast<std::size_t>(x.n), "the sums of a row");
  for (Index i = 0; i < x.m; ++i) {
    for (Index first = 0; first < x.k; first += canonical_segment) {
      std::fill(segment.begin(), segment.end(), S{0});
      const Index last = std::min(first + canonical_segment, x.k);
      for (Index p = first; p < last; ++p) extend_chains(x.at_a(i, p), b + p * ldb, segment.data(), x.n);
      for (std::size_t j = 0; j < sum.size(); ++j) sum[j] = first == 0 ? segment[j] : sum[j] + segment[j];
    }
    finish(x.alpha, x.beta, epilogue, i, x.n, sum.data(), x.c + i * x.ldc);
  }
}

template <class T>
Status run(const GemmKernel&, Executor&, Queue&, const GemmCall& call) noexcept try {
  visit(call.result, [&]<class R>(std::type_identity<R>) {
    if constexpr (ResultOf<R, T>) multiply(GemmOperands<T, R>(call), call.epilogue);
  });
  return {};
} catch (const std::bad_alloc& error) {
  return out_of_memory(error);
}

template <class T>
constexpr GemmKernel rung{.name = "canonical",
                          .summary = "the contract as code: one FMA chain a segment, serial",
                          .source = "Tessera",
                          .type = dtype_of<T>,
                          .summation = Summation::Canonical,
                          .run = run<T>,
                          .epilogue = true,
                          .narrows = true};

} // namespace

const GemmKernel canonical_f32 = rung<float>;
const GemmKernel canonical_f64 = rung<double>;
const GemmKernel canonical_f16 = rung<f16>;
const GemmKernel canonical_bf16 = rung<bf16>;

} // namespace tessera::reference
