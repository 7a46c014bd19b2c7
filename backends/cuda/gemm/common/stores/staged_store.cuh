#pragma once

/// Stores a warp's results by way of shared memory, for C whose rows do not begin at whole vectors.
///
/// Straight from registers, a warp's store would touch a part of some 18 sectors of the L2 cache for 32 results,
/// because each lane has neighbours of a row. Here the lanes exchange a few rows at a time, and then store 32
/// neighbours of a row together, which are five sectors in f32. Reads of C for beta go the same way.
///
/// A geometry G describes the lanes' results:
/// - G::rounds, G::rows: how often the lanes exchange, and rows of the warp in each exchange.
/// - G::columns: columns of the warp's results.
/// - G::row_of(round, row): where row `row` of a round lies in the warp's tile.
/// - G::put(round, lane, f): calls f(row, column, result) for each vector that the lane has in this round; `result` is
///   the number of its first sum.

#include "cuda/gemm/common/operands.cuh"
#include "cuda/gemm/common/tile_loader.cuh"

namespace tessera::cuda {

/// Shared memory of a warp. Lines are longer by half of the banks: the vectors that eight lanes write together lie in
/// one line, or in halves of two neighbouring lines, and so in different banks.
template <class T, class G>
struct StagedRows {
  alignas(16) T at[G::rows][G::columns + 64 / sizeof(T)];
};

/// C := alpha·sum + beta·C for a warp's results, of which the first one is C(i, j).
template <class G, class T, class Sums>
__device__ void store_staged(const StridedOperands<T>& x, Index i, Index j, const Sums& sums, int lane,
                             StagedRows<T, G>& staged) {
  constexpr int width = Vector<T>::width, each = G::rows * G::columns / 32; // `each`: results of a lane in a round
  constexpr int most = sizeof(T) == 4 ? 16 : 8;
  constexpr int together = each < most ? each : most; // results that are on their way at once
  static_assert(32 % G::columns == 0 || G::columns % 32 == 0);
  static_assert(each % together == 0);
#pragma unroll
  for (int round = 0; round < G::rounds; ++round) {
    G::put(round, lane, [&](int row, int column, int result) {
      Vector<T> vector;
#pragma unroll
      for (int e = 0; e < width; ++e) vector.lane[e] = x.alpha * sums.at(result + e);
      *reinterpret_cast<Vector<T>*>(&staged.at[row][column]) = vector;
    });
    __syncwarp();
    // Several results are read before the first of them is stored, because a lane would wait for each read.
#pragma unroll
    for (int first = 0; first < each; first += together) {
      T result[together];
      /// Calls f(result, row and column among the staged ones).
      const auto for_each = [&](auto f) {
#pragma unroll
        for (int q = 0; q < together; ++q) {
          const int number = (first + q) * 32 + lane;
          f(result[q], number / G::columns, number % G::columns);
        }
      };
      /// Calls f(result, row and column among the staged ones, its place in C) for the results that are in C.
      const auto for_each_in_c = [&](auto f) {
        for_each([&](T& one, int row, int column) {
          const Index in_c = i + G::row_of(round, row);
          if (in_c < x.m && j + column < x.n) f(one, row, column, x.c + in_c * x.ldc + j + column);
        });
      };
      if (x.beta == T{0}) {
        for_each([&](T& one, int row, int column) { one = staged.at[row][column]; });
      } else {
        for_each_in_c([](T& one, int, int, const T* old) { one = *old; });
        for_each_in_c([&](T& one, int row, int column, const T*) { one = fused(x.beta, one, staged.at[row][column]); });
      }
      for_each_in_c([](const T& one, int, int, T* to) { *to = one; });
    }
    __syncwarp(); // all lanes have read this round's rows
  }
}

} // namespace tessera::cuda
