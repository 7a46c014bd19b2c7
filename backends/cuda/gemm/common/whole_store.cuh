#pragma once

/// A thread's results to C with one look at C's edge, not one for each vector with its elements: 350 instructions for
/// 128 results in f32 instead of 3200, which a warp would fetch anew for each tile. Where no vector reaches over the
/// edge, whole ones are left out; else results pass through local memory, one after the other.

#include "canonical.cuh"
#include "tile_loader.cuh"

namespace tessera::cuda {

/// C := alpha·sum + beta·C for the vectors v of a thread's results that are inside(v); at(v) is where in C.
template <int width, class T, class Sums, class At, class Inside>
__device__ void store_vectors(const VectorOperands<T>& x, const Sums& sums, At at, Inside inside) {
  constexpr int vectors = Sums::count / width;
  constexpr int together = vectors < 8 ? vectors : 8; ///< reads of C under way
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

/// Code for whole vectors at C's edge is 500 instructions more, which moves the registers of a kernel's main loop.
enum class Edges { Unrolled, Rolled };

/// For the thread whose first result is C(i, j). Vector v of its results, those from v·width on, begins at place(v)
/// from there; both coordinates of the last one are the largest.
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
