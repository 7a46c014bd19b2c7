/// A triangle and many columns of unknowns, which are solved side by side; of complex numbers also rows of unknowns.
///
/// Unknowns are found in groups of 8, one after another. A thread has a column, and of it
/// every fourth group, whose right-hand sides and sums are in registers: so four warps share a column's work. The warp
/// that has found a group puts it into shared memory, where the triangle lies too, by columns; then all warps add its
/// terms to their sums.

#include "async_copy.cuh"
#include "cuda/device/shared_memory.hpp"
#include "cuda/device/status.hpp"
#include "cuda/queue/stream.hpp"
#include "number.cuh"
#include "panel.hpp"
#include "substitution.cuh"
#include "vectors.cuh"

namespace tessera::cuda {
namespace {

constexpr int size = static_cast<int>(most_panel_columns);
constexpr int columns = 32; ///< of a block, one a lane
constexpr int group = 8;
constexpr int parts = 4; ///< warps
constexpr int threads = parts * columns;
constexpr int groups = size / group / parts; ///< of a thread

template <class T>
struct Columns {
  T* x;
  Index ldx;
  const T* s;
  Index lds;
  const T* t;
  Index ldt;
  int size; ///< the rest, up to most_panel_columns, is made a unit matrix
  Index count;
};

template <class T>
struct ColumnsShared {
  static constexpr int padding = 16 / sizeof(T);
  alignas(16) T triangle[size][size + padding]; ///< column by column
  DiagonalNumber<T> diagonal[size];
  T x[2][group][columns]; ///< the group that was found last, and the one before
};

/// The triangle of the group that begins at `base`.
template <class T, bool are_rows>
struct GroupTriangle {
  __device__ __forceinline__ void column(int c, T (&to)[group]) const {
    read_vectors(to, &shared.triangle[base + c][base]);
  }
  __device__ __forceinline__ const DiagonalNumber<T>& diagonal(int c) const { return shared.diagonal[base + c]; }
  /// Returns the chain that goes on with t·x, or with x·t where the unknowns are rows.
  static __device__ __forceinline__ T extended(T t, T x, T sum) {
    return are_rows ? multiply_add(x, t, sum) : multiply_add(t, x, sum);
  }

