/// A whole triangle and a few columns of unknowns, by one launch.
///
/// Blocks of threads take turns with tiles of 64 rows: each adds the terms of the unknowns before to its sums, in
/// ascending order, while other blocks find these unknowns, and then finds its own. A warp has 8 rows. Unknowns travel
/// as letters in global memory, which say themselves whether they have come, so that no thread waits for a fence. What
/// the triangle has left of the diagonal is on its way to shared memory meanwhile. All blocks are resident at once;
/// columns beyond 16 have other blocks.
///
/// Source of the idea: W. Liu, A. Li, J. Hogg, I. Duff, B. Vinter, "A Synchronization-Free Algorithm for Parallel
/// Sparse Triangular Solves", Euro-Par 2016.

#include <algorithm>

#include <tessera/backend/kernel.hpp>

#include "async_copy.cuh"
#include "cuda/device/status.hpp"
#include "cuda/queue/scratch.hpp"
#include "cuda/queue/stream.hpp"
#include "group_barrier.cuh"
#include "letter.cuh"
#include "panel.hpp"
#include "team_launch.hpp"
#include "triangle_warp.cuh"

namespace tessera::cuda {
namespace {

constexpr int warps = tile_rows / warp_rows;
constexpr int block_threads = warps * 32;
constexpr int stages = 4; ///< tiles on their way or in use
constexpr int tiles_of_segment = static_cast<int>(canonical_segment) / tile_rows;
constexpr int near = 4;       ///< tiles before one's own whose unknowns are awaited without a rest
constexpr int most_rest = 32; ///< tiles; a rest is as long as so many tiles' way

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
  Letter<T>* letters; ///< for each 16 columns, a row of 16 for each unknown
};

template <class T>
struct WholeShared {
  Tile<T> tiles[stages];
  UnknownGroup<T> before[warps], found[warps];
  T reciprocal[tile_rows];
  GroupBarrier has_come[warps], is_found[warps]; ///< barriers of the groups of the two tiles of unknowns
};

template <class T, bool has_unit_diagonal>
class TriangleSolution {
 public:
  __device__ TriangleSolution(const WholeTriangle<T>& p, WholeShared<T>& shared)
      : p_(p),
        shared_(shared),
        lane_(static_cast<int>(threadIdx.x) % 32),
        warp_(static_cast<int>(threadIdx.x) / 32),
        base_(WarpTriangle<T, has_unit_diagonal>::base(warp_, lane_)),
        col_(static_cast<Index>(blockIdx.y) * warp_columns + column()),
        tiles_(static_cast<int>((p.n + tile_rows - 1) / tile_rows)),
        letters_(p.letters + static_cast<Index>(blockIdx.y) * tiles_ * tile_rows * warp_columns) {}

