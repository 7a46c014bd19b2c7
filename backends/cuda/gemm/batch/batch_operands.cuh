#pragma once

/// A product of a batch in the form in which the kernels of single products take theirs.

#include "cuda/gemm/common/tile_loader.cuh"
#include "groups.hpp"

namespace tessera::cuda {

/// Returns how sums are stored in the product whose result is `c`.
template <class T, class R>
__device__ EpilogueStore<Scalar<T>> epilogue_of(const BatchGroup<T, R>& x, R* c) {
  EpilogueStore<Scalar<T>> out;
  out.wanted = x.has_epilogue;
  out.result = dtype_of<R>;
  out.epilogue = x.epilogue;
  out.c = c;
  out.ldc = x.ldc;
  out.m = x.m;
  out.n = x.n;
  out.alpha = x.alpha;
  out.beta = x.beta;
  out.look_for_vectors();
  return out;
}

/// Returns the operands of product `number` of the group.
template <class T>
__device__ VectorOperands<T> operands_of(const BatchGroup<T>& x, unsigned number) {
  const auto product = x.product(number);
  VectorOperands<T> y;
  y.m = x.m;
  y.n = x.n;
  y.k = x.k;
  y.a = product.a;
  y.b = product.b;
  y.c = product.c;
  y.a_row = x.transpose_a ? 1 : x.lda;
  y.a_col = x.transpose_a ? x.lda : 1;
  y.b_row = x.transpose_b ? 1 : x.ldb;
  y.b_col = x.transpose_b ? x.ldb : 1;
  y.ldc = x.ldc;
  y.alpha = x.alpha;
  y.beta = x.beta;
  y.a_vectors = vectors_allowed(y.a, x.lda);
  y.b_vectors = vectors_allowed(y.b, x.ldb);
  y.c_vectors = vectors_allowed(y.c, x.ldc);
  y.epilogue = epilogue_of(x, y.c);
  return y;
}

} // namespace tessera::cuda
