/// A whole triangle and a few columns of unknowns, by one launch.
///
/// Blocks of threads take turns with tiles of 64 rows: each adds the terms of the unknowns before to its sums, in
/// ascending order, while other blocks find these unknowns, and then finds its own. What the triangle has left of the
/// diagonal is on its way to shared memory meanwhile. A block waits for a counter of tiles that are done. All blocks
/// are resident at once; columns beyond 32 have other blocks and another counter.
///
/// Source of the idea: W. Liu, A. Li, J. Hogg, I. Duff, B. Vinter, "A Synchronization-Free Algorithm for Parallel
/// Sparse Triangular Solves", Euro-Par 2016.

#include <algorithm>

#include <cuda/atomic>

#include <tessera/backend/kernel.hpp>

#include "async_copy.cuh"
#include "cuda/device/status.hpp"
#include "cuda/queue/scratch.hpp"
#include "cuda/queue/stream.hpp"
#include "panel.hpp"
#include "team_launch.hpp"
#include "triangle_group.cuh"

namespace tessera::cuda {
namespace {

constexpr int warps = tile_rows / group_rows;
constexpr int block_threads = warps * lane_columns;
constexpr int stages = 4; ///< tiles on their way or in use
constexpr int tiles_of_segment = static_cast<int>(canonical_segment) / tile_rows;
using Counter = ::cuda::atomic_ref<unsigned, ::cuda::thread_scope_device>;

/// A matrix of which rows and columns may be counted from the last.
template <class T>
struct Strided {
  T* data;
  Index row_step, col_step;

  __device__ T* at(Index i, Index j) const { return data + i * row_step + j * col_step; }
};

template <class T>
struct WholeTriangle {
  Strided<const T> t;
  Strided<T> x;
  Index n, count;
  unsigned* done; ///< for each 32 columns, how many tiles of unknowns are there
};

template <class T>
struct WholeShared {
  Tile<T> tiles[stages];
  UnknownTile<T> unknowns[stages];
  T reciprocal[tile_rows];
  unsigned done[2]; ///< by turns, so that a thread can be one turn behind
};

template <class T, bool has_unit_diagonal>
class TriangleSolution {
 public:
  __device__ TriangleSolution(const WholeTriangle<T>& p, WholeShared<T>& shared)
      : p_(p),
        shared_(shared),
        lane_(static_cast<int>(threadIdx.x) % lane_columns),
        base_(static_cast<int>(threadIdx.x) / lane_columns * group_rows),
        col_(static_cast<Index>(blockIdx.y) * lane_columns + lane_),
        tiles_(static_cast<int>((p.n + tile_rows - 1) / tile_rows)) {}

  __device__ void run() {
    for (int own = static_cast<int>(blockIdx.x); own < tiles_; own += static_cast<int>(gridDim.x)) {
      __syncthreads(); // the stages are free
      begin(own);
      for (int k = 0; k < own; ++k) add(own, k);
      if (own == 0) {
        prepare_diagonal(0);
        __syncthreads();
      }
      find(own);
    }
  }

 private:
  __device__ bool is_one(Index row) const { return row < p_.n && col_ < p_.count; }
  __device__ Counter counter() const { return Counter(p_.done[blockIdx.y]); }

  /// Reads right-hand sides, and has the first tiles fetched.
  __device__ void begin(int own) {
    const Index row = static_cast<Index>(own) * tile_rows + base_;
#pragma unroll
    for (int c = 0; c < group_rows; ++c) {
      b_[c] = is_one(row + c) ? __ldcg(p_.x.at(row + c, col_)) : T(0);
      sums_[c] = T(0);
    }
    fetched_unknowns_ = 0;
    for (int k = 0; k < stages - 1; ++k) fetch(own, k);
  }

  /// Has tile k of the rows of `own` fetched, and unknowns if they are there. Each call ends a group of copies.
  __device__ void fetch(int own, int k) {
    if (k <= own) {
      fetch_tile(own, k);
      if (k < own && static_cast<unsigned>(k) < done_) fetch_unknowns(k);
    }
    end_group_of_copies();
  }

