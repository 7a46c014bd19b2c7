#pragma once

/// Rows and columns of C that a kernel of the ladder finds it cannot compute, because op(A)'s row or op(B)'s column has
/// elements that cannot be split. They are marked in device memory, and the strict product computes their results, and
/// no others (wgmma_packed/strict_lines.hpp).

#include <tessera/types.hpp>

#include "operands.cuh"

namespace tessera::cuda {

struct UnfitLines {
  int* any = nullptr;            ///< *any is not 0 if a line is marked; nullptr: no line ever is
  unsigned char* rows = nullptr; ///< of C: not 0 where the row is marked
  unsigned char* columns = nullptr;
  Index bytes = 0; ///< of all marks, from `any` on, a multiple of 16

  UnfitLines() = default;
  /// Lays out the marks of an m×n result. `memory` begins at a multiple of 16 bytes.
  UnfitLines(void* memory, Index m, Index n) noexcept
      : any(static_cast<int*>(memory)),
        rows(static_cast<unsigned char*>(memory) + 16),
        columns(rows + m),
        bytes(bytes_for(m, n)) {}
  static Index bytes_for(Index m, Index n) noexcept { return (16 + m + n + 15) / 16 * 16; }

#ifdef __CUDACC__
  __device__ bool found() const { return any != nullptr && *any != 0; }
  __device__ bool has(Index row, Index column) const { return (rows[row] | columns[column]) != 0; }
  __device__ void mark_row(Index row) const {
    rows[row] = 1;
    *any = 1;
  }
  __device__ void mark_column(Index column) const {
    columns[column] = 1;
    *any = 1;
  }
  /// Clears the marks; all threads of a grid call it with their number and count.
  __device__ void clear(Index thread, Index threads) const {
    for (Index at = thread; at < bytes / 16; at += threads) reinterpret_cast<uint4*>(any)[at] = make_uint4(0, 0, 0, 0);
  }
  /// Stores a sum through the epilogue, unless its row or column is marked.
  __device__ void store_if_fit(const EpilogueStore<float>& epilogue, Index row, Index column, float sum) const {
    if (row >= epilogue.m || column >= epilogue.n || has(row, column)) return;
    const float one[1][1]{{sum}};
    epilogue.store([&](int) -> ResultPlace { return {row, column}; }, one);
  }
#endif
};

} // namespace tessera::cuda
