#pragma once

/// A product of a batch as the kernels of single products see theirs.

#include "cuda/gemm/common/tile_loader.cuh"
#include "groups.hpp"

namespace tessera::cuda {

/// What is done with the sums of the product whose result is `c`.
template <class T, class R>
__device__ Finish<Scalar<T>> finish_of(const BatchGroup<T, R>& x, R* c) {
  Finish<Scalar<T>> finish;
  finish.wanted = x.finishes;
  finish.result = dtype_of<R>;
  finish.epilogue = x.epilogue;
  finish.c = c;
  finish.ldc = x.ldc;
  finish.m = x.m;
  finish.n = x.n;
  finish.alpha = x.alpha;
  finish.beta = x.beta;
  finish.look_for_vectors();
  return finish;
}

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
  y.a_row = x.flip_a ? 1 : x.lda;
  y.a_col = x.flip_a ? x.lda : 1;
  y.b_row = x.flip_b ? 1 : x.ldb;
  y.b_col = x.flip_b ? x.ldb : 1;
  y.ldc = x.ldc;
  y.alpha = x.alpha;
  y.beta = x.beta;
  y.a_vectors = vectors_allowed(y.a, x.lda);
  y.b_vectors = vectors_allowed(y.b, x.ldb);
  y.c_vectors = vectors_allowed(y.c, x.ldc);
  y.finish = finish_of(x, y.c);
  return y;
}

} // namespace tessera::cuda
