/// A triangle and many columns of unknowns, which are solved side by side.
///
/// Unknowns are found in groups of 8, one after another. A thread has a column, and of it every fourth group, whose
/// right-hand sides and sums are in registers: so four warps share a column's work. The warp that has found a group
/// puts it into shared memory, where the triangle lies too, by columns; then all warps add its terms to their sums.

#include "async_copy.cuh"
#include "cuda/device/shared_memory.hpp"
#include "cuda/device/status.hpp"
#include "cuda/queue/stream.hpp"
#include "panel.hpp"
#include "triangle_group.cuh"

namespace tessera::cuda {
namespace {

constexpr int size = tile_rows;
constexpr int columns = lane_columns; ///< of a block
constexpr int group = group_rows;
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
  Tile<T> triangle;
  T reciprocal[size]; ///< of the diagonal
  UnknownTile<T> x;
};

template <class T, bool has_unit_diagonal>
__device__ void fetch_triangle(const Columns<T>& p, ColumnsShared<T>& shared) {
  constexpr int at_once = threads / size;
  const int me = static_cast<int>(threadIdx.x), col = me % size;
#pragma unroll 4
  for (int i = me / size; i < size; i += at_once) {
    const bool is_read = i < p.size && (has_unit_diagonal ? col < i : col <= i);
    copy_async(&shared.triangle.column[col][i], is_read ? p.t + i * p.ldt + col : p.t, is_read);
  }
}

template <class T, bool has_unit_diagonal>
__global__ void __launch_bounds__(threads) solve(Columns<T> p) {
  extern __shared__ __align__(16) unsigned char memory[];
  ColumnsShared<T>& shared = *reinterpret_cast<ColumnsShared<T>*>(memory);
  fetch_triangle<T, has_unit_diagonal>(p, shared);
  const int me = static_cast<int>(threadIdx.x), lane = me % columns, part = me / columns;
  const Index col = static_cast<Index>(blockIdx.x) * columns + lane;
  const auto is_one = [&](int row) { return col < p.count && row < p.size; };
  T b[groups][group], sums[groups][group];
#pragma unroll
  for (int h = 0; h < groups; ++h)
#pragma unroll
    for (int c = 0; c < group; ++c) {
      const int row = (h * parts + part) * group + c;
      b[h][c] = is_one(row) ? p.x[row * p.ldx + col] : T(0);
      sums[h][c] = is_one(row) ? p.s[row * p.lds + col] : T(0);
    }
  wait_for_copies();
  __syncthreads();
  if (!has_unit_diagonal) {
    if (me < size) {
      if (me >= p.size) shared.triangle.column[me][me] = 1;
      shared.reciprocal[me] = T(1) / shared.triangle.column[me][me];
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
        solve_group<has_unit_diagonal>(TriangleTile<T>{shared.triangle, shared.reciprocal}, base, b[h], sums[h], x);
#pragma unroll
        for (int c = 0; c < group; ++c) {
          shared.x.row[base + c][lane] = x[c];
          if (is_one(base + c)) p.x[(base + c) * p.ldx + col] = x[c];
        }
      }
      __syncthreads();
#pragma unroll
      for (int later = h; later < groups; ++later)
        if (const int own = (later * parts + part) * group; own > base)
          extend_group<group>(shared.triangle, shared.x, base, own, lane, sums[later]);
    }
}

template <class T, bool has_unit_diagonal>
Status run(Queue& queue, const PanelCall& call) noexcept {
  const cudaStream_t stream = stream_of(queue);
  const auto kernel = solve<T, has_unit_diagonal>;
  if (Status status = allow_most_shared(kernel, "triangular solution"); !status.ok()) return status;
  kernel<<<static_cast<unsigned>((call.cols + columns - 1) / columns), threads, sizeof(ColumnsShared<T>), stream>>>(
      {static_cast<T*>(call.a), call.lda, static_cast<const T*>(call.s), call.lds, static_cast<const T*>(call.t),
       call.ldt, static_cast<int>(call.rows), call.cols});
  return launched("triangular solution");
}

template <class T>
Status run(Queue& queue, const PanelCall& call) noexcept {
  return call.has_unit_diagonal ? run<T, true>(queue, call) : run<T, false>(queue, call);
}

} // namespace

Status solve_columns(Queue& queue, const PanelCall& call) noexcept {
  return call.type == DType::F32 ? run<float>(queue, call) : run<double>(queue, call);
}

} // namespace tessera::cuda