  __device__ void fetch_tile(int own, int k) {
    constexpr int at_once = block_threads / tile_rows;
    Tile<T>& tile = shared_.tiles[k % stages];
    const int fast = static_cast<int>(threadIdx.x) % tile_rows, slow = static_cast<int>(threadIdx.x) / tile_rows;
    const bool by_rows = p_.t.col_step == 1 || p_.t.col_step == -1; // neighbours in memory are one thread apart
    int i = by_rows ? slow : fast, j = by_rows ? fast : slow;
    const Index first_row = static_cast<Index>(own) * tile_rows, first_col = static_cast<Index>(k) * tile_rows;
    const T* from = p_.t.at(first_row + i, first_col + j);
    const Index step = at_once * (by_rows ? p_.t.row_step : p_.t.col_step);
    const int rows = static_cast<int>(min(p_.n - first_row, static_cast<Index>(tile_rows)));
    const int beyond = k < own ? tile_rows : has_unit_diagonal ? 0 : 1; // columns that a row has beyond its own number
#pragma unroll 4
    for (int turn = 0; turn < tile_rows / at_once; ++turn) {
      const bool is_read = i < rows && j < i + beyond;
      copy_async(&tile.column[j][i], is_read ? from : p_.t.data, is_read);
      (by_rows ? i : j) += at_once;
      from += step;
    }
  }

  __device__ void fetch_unknowns(int k) {
    UnknownTile<T>& tile = shared_.unknowns[k % stages];
    const Index row = static_cast<Index>(k) * tile_rows + base_;
    const bool is_read = col_ < p_.count; // tiles before one's own are whole
    const T* from = is_read ? p_.x.at(row, col_) : p_.x.data;
#pragma unroll
    for (int c = 0; c < group_rows; ++c)
      copy_async(&tile.row[base_ + c][lane_], is_read ? from + c * p_.x.row_step : from, is_read);
    fetched_unknowns_ |= 1U << (k % stages);
  }

  /// Adds the terms of the unknowns of tile k.
  __device__ void add(int own, int k) {
    if (k + 1 == own)
      prepare_diagonal(own);
    else
      wait_for_groups<stages - 2>();
    const unsigned bit = 1U << (k % stages);
    const bool is_late = (fetched_unknowns_ & bit) == 0;
    if (threadIdx.x == 0) shared_.done[parity_] = is_late ? wait_for_tile(k) : done_;
    __syncthreads();
    done_ = shared_.done[parity_];
    parity_ ^= 1;
    if (is_late) {
      fetch_unknowns(k);
      wait_for_copies();
      __syncthreads();
    }
    fetched_unknowns_ &= ~bit;
    fetch(own, k + stages - 1);
    extend_group<tile_rows>(shared_.tiles[k % stages], shared_.unknowns[k % stages], 0, base_, lane_, sums_);
    if ((k + 1) % tiles_of_segment != 0) return;
#pragma unroll
    for (int c = 0; c < group_rows; ++c) {
      b_[c] -= sums_[c];
      sums_[c] = T(0);
    }
  }

  /// Returns how many tiles are done when tile k is.
  __device__ unsigned wait_for_tile(int k) const {
    unsigned done = 0;
    do {
      done = counter().load(::cuda::memory_order_acquire);
    } while (done <= static_cast<unsigned>(k));
    return done;
  }

  /// Waits for all copies, makes rows beyond the last ones of a unit matrix, and divides 1 by the diagonal.
  __device__ void prepare_diagonal(int own) {
    wait_for_copies();
    if constexpr (!has_unit_diagonal) {
      __syncthreads();
      const int me = static_cast<int>(threadIdx.x) - lane_columns; // the first warp may have to wait for a tile
      if (me < 0 || me >= tile_rows) return;
      T& diagonal = shared_.tiles[own % stages].column[me][me];
      if (static_cast<Index>(own) * tile_rows + me >= p_.n) diagonal = T(1);
      shared_.reciprocal[me] = T(1) / diagonal;
    }
  }

