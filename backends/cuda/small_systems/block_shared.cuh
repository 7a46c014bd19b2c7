#pragma once

/// The memory of a block that has one system: the matrix, as it becomes L and U or L, and what steps exchange. The
/// matrix is in shared memory, or in global memory where it is too large.

#include "cuda/panel/pivot.cuh"
#include "systems.cuh"

namespace tessera::cuda {

/// The columns that are factored between two updates of the columns right of them: as many as registers hold.
template <class T>
inline constexpr int block_strip = sizeof(T) == 16 ? 8 : 16;
constexpr int most_block_threads = 512;
constexpr int most_block_warps = most_block_threads / 32;

/// Returns the numbers from one row of the matrix to the next: whole vectors, and an odd number of them, so that rows
/// of a column are in different banks as far as they can be.
template <class T>
__host__ __device__ constexpr int block_ld(int cols) {
  constexpr int vector = 16 / static_cast<int>(sizeof(T));
  return ((cols + vector - 1) / vector | 1) * vector;
}

template <class T>
struct BlockShared {
  T* matrix; ///< rows of block_ld() numbers. Right of the strip, what will be subtracted from rows that are no pivots'
  int ld;
  T (*offers)[most_block_warps][block_strip<T>]; ///< two: of a column's best row of each warp, and the column's before
  Candidate (*candidates)[most_block_warps];
  int (*candidate_rows)[most_block_warps];
  T* unknowns;  ///< for each warp that solves, as many as there are rows
  int* row_at;  ///< the row of the memory that is each row of P·A
  int* source;  ///< the row of B that is each row of P·B
  int* pivots;  ///< the place with which each place was exchanged
  int* is_done; ///< for each row of the memory: it has its place
  int* failed;  ///< the number of the first step that failed, from 1 on, or 0

  __device__ T& at(int i, int j) const { return matrix[i * ld + j]; }
};

/// Keeps the compiler from moving loads of an unrolled loop's later steps before its earlier ones, for which there are
/// not enough registers.
__device__ __forceinline__ void keep_loads_here() { asm volatile("" ::: "memory"); }

/// Returns how many rows the arrays have room for.
__host__ __device__ constexpr int block_rows(int m, int n) { return m > n ? m : n; }

/// Returns how many of a block's warps solve: of complex numbers of f64 fewer, because each needs memory for unknowns.
template <class T>
__host__ __device__ constexpr int solving_warps(int threads) {
  constexpr int most = sizeof(T) == 16 ? 8 : most_block_warps;
  return threads / 32 < most ? threads / 32 : most;
}

/// Returns the numbers of a matrix in the block's memory, and some more, which a strip at the end of a row may read.
template <class T>
__host__ __device__ constexpr int block_numbers(int rows, int ld) {
  return rows * ld + block_strip<T>;
}

/// Returns the numbers from one block's matrix in global memory to the next one's: whole lines.
template <class T>
__host__ __device__ constexpr Index block_stride(int m, int n) {
  constexpr int line = 128 / static_cast<int>(sizeof(T));
  return (block_numbers<T>(block_rows(m, n), block_ld<T>(n)) + line - 1) / line * line;
}

/// Returns the bytes of shared memory for a system, with `threads` threads.
template <class T, bool holds_matrix>
constexpr std::size_t block_bytes(int m, int n, int threads) {
  const auto size = [](std::size_t count, std::size_t one) { return (count * one + 15) / 16 * 16; };
  const auto rows = static_cast<std::size_t>(block_rows(m, n)),
             warps = static_cast<std::size_t>(solving_warps<T>(threads));
  const int numbers = holds_matrix ? block_numbers<T>(block_rows(m, n), block_ld<T>(n)) : 0;
  return size(static_cast<std::size_t>(numbers), sizeof(T)) +
         size(std::size_t{2} * most_block_warps * block_strip<T>, sizeof(T)) +
         size(std::size_t{2} * most_block_warps, sizeof(Candidate)) +
         size(std::size_t{2} * most_block_warps, sizeof(int)) + size(warps * rows, sizeof(T)) +
         4 * size(rows, sizeof(int)) + 16;
}

/// Returns the parts of the memory, in the order in which block_bytes() counts them. `matrix` is its place in global
/// memory.
template <class T, bool holds_matrix>
__device__ BlockShared<T> split_block_memory(unsigned char* memory, T* matrix, int m, int n, int threads) {
  const int rows = block_rows(m, n);
  const auto take = [&memory](int count, int one) {
    unsigned char* const here = memory;
    memory += (count * one + 15) / 16 * 16;
    return here;
  };
  constexpr int number = static_cast<int>(sizeof(T)), integer = static_cast<int>(sizeof(int));
  BlockShared<T> shared{};
  shared.ld = block_ld<T>(n);
  if constexpr (holds_matrix)
    shared.matrix = reinterpret_cast<T*>(take(block_numbers<T>(rows, shared.ld), number));
  else
    shared.matrix = matrix;
  shared.offers =
      reinterpret_cast<T(*)[most_block_warps][block_strip<T>]>(take(2 * most_block_warps * block_strip<T>, number));
  shared.candidates =
      reinterpret_cast<Candidate(*)[most_block_warps]>(take(2 * most_block_warps, static_cast<int>(sizeof(Candidate))));
  shared.candidate_rows = reinterpret_cast<int(*)[most_block_warps]>(take(2 * most_block_warps, integer));
  shared.unknowns = reinterpret_cast<T*>(take(solving_warps<T>(threads) * rows, number));
  shared.row_at = reinterpret_cast<int*>(take(rows, integer));
  shared.source = reinterpret_cast<int*>(take(rows, integer));
  shared.pivots = reinterpret_cast<int*>(take(rows, integer));
  shared.is_done = reinterpret_cast<int*>(take(rows, integer));
  shared.failed = reinterpret_cast<int*>(take(1, integer));
  return shared;
}

} // namespace tessera::cuda
