#pragma once

/// Operands and results in vectors of 128 bits: where kernels may read and write them, and how an operand lies in
/// memory. `outer` is m for A and n for B. An operand is stored along k (A, Bᵀ) or along outer (Aᵀ, B), so that op(A)
/// and op(B) need one loader of tiles, not four.

#include "canonical.cuh"
#include "operands.cuh"
#include "shared_layout.hpp"

namespace tessera::cuda {

/// The direction in which an operand's elements are contiguous in memory.
enum class Along { K, Outer };

/// Returns whether a kernel may read the elements as vectors: the first one is aligned, and the stride of the other
/// direction keeps vectors aligned.
template <class T>
__host__ __device__ bool vectors_allowed(const T* data, Index stride) {
  return reinterpret_cast<std::uintptr_t>(data) % sizeof(Vector<T>) == 0 && stride % Vector<T>::width == 0;
}

/// StridedOperands, and for which matrices vectors are allowed.
template <class T>
struct VectorOperands : StridedOperands<T> {
  bool a_vectors, b_vectors, c_vectors;

  VectorOperands() = default;
  explicit VectorOperands(const GemmCall& call)
      : StridedOperands<T>(call),
        a_vectors(vectors_allowed(this->a, call.lda)),
        b_vectors(vectors_allowed(this->b, call.ldb)),
        c_vectors(vectors_allowed(this->c, call.ldc)) {}
};

/// One operand, seen from a block: outer×k elements. The block's tile starts at row (of A) or column (of B) `first`.
template <class T>
struct OperandSlice {
  const T* data;
  Index stride; ///< from one k to the next if stored along outer, from one outer to the next if stored along k
  Index first, outer, k;
  T padding;
  bool vectors;

  /// Returns a slice for a loader that starts at step k0.
  __host__ __device__ OperandSlice from(Index k0, Along along) const {
    OperandSlice later = *this;
    later.data += along == Along::K ? k0 : k0 * stride;
    return later;
  }
};

template <class T>
__host__ __device__ OperandSlice<T> slice_a(const VectorOperands<T>& x, Along along, Index first) {
  return {x.a, along == Along::K ? x.a_row : x.a_col, first, x.m, x.k, a_padding<T>, x.a_vectors};
}
template <class T>
__host__ __device__ OperandSlice<T> slice_b(const VectorOperands<T>& x, Along along, Index first) {
  return {x.b, along == Along::K ? x.b_col : x.b_row, first, x.n, x.k, b_padding<T>, x.b_vectors};
}

/// Reads `count` neighbours from shared memory, as vectors.
template <class T, int count>
__device__ void load_fragment(const T* shared, T* fragment) {
#pragma unroll
  for (int v = 0; v < count; v += Vector<T>::width) {
    const auto vector = *reinterpret_cast<const Vector<T>*>(shared + v);
#pragma unroll
    for (int e = 0; e < Vector<T>::width; ++e) fragment[v + e] = vector.lane[e];
  }
}

/// C := alpha·sum + beta·C for the elements of C that exist in the vector that starts at (i, j).
template <class T>
__device__ void store_vector(const VectorOperands<T>& x, Index i, Index j, const Vector<T>& sum) {
  constexpr int width = Vector<T>::width;
  if (i >= x.m) return;
  T* c = x.c + i * x.ldc + j;
  if (x.c_vectors && j + width <= x.n) {
    auto result = x.beta == T{0} ? Vector<T>{} : *reinterpret_cast<const Vector<T>*>(c);
#pragma unroll
    for (int e = 0; e < width; ++e) store_result(&result.lane[e], sum.lane[e], x.alpha, x.beta);
    *reinterpret_cast<Vector<T>*>(c) = result;
    return;
  }
#pragma unroll
  for (int e = 0; e < width; ++e)
    if (j + e < x.n) store_result(c + e, sum.lane[e], x.alpha, x.beta);
}

/// C := alpha·sum + beta·C for a thread's tile of rows×cols results, whose first one is C(i, j).
template <class T, int rows, int cols>
__device__ void store_tile(const VectorOperands<T>& x, Index i, Index j, const CanonicalTile<T, rows, cols>& sums) {
  constexpr int width = Vector<T>::width;
#pragma unroll
  for (int r = 0; r < rows; ++r)
#pragma unroll
    for (int v = 0; v < cols; v += width) {
      Vector<T> sum;
#pragma unroll
      for (int e = 0; e < width; ++e) sum.lane[e] = sums.value(r, v + e);
      store_vector(x, i + r, j + v, sum);
    }
}

/// Returns launch(a, b), with the directions of the call's operands as constants a.value and b.value.
template <class Launch>
auto with_layouts(const GemmCall& call, Launch launch) {
  using K = std::integral_constant<Along, Along::K>;
  using Outer = std::integral_constant<Along, Along::Outer>;
  const bool a_along_k = call.op_a == Op::None;
  const bool b_along_k = call.op_b == Op::Transpose;
  if (a_along_k) return b_along_k ? launch(K{}, K{}) : launch(K{}, Outer{});
  return b_along_k ? launch(Outer{}, K{}) : launch(Outer{}, Outer{});
}

} // namespace tessera::cuda
