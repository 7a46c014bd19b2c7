/// canonical: the contract of Math::Strict, written down as code.
///
/// Each element of C is one chain of fused multiply-adds in ascending k within a segment of 1024; the segments' sums
/// are added in ascending order. The loop over j is inside the loop over k, so that B streams and the compiler can
/// use vectors: other elements' chains, never another order. Serial. 2·m·n·k operations; B is read m times.

#include <algorithm>
#include <cmath>
#include <new>
#include <vector>

#include "ladder.hpp"
#include "reference/fma_clones.hpp"

namespace tessera::reference {
namespace {

/// sum[j] = fma(a, b[j], sum[j]).
TESSERA_FMA_CLONES void extend_chains(float a, const float* b, float* sum, Index n) {
  for (Index j = 0; j < n; ++j) sum[j] = std::fma(a, b[j], sum[j]);
}
TESSERA_FMA_CLONES void extend_chains(double a, const double* b, double* sum, Index n) {
  for (Index j = 0; j < n; ++j) sum[j] = std::fma(a, b[j], sum[j]);
}

/// op(B), row by row and compact, if it is not that already.
template <class T>
const T* rows_of_b(const GemmOperands<T>& x, std::vector<T>& copy, Index& ld) {
  ld = x.ldb;
  if (x.op_b == Op::None) return x.b;
  copy.resize(static_cast<std::size_t>(x.k * x.n));
  for (Index j = 0; j < x.n; ++j)
    for (Index p = 0; p < x.k; ++p) copy[static_cast<std::size_t>(p * x.n + j)] = x.at_b(p, j);
  ld = x.n;
  return copy.data();
}

template <class T>
Status run(const GemmKernel&, Executor&, Queue&, const GemmCall& call) noexcept try {
  const GemmOperands<T> x(call);
  std::vector<T> copy;
  Index ldb = 0;
  const T* b = rows_of_b(x, copy, ldb);
  std::vector<T> segment(static_cast<std::size_t>(x.n));
  std::vector<T> sum(static_cast<std::size_t>(x.n));
  for (Index i = 0; i < x.m; ++i) {
    for (Index first = 0; first < x.k; first += canonical_segment) {
      std::fill(segment.begin(), segment.end(), T{0});
      const Index last = std::min(first + canonical_segment, x.k);
      for (Index p = first; p < last; ++p) extend_chains(x.at_a(i, p), b + p * ldb, segment.data(), x.n);
      for (std::size_t j = 0; j < sum.size(); ++j) sum[j] = first == 0 ? segment[j] : sum[j] + segment[j];
    }
    T* c = x.c + i * x.ldc;
    for (Index j = 0; j < x.n; ++j) {
      const T r = x.alpha * sum[static_cast<std::size_t>(j)];
      c[j] = x.beta == T{0} ? r : std::fma(x.beta, c[j], r);
    }
  }
  return {};
} catch (const std::bad_alloc&) {
  return {StatusCode::OutOfMemory, {}};
}

template <class T>
constexpr GemmKernel row{.name = "canonical",
                         .summary = "the contract as code: one FMA chain a segment, serial",
                         .source = "Tessera",
                         .type = dtype_of<T>,
                         .summation = Summation::Canonical,
                         .run = run<T>};

} // namespace

const GemmKernel canonical_f32 = row<float>;
const GemmKernel canonical_f64 = row<double>;

} // namespace tessera::reference
