#pragma once

/// A panel of LU with partial pivoting, by blocks of threads that have some rows each.
///
/// Rows stay where they are until the end; each has a place, which changes as if rows were exchanged. The panel is
/// taken in strips of 16 columns, or of 8 of complex numbers of f64. A strip's elements lie in shared memory, by
/// columns, and its sums in registers, rotated so that the current column's is the first. For each column each block
/// finds its best row and offers it to the others; all choose the same one, whose elements are U from the column on,
/// and go on with the sums of their rows. After a strip, each block computes U's rows of the strip in the panel's
/// columns right of it, and the sums of these go on.
///
/// A column costs the latency of a barrier, of a message, and of three searches in a warp. Nothing else counts, up to
/// some thousand rows.

#include "async_copy.cuh"
#include "exchange.cuh"
#include "panel.hpp"
#include "pivot.cuh"
#include "sources.cuh"
#include "vectors.cuh"

namespace tessera::cuda {

template <class T>
struct LuPanel {
  T* a;
  Index lda;
  T* s;
  Index lds;
  int rows, cols;
  Index first;
  Index* numbers;
  Index* failed;
  void* memory; ///< of GridExchange
};

/// How a panel is divided: threads of a block, and rows of a thread.
template <int threads_, int each_>
struct LuShape {
  static constexpr int threads = threads_, each = each_, rows = threads * each;
};

/// A block's part, in shared memory.
template <class T, class Shape, class Exchange>
struct LuShared {
  static constexpr int rows = Shape::rows, warps = Shape::threads / 32;
  static constexpr int panel_columns = static_cast<int>(most_panel_columns), strip = strip_of<T>;
  typename Exchange::Shared exchange;
  T a[strip][rows + 1];           ///< by columns; the padding keeps the rows of a warp's loads apart
  T u[strip][panel_columns];      ///< rows of U right of a strip
  T sums[strip][panel_columns];   ///< and what is subtracted from them
  T l[strip][strip];              ///< L of the strip's pivots
  Candidate candidates[2][warps]; ///< a column's and the next one's
  int candidate_threads[2][warps];
  int pivots[panel_columns]; ///< the rows of U by their numbers in memory
  int places[panel_columns]; ///< and by their places when they were found
  int to[2 * panel_columns], from[2 * panel_columns];
  signed char pivot_strip[rows]; ///< the strip in which a row became a pivot's
};

/// The factorisation as one block of the team sees it.
template <class T, class Shape, class Exchange>
class LuFactorisation {
  using Shared = LuShared<T, Shape, Exchange>;
  static constexpr int width = strip_of<T>, threads = Shape::threads, each = Shape::each, warps = Shared::warps;
  static constexpr int panel_columns = Shared::panel_columns;
  static constexpr signed char no_strip = 127;

 public:
  __device__ LuFactorisation(const LuPanel<T>& panel, Shared& shared)
      : p_(panel),
        shared_(shared),
        exchange_(shared.exchange, panel.memory),
        me_(static_cast<int>(threadIdx.x)),
        base_(static_cast<int>(blockIdx.x) * Shared::rows) {}

  __device__ void run() {
    begin();
    for (int first = 0; first < p_.cols; first += width) {
      const int here = p_.cols - first < width ? p_.cols - first : width, right = p_.cols - first - here;
      load(first, here);
      for (int c = 0; c < here; ++c) factor_column(first + c, c);
      __syncthreads();
      store(first, here);
      exchange_.wait_for_all(); // sums of other blocks are written, and the rows of U before this strip have been read
      if (first > 0) store_upper(first - width, first);
      if (right == 0) continue;
      find_upper(first, here, right);
      update(first, here, right);
    }
    exchange_.wait_for_all();
    exchange_rows();
  }

 private:
  __device__ int row_of(int r) const { return base_ + r * threads + me_; }
  __device__ bool is_here(int r) const { return row_of(r) < p_.rows; }

  __device__ void begin() {
#pragma unroll
    for (int r = 0; r < each; ++r) {
      place_[r] = row_of(r);
      shared_.pivot_strip[r * threads + me_] = no_strip;
    }
  }
  /// Reads the strip: sums to registers, by way of the memory of the elements, which come then.
  __device__ void load(int first, int here) {
    fetch(p_.s + first, p_.lds, here);
#pragma unroll
    for (int r = 0; r < each; ++r)
#pragma unroll
      for (int i = 0; i < width; ++i) s_[r][i] = shared_.a[i][r * threads + me_];
    fetch(p_.a + first, p_.lda, here);
  }
  __device__ void fetch(const T* from, Index ld, int here) {
    constexpr int at_once = threads / width;
    __syncthreads();
    const int col = me_ % width;
    const T* place = from + (base_ + me_ / width) * ld + col;
#pragma unroll 4
    for (int r = me_ / width; r < Shared::rows; r += at_once, place += at_once * ld) {
      const bool is_read = base_ + r < p_.rows && col < here;
      copy_async(&shared_.a[col][r], is_read ? place : from, is_read);
    }
    wait_for_copies();
    __syncthreads();
  }
  /// Writes the strip, but for rows of U from strips before.
  __device__ void store(int first, int here) {
    constexpr int at_once = threads / width;
    const int col = me_ % width;
    if (col >= here) return;
    T* to = p_.a + (base_ + me_ / width) * p_.lda + first + col;
#pragma unroll 4
    for (int r = me_ / width; r < Shared::rows; r += at_once, to += at_once * p_.lda)
      if (base_ + r < p_.rows && shared_.pivot_strip[r] >= first / width) *to = shared_.a[col][r];
  }

