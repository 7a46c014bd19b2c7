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
  static_assert(32 % G::columns == 0 || G::columns % 32 == 0);
#pragma unroll
  for (int round = 0; round < G::rounds; ++round) {
    G::put(round, lane, [&](int row, int column, int result) {
      Vector<T> vector;
#pragma unroll
      for (int e = 0; e < width; ++e) vector.lane[e] = x.alpha * sums.at(result + e);
      *reinterpret_cast<Vector<T>*>(&staged.at[row][column]) = vector;
    });
    __syncwarp();
#pragma unroll
    for (int q = 0; q < each; ++q) {
      const int row = (q * 32 + lane) / G::columns, column = (q * 32 + lane) % G::columns;
      const Index in_c = i + G::row_of(round, row);
      if (in_c >= x.m || j + column >= x.n) continue;
      T* const to = x.c + in_c * x.ldc + j + column;
      const T result = staged.at[row][column];
      *to = x.beta == T{0} ? result : fused(x.beta, *to, result);
    }
    __syncwarp(); // all lanes have read this round's rows
  }
}

} // namespace tessera::cuda