  /// Finds the unknowns of one's own tile, a group after the other.
  __device__ void find(int own) {
    const TriangleTile<T> triangle{shared_.tiles[own % stages], shared_.reciprocal};
    UnknownTile<T>& found = shared_.unknowns[own % stages];
    const Index row = static_cast<Index>(own) * tile_rows + base_;
#pragma unroll 1
    for (int base = 0; base < tile_rows; base += group_rows) {
      if (base == base_) {
        T x[group_rows];
        solve_group<has_unit_diagonal>(triangle, base, b_, sums_, x);
#pragma unroll
        for (int c = 0; c < group_rows; ++c) {
          found.row[base + c][lane_] = x[c];
          if (is_one(row + c)) *p_.x.at(row + c, col_) = x[c];
        }
      }
      __syncthreads();
      if (base_ > base) extend_group<group_rows>(triangle.tile, found, base, base_, lane_, sums_);
    }
    if (base_ + group_rows < tile_rows) return;
    __syncwarp();
    if (lane_ == 0) counter().store(static_cast<unsigned>(own) + 1, ::cuda::memory_order_release);
  }

  const WholeTriangle<T> p_;
  WholeShared<T>& shared_;
  int lane_, base_;
  Index col_;
  int tiles_;
  T b_[group_rows], sums_[group_rows];
  unsigned fetched_unknowns_ = 0; ///< a bit for each stage
  unsigned done_ = 0;             ///< tiles of unknowns that are known to be there
  int parity_ = 0;
};

template <class T, bool has_unit_diagonal>
__global__ void __launch_bounds__(block_threads, 1) solve_whole(WholeTriangle<T> p) {
  extern __shared__ __align__(16) unsigned char memory[];
  TriangleSolution<T, has_unit_diagonal>(p, *reinterpret_cast<WholeShared<T>*>(memory)).run();
}

template <class T>
Status run(Executor& executor, Queue& queue, const PanelCall& call) noexcept {
  const auto tiles = static_cast<int>((call.rows + tile_rows - 1) / tile_rows);
  const auto groups = static_cast<int>((call.cols + lane_columns - 1) / lane_columns);
  const int blocks = std::min(tiles, executor.capabilities().multiprocessors / groups);
  if (blocks == 0) return {StatusCode::Rejected, "more columns of unknowns than the device's multiprocessors share"};
  const Index bytes = groups * static_cast<Index>(sizeof(unsigned));
  Scratch scratch;
  if (Status status = scratch.allocate(executor, queue, static_cast<std::size_t>(bytes)); !status.ok()) return status;
  if (Status status = check(cudaMemsetAsync(scratch.data(), 0, static_cast<std::size_t>(bytes), stream_of(queue)),
                            "counters of a triangle");
      !status.ok())
    return status;
  WholeTriangle<T> triangle{.t = {static_cast<const T*>(call.t), call.ldt, call.t_step},
                            .x = {static_cast<T*>(call.a), call.lda, call.a_step},
                            .n = call.rows,
                            .count = call.cols,
                            .done = scratch.as<unsigned>()};
  return launch_grid(executor, stream_of(queue),
                     {.kernel = call.has_unit_diagonal ? reinterpret_cast<const void*>(solve_whole<T, true>)
                                                       : reinterpret_cast<const void*>(solve_whole<T, false>),
                      .argument = &triangle,
                      .blocks = blocks,
                      .groups = groups,
                      .threads = block_threads,
                      .bytes = sizeof(WholeShared<T>),
                      .name = "triangular system"});
}

} // namespace

Status solve_triangle(Executor& executor, Queue& queue, const PanelCall& call) noexcept {
  constexpr Index most_rows = Index{1} << 30;
  if (call.rows > most_rows || call.cols > most_rows)
    return {StatusCode::Rejected, "a triangular system of more than 2^30 rows or columns"};
  return call.type == DType::F32 ? run<float>(executor, queue, call) : run<double>(executor, queue, call);
}

} // namespace tessera::cuda