  /// Factors column c of a strip, which is column j of the panel.
  __device__ void factor_column(int j, int c) {
    T value[each];
    Candidate best;
    int which = 0;
#pragma unroll
    for (int r = 0; r < each; ++r) {
      value[r] = shared_.a[c][r * threads + me_] - s_[r][0];
      const Candidate candidate{is_here(r) && place_[r] >= j ? order_of(value[r]) : 0, place_[r]};
      if (r == 0 || candidate.is_before(best)) best = candidate, which = r;
    }
    if (const int lane = lane_of_best<T>(best); me_ % 32 == lane) {
      shared_.candidates[j % 2][me_ / 32] = best;
      shared_.candidate_threads[j % 2][me_ / 32] = me_;
    }
    __syncthreads();
    const int lane = me_ % 32;
    const int warp = lane_of_best<T>(lane < warps ? shared_.candidates[j % 2][lane] : Candidate{});
    if (const int thread = shared_.candidate_threads[j % 2][warp]; thread / 32 == me_ / 32) {
#pragma unroll
      for (int r = 0; r < each; ++r)
        if (me_ == thread && r == which) write_sums(r);
      offer(c, thread, __shfl_sync(0xffffffff, which, thread % 32), shared_.candidates[j % 2][warp]);
      exchange_.send_offer();
    }
    const Offer<T>& pivot = best_of(exchange_.receive());
    const int place = pivot.candidate.place;
    const T divisor = pivot.row[0];
    const Dividing<T> dividing(divisor);
    if (me_ < c) shared_.l[c][me_] = pivot.row[width - c + me_];
    if (me_ == 0) {
      shared_.pivots[j] = pivot.number;
      shared_.places[j] = place;
      if (blockIdx.x == 0) {
        p_.numbers[j] = p_.first + place;
        if (is_zero(divisor) && *p_.failed < 0) *p_.failed = p_.first + j;
      }
    }
    T u[width];
    read_vectors(u, pivot.row);
#pragma unroll
    for (int r = 0; r < each; ++r) {
      const int at = r * threads + me_;
      if (row_of(r) == pivot.number) {
        place_[r] = j;
        shared_.pivot_strip[at] = static_cast<signed char>(j / width);
#pragma unroll
        for (int i = 0; i < width; ++i)
          if (c + i < width) shared_.a[c + i][at] = u[i];
      } else if (place_[r] == j) {
        place_[r] = place;
      }
      if (!is_here(r) || place_[r] <= j) continue;
      const T l = is_zero(divisor) ? value[r] : dividing.divide(value[r]);
      shared_.a[c][at] = l;
#pragma unroll
      for (int i = 1; i < width; ++i) s_[r][i - 1] = multiply_add(l, u[i], s_[r][i]);
    }
  }
  __device__ void write_sums(int r) {
#pragma unroll
    for (int i = 0; i < width; ++i) exchange_.out().row[i] = s_[r][i];
  }
  /// Makes the offer of a thread's row, whose sums are where the row is going to be; called by the thread's warp.
  __device__ void offer(int c, int thread, int r, const Candidate& candidate) {
    __syncwarp();
    Offer<T>& out = exchange_.out();
    if (const int i = me_ % 32; i < width) {
      const bool is_upper = c + i < width;
      const T element = shared_.a[is_upper ? c + i : c + i - width][r * threads + thread];
      out.row[i] = is_upper ? element - out.row[i] : element;
    } else if (i == width) {
      out.candidate = candidate;
      out.number = base_ + r * threads + thread;
    }
    __syncwarp();
  }
  __device__ const Offer<T>& best_of(const Offer<T>* offers) const {
    const int lane = me_ % 32, count = static_cast<int>(gridDim.x);
    Candidate best = lane < count ? offers[lane].candidate : Candidate{};
    int rank = lane;
    for (int other = lane + 32; other < count; other += 32)
      if (offers[other].candidate.is_before(best)) best = offers[other].candidate, rank = other;
    return offers[__shfl_sync(0xffffffff, rank, lane_of_best<T>(best))];
  }