  __device__ void run() {
    if (threadIdx.x == 0)
      for (int g = 0; g < warps; ++g) {
        initialize(shared_.has_come[g]);
        initialize(shared_.is_found[g]);
      }
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
  __device__ int column() const { return lane_ % warp_columns; }
  /// The first letter of this thread's rows of tile k.
  __device__ Letter<T>* letters_of(int k) const {
    return letters_ + (static_cast<Index>(k) * tile_rows + base_) * warp_columns + column();
  }
  /// Where this thread's numbers are in its warp's group.
  __device__ T* own_place(UnknownGroup<T> (&groups)[warps]) const {
    return &groups[warp_].column[column()][base_ % warp_rows];
  }

  /// Reads right-hand sides, and has the first tiles fetched.
  __device__ void begin(int own) {
    const Index row = static_cast<Index>(own) * tile_rows + base_;
#pragma unroll
    for (int c = 0; c < thread_rows; ++c) {
      b_[c] = is_one(row + c) ? __ldcg(p_.x.at(row + c, col_)) : T(0);
      sums_[c] = T(0);
    }
    for (int k = 0; k < stages - 1; ++k) fetch(own, k);
    if (own > 0) look(0);
  }

  /// Has tile k of the rows of `own` fetched. Each call ends a group of copies.
  __device__ void fetch(int own, int k) {
    if (k <= own) fetch_tile(own, k);
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

  /// Begins to read the letters of tile k.
  __device__ void look(int k) {
    const Letter<T>* const from = letters_of(k);
#pragma unroll
    for (int c = 0; c < thread_rows; ++c) looked_[c] = read(from + c * warp_columns);
  }
  __device__ bool all_have_come() const {
    bool is_whole = true;
#pragma unroll
    for (int c = 0; c < thread_rows; ++c) is_whole &= looked_[c].has_come();
    return __all_sync(~0U, is_whole);
  }

  /// Puts this warp's group of tile k, when it has come, where all find it.
  __device__ void pass_on(int own, int k) {
    while (!all_have_come()) {
      if (own - k > near) __nanosleep(min(own - k, most_rest) * 32);
      look(k);
    }
    T x[thread_rows];
#pragma unroll
    for (int c = 0; c < thread_rows; ++c) x[c] = looked_[c].number();
    write_vectors(own_place(shared_.before), x);
    __syncwarp();
    if (lane_ == 0) arrive(shared_.has_come[warp_]);
    if (k + 1 < own) look(k + 1);
  }

  /// Adds the terms of a group of unknowns, which are the columns from `first` on of a tile, when they are there.
  __device__ void add_group(const Tile<T>& tile, int first, const GroupBarrier& barrier, unsigned phase,
                            const UnknownGroup<T>& group) {
    const Coefficients<T, warp_rows> coefficients(tile, first, base_);
    wait(barrier, phase);
    T x[warp_rows];
    read_vectors(x, group.column[column()]);
    add_terms(coefficients, x, sums_);
  }

  /// Adds the terms of the unknowns of tile k.
  __device__ void add(int own, int k) {
    if (k + 1 == own)
      prepare_diagonal(own);
    else
      wait_for_groups<stages - 2>();
    __syncthreads(); // the tile is there, and what tile k − 1 needed is free
    fetch(own, k + stages - 1);
    if (own - k > near)
      add_far(own, k);
    else
      add_near(own, k);
    come_phase_ ^= 1U;
    if ((k + 1) % tiles_of_segment != 0) return;
#pragma unroll
    for (int c = 0; c < thread_rows; ++c) {
      b_[c] -= sums_[c];
      sums_[c] = T(0);
    }
  }

  /// Group by group, as they come.
  __device__ void add_near(int own, int k) {
    const Tile<T>& tile = shared_.tiles[k % stages];
#pragma unroll 1
    for (int g = 0; g < warps; ++g) {
      if (g == warp_)
        pass_on(own, k);
      else if (g < warp_ && !all_have_come())
        look(k); // and go on meanwhile
      add_group(tile, g * warp_rows, shared_.has_come[g], come_phase_, shared_.before[g]);
    }
  }

  /// All groups together.
  __device__ void add_far(int own, int k) {
    const Tile<T>& tile = shared_.tiles[k % stages];
    pass_on(own, k);
    for (const GroupBarrier& barrier : shared_.has_come) wait(barrier, come_phase_);
#pragma unroll 2
    for (int g = 0; g < warps; ++g) {
      const Coefficients<T, warp_rows> coefficients(tile, g * warp_rows, base_);
      T x[warp_rows];
      read_vectors(x, shared_.before[g].column[column()]);
      add_terms(coefficients, x, sums_);
    }
  }

  /// Waits for all copies, makes rows beyond the last ones of a unit matrix, and divides 1 by the diagonal.
  __device__ void prepare_diagonal(int own) {
    wait_for_copies();
    if constexpr (!has_unit_diagonal) {
      __syncthreads();
      const int me = static_cast<int>(threadIdx.x);
      if (me >= tile_rows) return;
      T& diagonal = shared_.tiles[own % stages].column[me][me];
      if (static_cast<Index>(own) * tile_rows + me >= p_.n) diagonal = T(1);
      shared_.reciprocal[me] = T(1) / diagonal;
    }
  }

  /// Finds the unknowns of one's own tile: a warp its group, when the groups before are found.
  __device__ void find(int own) {
    const Tile<T>& tile = shared_.tiles[own % stages];
    const WarpTriangle<T, has_unit_diagonal> triangle(tile, shared_.reciprocal, warp_, lane_);
#pragma unroll 1
    for (int g = 0; g < warp_; ++g) add_group(tile, g * warp_rows, shared_.is_found[g], found_phase_, shared_.found[g]);
    found_phase_ ^= 1U;
    T x[thread_rows];
    triangle.solve(b_, sums_, x);
    write_vectors(own_place(shared_.found), x);
    __syncwarp();
    if (lane_ == 0) arrive(shared_.is_found[warp_]);
    Letter<T>* const to = letters_of(own);
#pragma unroll
    for (int c = 0; c < thread_rows; ++c) write(to + c * warp_columns, Letter<T>(x[c]));
    const Index row = static_cast<Index>(own) * tile_rows + base_;
#pragma unroll
    for (int c = 0; c < thread_rows; ++c)
      if (is_one(row + c)) *p_.x.at(row + c, col_) = x[c];
  }

  const WholeTriangle<T> p_;
  WholeShared<T>& shared_;
  int lane_, warp_, base_;
  Index col_;
  int tiles_;
  Letter<T>* letters_;
  Letter<T> looked_[thread_rows];
  T b_[thread_rows], sums_[thread_rows];
  unsigned come_phase_ = 0, found_phase_ = 0;
};

template <class T, bool has_unit_diagonal>
__global__ void __launch_bounds__(block_threads, 1) solve_whole(WholeTriangle<T> p) {
  extern __shared__ __align__(16) unsigned char memory[];
  TriangleSolution<T, has_unit_diagonal>(p, *reinterpret_cast<WholeShared<T>*>(memory)).run();
}

template <class T>
Status run(Executor& executor, Queue& queue, const PanelCall& call) noexcept {
  const auto tiles = static_cast<int>((call.rows + tile_rows - 1) / tile_rows);
  const auto groups = static_cast<int>((call.cols + warp_columns - 1) / warp_columns);
  const int blocks = std::min(tiles, executor.capabilities().multiprocessors / groups);
  if (blocks == 0) return {StatusCode::Rejected, "more columns of unknowns than the device's multiprocessors share"};
  const std::size_t bytes = static_cast<std::size_t>(groups) * tiles * tile_rows * warp_columns * sizeof(Letter<T>);
  Scratch scratch;
  if (Status status = scratch.allocate(executor, queue, bytes); !status.ok()) return status;
  if (Status status = check(cudaMemsetAsync(scratch.data(), 0, bytes, stream_of(queue)), "letters of a triangle");
      !status.ok())
    return status;
  WholeTriangle<T> triangle{.t = {static_cast<const T*>(call.t), call.ldt, call.t_step},
                            .x = {static_cast<T*>(call.a), call.lda, call.a_step},
                            .n = call.rows,
                            .count = call.cols,
                            .letters = scratch.as<Letter<T>>()};
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
