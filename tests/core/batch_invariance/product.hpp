#pragma once

/// Computes the rows of a comparison on an executor.

#include <algorithm>
#include <string>
#include <vector>

#include <tessera/batch.hpp>
#include <tessera/executor.hpp>
#include <tessera/half.hpp>

#include "comparison.hpp"

namespace tessera::batch_invariance {

/// Rows of C, or why a kernel of the ladder does not take the product.
template <class R>
struct Answer {
  std::vector<R> rows;
  std::string rejection;
};

/// Computes the rows `first` … `first + count` of the comparison's product, and returns the ones that are compared.
/// `kernel` is a kernel of the executor's ladder, or empty for its own choice. Throws for any failure but a rejection.
template <class T, class R>
Answer<R> compute(Executor& executor, const std::string& kernel, Math math, const Comparison& x, bool together) {
  const Layout& layout = together ? x.together : x.alone;
  const Index begin = together ? 0 : x.first, count = together ? x.m : x.rows;
  const bool turned_a = layout.op_a == Op::Transpose, turned_b = layout.op_b == Op::Transpose;
  conformance::Guarded<T> a(executor, turned_a ? x.k : count, turned_a ? count : x.k, layout.a);
  conformance::Guarded<T> b(executor, turned_b ? x.n : x.k, turned_b ? x.k : x.n, layout.b);
  conformance::Guarded<R> c(executor, count, x.n, layout.c);
  for (Index i = 0; i < count; ++i)
    for (Index p = 0; p < x.k; ++p) (turned_a ? a.at(p, i) : a.at(i, p)) = static_cast<T>(x.a(begin + i, p));
  for (Index p = 0; p < x.k; ++p)
    for (Index j = 0; j < x.n; ++j) (turned_b ? b.at(j, p) : b.at(p, j)) = static_cast<T>(x.b(p, j));
  for (Index i = 0; x.beta != 0 && i < count; ++i)
    for (Index j = 0; j < x.n; ++j) c.at(i, j) = static_cast<R>(x.c(begin + i, j));
  a.upload();
  b.upload();
  c.upload();
  const GemmCall call{{.type = dtype_of<T>,
                       .math = math,
                       .op_a = layout.op_a,
                       .op_b = layout.op_b,
                       .m = count,
                       .n = x.n,
                       .k = x.k,
                       .alpha = x.alpha,
                       .a = a.data(),
                       .lda = a.ld(),
                       .b = b.data(),
                       .ldb = b.ld(),
                       .beta = x.beta,
                       .c = c.data(),
                       .ldc = c.ld()},
                      dtype_of<R>};
  Status status;
  if (together && x.in_batch) {
    GemmBatch batch{.call = call, .count = x.m / x.rows, .stride_a = x.rows * a.ld(), .stride_c = x.rows * c.ld()};
    batch.call.m = x.rows;
    status = executor.gemm_batch(executor.default_queue(), {&batch, 1}, kernel);
  } else {
    status = executor.gemm(executor.default_queue(), call, kernel);
  }
  if (status.code == StatusCode::Rejected) return {{}, status.why};
  throw_if_failed(status);
  throw_if_failed(executor.default_queue().synchronize());
  c.download();
  Answer<R> answer;
  for (Index i = x.first - begin; i < x.first - begin + x.rows; ++i)
    for (Index j = 0; j < x.n; ++j) answer.rows.push_back(c.at(i, j));
  return answer;
}

} // namespace tessera::batch_invariance