  /// Computes U's rows of the strip in the columns right of it.
  __device__ void find_upper(int first, int here, int right) {
    __syncthreads();
    const int begin = first + here;
    for (int i = me_; i < width * panel_columns; i += threads) {
      const int k = i / panel_columns, col = i % panel_columns;
      const bool is_one = k < here && col < right;
      const Index row = is_one ? shared_.pivots[first + k] : 0;
      shared_.u[k][col] = is_one ? p_.a[row * p_.lda + begin + col] : T{};
      shared_.sums[k][col] = is_one ? p_.s[row * p_.lds + begin + col] : T{};
    }
    __syncthreads();
    if (me_ < panel_columns) {
      T sums[width];
#pragma unroll
      for (int k = 0; k < width; ++k) sums[k] = shared_.sums[k][me_];
#pragma unroll
      for (int k = 0; k < width; ++k) {
        const T u = shared_.u[k][me_] - sums[k];
#pragma unroll
        for (int i = k + 1; i < width; ++i)
          if (i < here) sums[i] = multiply_add(shared_.l[i][k], u, sums[i]);
        shared_.u[k][me_] = u;
      }
    }
    __syncthreads();
  }
  /// Writes what find_upper() found for the strip at `first`, in the columns from `begin` on.
  __device__ void store_upper(int first, int begin) {
    if (blockIdx.x != 0) return;
    for (int i = me_; i < width * panel_columns; i += threads)
      if (const int k = i / panel_columns, col = i % panel_columns; begin + col < p_.cols)
        p_.a[shared_.pivots[first + k] * p_.lda + begin + col] = shared_.u[k][col];
  }
  /// Goes on with the sums of the columns right of the strip, in the rows that are no pivots' yet.
  __device__ void update(int first, int here, int right) {
    int done = 0;
    if constexpr (panel_columns > 4 * width)
      for (; right - done > 3 * width; done += 3 * width) update<3>(first, first + here, done, right);
    if (right - done > 2 * width) return update<3>(first, first + here, done, right);
    if (right - done > width) return update<2>(first, first + here, done, right);
    update<1>(first, first + here, done, right);
  }
  /// A thread has some rows, and of the columns after the ones that are done, one and every `width` columns the next.
  template <int columns>
  __device__ __forceinline__ void update(int first, int begin, int done, int right) {
    constexpr int rows = 4, at_once = threads / width;
    const int col = done + me_ % width;
#pragma unroll 1
    for (int row = me_ / width; row < Shared::rows; row += rows * at_once) {
      T sums[rows][columns];
      bool is_one[rows];
      T* place[rows];
#pragma unroll
      for (int r = 0; r < rows; ++r) {
        const int number = row + r * at_once;
        is_one[r] = base_ + number < p_.rows && shared_.pivot_strip[number] > first / width;
        place[r] = p_.s + (base_ + number) * p_.lds + begin + col;
#pragma unroll
        for (int q = 0; q < columns; ++q) sums[r][q] = is_one[r] && col + q * width < right ? place[r][q * width] : T{};
      }
#pragma unroll
      for (int k = 0; k < width; ++k) {
        T u[columns];
#pragma unroll
        for (int q = 0; q < columns; ++q) u[q] = shared_.u[k][col + q * width];
#pragma unroll
        for (int r = 0; r < rows; ++r) {
          const T l = shared_.a[k][row + r * at_once];
#pragma unroll
          for (int q = 0; q < columns; ++q) sums[r][q] = multiply_add(l, u[q], sums[r][q]);
        }
      }
#pragma unroll
      for (int r = 0; r < rows; ++r)
#pragma unroll
        for (int q = 0; q < columns; ++q)
          if (is_one[r] && col + q * width < right) place[r][q * width] = sums[r][q];
    }
  }

  /// Rows go to their places.
  __device__ void exchange_rows() {
    const int moved = 2 * p_.cols, elements = moved * p_.cols;
    if (me_ < moved) {
      const int to = me_ < p_.cols ? me_ : shared_.places[me_ - p_.cols];
      shared_.to[me_] = to;
      shared_.from[me_] = source(to, 0, p_.cols, shared_.places);
    }
    __syncthreads();
    constexpr int most = 2 * panel_columns * panel_columns / threads / Exchange::fewest_blocks;
    const int begin = static_cast<int>(blockIdx.x) * threads + me_, step = static_cast<int>(gridDim.x) * threads;
    T read[most];
#pragma unroll
    for (int u = 0; u < most; ++u)
      if (const int i = begin + u * step; i < elements)
        read[u] = p_.a[shared_.from[i / p_.cols] * p_.lda + i % p_.cols];
    exchange_.wait_for_all();
#pragma unroll
    for (int u = 0; u < most; ++u)
      if (const int i = begin + u * step; i < elements)
        if (const int row = i / p_.cols; shared_.from[row] != shared_.to[row])
          p_.a[shared_.to[row] * p_.lda + i % p_.cols] = read[u];
  }

  const LuPanel<T>& p_;
  Shared& shared_;
  Exchange exchange_;
  const int me_, base_;
  T s_[each][width];
  int place_[each];
};

} // namespace tessera::cuda
