#pragma once

/// What both factorisations of a block do between strips of columns: the sums of the columns right of a strip go on.

#include "block_shared.cuh"
#include "cuda/panel/vectors.cuh"

namespace tessera::cuda {

/// Goes on with the sums of the columns from `begin` on. The strip's factors of a row are in the row's columns from
/// `first` on; factors(col, to) reads the ones of a column; is_wanted(row, col) says which rows have sums. A warp has
/// 32 columns and 16 rows at a time, so that the rows' factors are read once for all lanes.
template <class T, class Factors, class IsWanted>
__device__ __forceinline__ void extend_sums_right(const BlockShared<T>& shared, int rows, int cols, int first,
                                                  int begin, const Factors& factors, const IsWanted& is_wanted) {
  constexpr int rows_of_item = 16, at_once = 4, strip = block_strip<T>;
  const int lane = static_cast<int>(threadIdx.x) % 32, warps = static_cast<int>(blockDim.x) / 32;
  const int groups = (cols - begin + 31) / 32, items = groups * ((rows + rows_of_item - 1) / rows_of_item);
#pragma unroll 1
  for (int item = static_cast<int>(threadIdx.x) / 32; item < items; item += warps) {
    const int own = begin + item % groups * 32 + lane, col = own < cols ? own : cols - 1;
    const int top = item / groups * rows_of_item;
    if (!is_wanted.any_of(top, rows_of_item, begin + item % groups * 32)) continue;
    T factor[strip];
    factors(col, factor);
#pragma unroll 1
    for (int row = top; row < top + rows_of_item && row < rows; row += at_once) {
      T sums[at_once];
      bool is_one[at_once];
      int rows_here[at_once];
#pragma unroll
      for (int q = 0; q < at_once; ++q) {
        rows_here[q] = row + q < rows ? row + q : row;
        is_one[q] = own < cols && row + q < rows && is_wanted(rows_here[q], own);
        sums[q] = is_one[q] ? shared.at(rows_here[q], col) : T{};
      }
#pragma unroll
      for (int q = 0; q < at_once; ++q) {
        T of_row[strip];
        read_vectors(of_row, &shared.at(rows_here[q], first));
#pragma unroll
        for (int k = 0; k < strip; ++k) sums[q] = multiply_add(of_row[k], factor[k], sums[q]);
      }
#pragma unroll
      for (int q = 0; q < at_once; ++q)
        if (is_one[q]) shared.at(rows_here[q], own) = sums[q];
    }
  }
}

} // namespace tessera::cuda