  const ColumnsShared<T>& shared;
  int base;
};

/// Adds the terms of the unknowns of the group at `found` to the sums of the group at `base`.
template <bool are_rows, class T>
__device__ __forceinline__ void extend_group(const ColumnsShared<T>& shared, int found, int base,
                                             const T (&unknowns)[group][columns], int lane, T (&sums)[group]) {
#pragma unroll
  for (int k = 0; k < group; ++k) {
    T column[group];
    read_vectors(column, &shared.triangle[found + k][base]);
    const T x = unknowns[k][lane];
#pragma unroll
    for (int i = 0; i < group; ++i) sums[i] = GroupTriangle<T, are_rows>::extended(column[i], x, sums[i]);
  }
}

template <class T, bool has_unit_diagonal>
__device__ void fetch_triangle(const Columns<T>& p, ColumnsShared<T>& shared) {
  constexpr int at_once = threads / size;
  const int me = static_cast<int>(threadIdx.x), col = me % size;
#pragma unroll 4
  for (int i = me / size; i < size; i += at_once) {
    const bool is_read = i < p.size && (has_unit_diagonal ? col < i : col <= i);
    copy_async(&shared.triangle[col][i], is_read ? p.t + i * p.ldt + col : p.t, is_read);
  }
}

template <class T, bool has_unit_diagonal, bool are_rows>
__global__ void __launch_bounds__(threads) solve(Columns<T> p) {
  extern __shared__ __align__(16) unsigned char memory[];
  ColumnsShared<T>& shared = *reinterpret_cast<ColumnsShared<T>*>(memory);
  fetch_triangle<T, has_unit_diagonal>(p, shared);
  const int me = static_cast<int>(threadIdx.x), lane = me % columns, part = me / columns;
  const Index col = static_cast<Index>(blockIdx.x) * columns + lane;
  const auto is_one = [&](int row) { return col < p.count && row < p.size; };
  const auto place = [&](int row, Index ld) { return are_rows ? col * ld + row : row * ld + col; };
  T b[groups][group], sums[groups][group];
#pragma unroll
  for (int h = 0; h < groups; ++h)
#pragma unroll
    for (int c = 0; c < group; ++c) {
      const int row = (h * parts + part) * group + c;
      b[h][c] = is_one(row) ? p.x[place(row, p.ldx)] : T{};
      sums[h][c] = is_one(row) ? p.s[place(row, p.lds)] : T{};
    }
  wait_for_copies();
  __syncthreads();
  if (!has_unit_diagonal) {
    if (me < size) {
      if (me >= p.size) shared.triangle[me][me] = real_number<T>(1);
      shared.diagonal[me] = diagonal_number(shared.triangle[me][me]);
    }
    __syncthreads();
  }
#pragma unroll
  for (int h = 0; h < groups; ++h)
#pragma unroll 1
    for (int q = 0; q < parts; ++q) {
      const int base = (h * parts + q) * group;
      if (part == q) {
        T x[group];
        const GroupTriangle<T, are_rows> triangle{shared, base};
        if (!substitute<has_unit_diagonal, true>(triangle, b[h], sums[h], x))
          substitute<has_unit_diagonal, false>(triangle, b[h], sums[h], x);
#pragma unroll
        for (int c = 0; c < group; ++c) {
          shared.x[q % 2][c][lane] = x[c];
          if (is_one(base + c)) p.x[place(base + c, p.ldx)] = x[c];
        }
      }
      __syncthreads();
#pragma unroll
      for (int later = h; later < groups; ++later)
        if (const int own = (later * parts + part) * group; own > base)
          extend_group<are_rows>(shared, base, own, shared.x[q % 2], lane, sums[later]);
    }
}

template <class T, bool has_unit_diagonal, bool are_rows>
Status run(Queue& queue, const PanelCall& call) noexcept {
  const cudaStream_t stream = stream_of(queue);
  const auto kernel = solve<T, has_unit_diagonal, are_rows>;
  if (Status status = allow_most_shared(kernel, "triangular solution"); !status.ok()) return status;
  const Index count = are_rows ? call.rows : call.cols, unknowns = are_rows ? call.cols : call.rows;
  kernel<<<static_cast<unsigned>((count + columns - 1) / columns), threads, sizeof(ColumnsShared<T>), stream>>>(
      {static_cast<T*>(call.a), call.lda, static_cast<const T*>(call.s), call.lds, static_cast<const T*>(call.t),
       call.ldt, static_cast<int>(unknowns), count});
  return launched("triangular solution");
}

template <class T, bool are_rows>
Status run(Queue& queue, const PanelCall& call) noexcept {
  return call.has_unit_diagonal ? run<T, true, are_rows>(queue, call) : run<T, false, are_rows>(queue, call);
}

} // namespace

Status find_room_for_solution(const Executor& executor, const PanelCall& call) noexcept {
  return for_number_of(call, [&]<class T>(T) -> Status {
    if (executor.capabilities().shared_memory_per_block >= sizeof(ColumnsShared<T>)) return {};
    return {StatusCode::Rejected, "a triangle that takes more shared memory than a block has"};
  });
}
Status solve_columns(Executor& executor, Queue& queue, const PanelCall& call) noexcept {
  if (Status status = find_room_for_solution(executor, call); !status.ok()) return status;
  return for_number_of(call, [&]<class T>(T) { return run<T, false>(queue, call); });
}
Status solve_rows(Executor& executor, Queue& queue, const PanelCall& call) noexcept {
  if (!call.is_complex) return {StatusCode::Rejected, "rows of real unknowns; their transposes are columns"};
  if (Status status = find_room_for_solution(executor, call); !status.ok()) return status;
  return call.type == DType::F32 ? run<Complex<float>, true>(queue, call) : run<Complex<double>, true>(queue, call);
}

} // namespace tessera::cuda
