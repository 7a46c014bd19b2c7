#pragma once

/// The tiles of a product under a DirectPlan: where they are, and how one is computed.

#include <algorithm>

#include "direct_plan.hpp"

namespace tessera::cpu {

/// A tile in the coordinates of the DirectView, and the part of C that it is.
struct Tile {
  Index i, j;
  int rows, cols;
  Index c_i, c_j;
  int c_rows, c_cols;
};

template <class T>
class DirectTiles {
 public:
  static constexpr int largest_tile = direct_tile_bytes / sizeof(T); ///< elements

  DirectTiles(const GemmOperands<T>& x, const DirectPlan& plan, const MicroKernel<T>& kernel, Index l2, int threads)
      : x_(x, plan.swapped),
        vectors_(plan.vectors),
        kernel_(kernel),
        tile_m_(plan.tile.m),
        tile_n_(plan.tile.n),
        tiles_m_(ceil_div(x_.m, tile_m_)),
        tiles_n_(ceil_div(x_.n, tile_n_)),
        strips_at_once_(strips_in_l2(l2, threads)) {}

  const DirectView<T>& view() const { return x_; }
  Index count() const { return tiles_m_ * tiles_n_; }
  Index columns() const { return tile_n_; } ///< columns of a tile
  Index columns_of_tiles() const { return tiles_n_; }

  /// Makes tiles of `columns` columns.
  void set_columns(Index columns) {
    tile_n_ = columns;
    tiles_n_ = ceil_div(x_.n, tile_n_);
    strips_at_once_ = std::min(strips_at_once_, tiles_n_);
  }
  /// Tells where the strips of a packed B are.
  void set_strips(const T* strips) { strips_ = strips; }

  Tile at(Index number) const {
    const Index block = number / (tiles_m_ * strips_at_once_); // of strips that are used at once
    const Index first = block * strips_at_once_;
    const Index strips = std::min(strips_at_once_, tiles_n_ - first);
    const Index within = number - first * tiles_m_;
    return tile(within / strips * tile_m_, (first + within % strips) * tile_n_);
  }

  /// Calls visit(tile) for each tile in ascending order.
  template <class Visit>
  void for_each(Visit visit) const {
    const Index columns = strips_at_once_ * tile_n_;
    for (Index first = 0; first < x_.n; first += columns) {
      const Index last = std::min(first + columns, x_.n);
      for (Index i = 0; i < x_.m; i += tile_m_)
        for (Index j = first; j < last; j += tile_n_) visit(tile(i, j));
    }
  }

  /// Computes a tile's sums over `k` steps from step `p` on, at most a segment, and stores them as elements of C at
  /// `out`. `b_is_far`: no tile has read this part of B, so that it is prefetched.
  void multiply(const Tile& tile, Index p, Index k, bool b_is_far, T* out, Index ld) const {
    const bool is_packed = vectors_ == VectorsOfB::Packed;
    DirectTile<T> direct{
        .rows = tile.rows,
        .cols = tile.cols,
        .k = k,
        .a = x_.a + tile.i * x_.a_row + p * x_.a_step,
        .a_row = x_.a_row,
        .a_step = x_.a_step,
        .b = is_packed ? strips_ + tile.j * x_.k + p * tile_n_ : x_.b + p * x_.b_step + tile.j * x_.b_col,
        .b_step = is_packed ? tile_n_ : x_.b_step,
        .b_col = is_packed ? 1 : x_.b_col,
        .b_ahead = b_is_far && vectors_ == VectorsOfB::InPlace ? b_ahead(tile.j) : 0,
        .more = false,
        .tile = out,
        .ld = ld};
    if (x_.swapped && (tile.rows > 1 || ld > 1)) return multiply_and_turn(direct);
    multiply(direct);
  }

 private:
  void multiply(const DirectTile<T>& direct) const {
    if (vectors_ == VectorsOfB::Transposed) return kernel_.multiply_transposing(direct);
    kernel_.multiply_direct(direct);
  }

  /// Computes a tile whose columns are rows of C.
  [[gnu::noinline]] void multiply_and_turn(DirectTile<T>& direct) const {
    alignas(64) T sums[largest_tile];
    T* const out = direct.tile;
    const Index ld = direct.ld;
    direct.tile = sums;
    direct.ld = tile_n_;
    multiply(direct);
    kernel_.transpose(direct.rows, direct.cols, sums, tile_n_, out, ld);
  }

  Tile tile(Index i, Index j) const {
    const int rows = static_cast<int>(std::min(tile_m_, x_.m - i));
    const int cols = static_cast<int>(std::min(tile_n_, x_.n - j));
    if (x_.swapped) return {i, j, rows, cols, j, i, cols, rows};
    return {i, j, rows, cols, i, j, rows, cols};
  }

  /// Returns how many strips of B meet a tile's rows of A before the next rows. One strip at a time stays in L1 while
  /// all tiles of its columns use it. All strips are better where they stay in L2 and the rows of C are long, because
  /// the lines and pages of C are then written one after the other; and wherever they stay in L2 with several threads,
  /// because each thread then has whole rows, and cache lines with the ends of two strips do not move from thread to
  /// thread. Where A does not stay in L2, it is read once for as many strips as do.
  Index strips_in_l2(Index l2, int threads) const {
    constexpr Index long_row = 2048; // bytes
    if (vectors_ == VectorsOfB::Transposed) return 1;
    const Index step = std::min(x_.k, canonical_segment) * static_cast<Index>(sizeof(T)); // bytes of a row or a column
    const bool long_rows = !x_.swapped && x_.n * static_cast<Index>(sizeof(T)) > long_row;
    if ((long_rows || threads > 1) && x_.n * step <= l2 * 2 / 5) return tiles_n_;
    if (x_.m * step <= l2 * 2 / 5) return 1;
    return std::clamp<Index>(l2 / 5 / (step * tile_n_), 1, tiles_n_);
  }

  /// Returns the distance from the elements of B in use to the elements that a tile of C's first rows prefetches: one
  /// strip of tiles, or in the last strip as many rows as cover the latency of memory. The prefetch is for the end of a
  /// vector: where a row begins within a cache line, that line came with the strip before. The tiles below find their
  /// part of B in the caches.
  Index b_ahead(Index j) const {
    constexpr Index rows_ahead = 16, line = 64 / sizeof(T);
    return (j + tile_n_ < x_.n ? tile_n_ : rows_ahead * x_.b_step) + line - 1;
  }

  DirectView<T> x_;
  VectorsOfB vectors_;
  const MicroKernel<T>& kernel_;
  Index tile_m_, tile_n_, tiles_m_, tiles_n_;
  Index strips_at_once_; ///< columns of tiles that are used before the next ones, see strips_in_l2
  const T* strips_ = nullptr;
};

/// A result of more bytes than this may lie in L2 or beyond, so that its tiles are prefetched.
constexpr Index small_result_bytes = 64 << 10;

/// Prefetches a tile of C for writing, before its sums are made.
template <class T>
void ask_for(const T* c, Index ldc, int rows, int cols) {
  constexpr int line = 64 / sizeof(T);
  for (int r = 0; r < rows; ++r, c += ldc)
    for (int at = 0; at < cols; at += line) __builtin_prefetch(c + at, 1, 2);
}

} // namespace tessera::cpu
