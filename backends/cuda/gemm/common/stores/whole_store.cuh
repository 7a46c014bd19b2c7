#pragma once

/// Stores a thread's results with a single check against C's edge, instead of a check for each vector and each of its
/// elements: that is 350 instructions for 128 results in f32 instead of 3200, which a warp would fetch again for each
/// tile. If no vector reaches over the edge, vectors outside C are skipped whole; else the results pass through local
/// memory, one vector after the other.

#include "cuda/gemm/common/canonical.cuh"
#include "cuda/gemm/common/tile_loader.cuh"

namespace tessera::cuda {

/// C := alpha·sum + beta·C for the vectors v of a thread's results for which inside(v) is true; at(v) is the vector
/// in C.
template <int width, class T, class Sums, class At, class Inside>
__device__ void store_vectors(const VectorOperands<T>& x, const Sums& sums, At at, Inside inside) {
  constexpr int vectors = Sums::count / width;
  constexpr int together = vectors < 8 ? vectors : 8; ///< reads of C in flight
  static_assert(vectors % together == 0);
  const auto scaled = [&](int v, int e) { return x.alpha * sums.at(v * width + e); };
  if (x.beta == T{0}) {
#pragma unroll
    for (int v = 0; v < vectors; ++v) {
      Vector<T> result;
#pragma unroll
      for (int e = 0; e < width; ++e) result.lane[e] = scaled(v, e);
      if (inside(v)) at(v) = result;
    }
    return;
  }
#pragma unroll
  for (int first = 0; first < vectors; first += together) {
    Vector<T> result[together];
#pragma unroll
    for (int v = 0; v < together; ++v)
      if (inside(first + v)) result[v] = at(first + v);
#pragma unroll
    for (int v = 0; v < together; ++v) {
#pragma unroll
      for (int e = 0; e < width; ++e) result[v].lane[e] = fused(x.beta, result[v].lane[e], scaled(first + v, e));
      if (inside(first + v)) at(first + v) = result[v];
    }
  }
}

/// C := alpha·sum + beta·C for a thread's results one by one, where C's rows do not begin at whole vectors; at(v, e) is
/// the address of element e of vector v in C, and inside(v, e) says whether C has it.
template <int width, class T, class Sums, class At, class Inside>
__device__ void store_elements(const VectorOperands<T>& x, const Sums& sums, At at, Inside inside) {
  constexpr int together = Sums::count < 16 ? Sums::count : 16; ///< reads of C in flight
  static_assert(Sums::count % together == 0);
#pragma unroll
  for (int first = 0; first < Sums::count; first += together) {
    T old[together];
    if (x.beta != T{0}) {
#pragma unroll
      for (int r = 0; r < together; ++r)
        if (const int v = (first + r) / width, e = (first + r) % width; inside(v, e)) old[r] = *at(v, e);
    }
#pragma unroll
    for (int r = 0; r < together; ++r) {
      const int v = (first + r) / width, e = (first + r) % width;
      const T scaled = x.alpha * sums.at(first + r);
      if (inside(v, e)) *at(v, e) = x.beta == T{0} ? scaled : fused(x.beta, old[r], scaled);
    }
  }
}

/// Says whether there is unrolled code for whole vectors at C's edge (Unrolled) or only the loop (Rolled). The unrolled
/// code is 500 instructions, which changes the register allocation of a kernel's main loop.
enum class Edges { Unrolled, Rolled };

/// Stores the results of the thread whose first result is C(i, j). Vector v consists of `width` results from number
/// v·width on and begins at place(v), relative to (i, j); the last vector has the largest row and the largest column.
template <int width, Edges edges = Edges::Unrolled, class T, class Sums, class PlaceOf>
__device__ void store_whole(const VectorOperands<T>& x, Index i, Index j, const Sums& sums,
                            typename Sums::Totals& totals, PlaceOf place) {
  static_assert(width == Vector<T>::width);
  constexpr int vectors = Sums::count / width;
  constexpr ResultPlace last = place(vectors - 1);
  T* const c = x.c + i * x.ldc + j;
  const auto at = [&](int v) -> Vector<T>& {
    return *reinterpret_cast<Vector<T>*>(c + place(v).row * x.ldc + place(v).col);
  };
  const Index rows = x.m - i, cols = x.n - j;
  if (x.c_vectors && last.row < rows && last.col + width <= cols) [[likely]]
    return store_vectors<width>(x, sums, at, [](int) { return true; });
  if (edges == Edges::Unrolled && x.c_vectors && x.n % width == 0)
    return store_vectors<width>(x, sums, at, [&](int v) { return place(v).row < rows && place(v).col < cols; });
  // In f64 a lane's neighbours fill half a sector of memory, and the L2 cache puts the halves together.
  if constexpr (edges == Edges::Unrolled && sizeof(T) == 8)
    if (!x.c_vectors)
      return store_elements<width>(
          x, sums, [&](int v, int e) { return c + place(v).row * x.ldc + place(v).col + e; },
          [&](int v, int e) { return place(v).row < rows && place(v).col + e < cols; });
  const T* const held = held_in(totals, sums);
#pragma unroll 1
  for (int v = 0; v < vectors; ++v) {
    Vector<T> sum;
#pragma unroll
    for (int e = 0; e < width; ++e) sum.lane[e] = held[v * width + e];
    store_vector(x, i + place(v).row, j + place(v).col, sum);
  }
}

} // namespace tessera::cuda
