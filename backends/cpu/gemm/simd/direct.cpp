/// simd_direct is one loop over tiles of C, each computed straight from the operands. Where tiles are few and k is
/// long, the loop is over tiles and segments of k.

#include "direct.hpp"

#include <algorithm>
#include <new>

#include <tessera/backend/out_of_memory.hpp>

#include "cpu/gemm/common/blocking.hpp"
#include "cpu/gemm/common/direct_tile.hpp"
#include "cpu/gemm/common/segment_sums.hpp"
#include "cpu/gemm/common/update.hpp"
#include "cpu/memory/scratch.hpp"
#include "thread_trial.hpp"

namespace tessera::cpu {
namespace {

/// Returns choose_tile(x, kernel), and remembers the last result of the calling thread: choosing takes as long as a
/// tile of a small product, and a caller's next product mostly has the shape of the last one.
template <class T>
TileSize remembered_tile(const GemmOperands<T>& x, const MicroKernel<T>& kernel) {
  struct Remembered {
    Index m, n, k, lda;
    Op op_a;
    const MicroKernel<T>* kernel = nullptr;
    TileSize tile;
  };
  static thread_local Remembered last;
  if (last.m != x.m || last.n != x.n || last.k != x.k || last.lda != x.lda || last.op_a != x.op_a ||
      last.kernel != &kernel)
    last = {x.m, x.n, x.k, x.lda, x.op_a, &kernel, choose_tile(x, kernel)};
  return last.tile;
}

/// Says whether tiles go along the rows of C. Otherwise they go down the rows first, so that a tile's columns of B are
/// still in L1. Along the rows is better where the rows of C are long and all of B stays in L2: the lines and pages of
/// C are then written one after the other.
template <class T>
bool goes_along_rows(const GemmOperands<T>& x, std::size_t l2_bytes) {
  constexpr Index long_row = 2048; // bytes
  const Index row = x.n * static_cast<Index>(sizeof(T));
  return row > long_row && row * std::min(x.k, canonical_segment) <= static_cast<Index>(l2_bytes) * 2 / 5;
}

/// Returns the distance from the elements of B in use to the elements that a tile of C's first rows prefetches: one
/// strip of tiles, or in the last strip as many rows as cover the latency of memory. The prefetch is for the end of a
/// vector: where a row begins within a cache line, that line came with the strip before. The tiles below find their
/// part of B in the caches.
template <class T>
Index b_ahead(const GemmOperands<T>& x, Index j, Index tile_n) {
  constexpr Index rows_ahead = 16, line = 64 / sizeof(T);
  return (j + tile_n < x.n ? tile_n : rows_ahead * x.ldb) + line - 1;
}

/// A result of more bytes than this may lie in L2 or beyond, so that its tiles are prefetched.
constexpr Index small_result_bytes = 64 << 10;

/// Prefetches a tile of C for writing, before its sums are made.
template <class T>
void ask_for(const T* c, Index ldc, int rows, int cols) {
  constexpr int line = 64 / sizeof(T);
  for (int r = 0; r < rows; ++r, c += ldc)
    for (int at = 0; at < cols; at += line) __builtin_prefetch(c + at, 1, 2);
}

/// Computes a product with one thread, one segment and nothing to scale or add. It is for small products and does as
/// little as possible besides their tiles.
template <class T>
void multiply_here(const GemmOperands<T>& x, const MicroKernel<T>& kernel, std::size_t l2_bytes) {
  const Index a_row = x.op_a == Op::None ? x.lda : 1;
  const TileSize size = remembered_tile(x, kernel);
  const Index tile_m = size.m;
  const Index tile_n = size.n;
  const bool asks_for_c = x.m * x.n * static_cast<Index>(sizeof(T)) > small_result_bytes;
  DirectTile<T> tile{.rows = 0,
                     .cols = 0,
                     .k = x.k,
                     .a = x.a,
                     .a_row = a_row,
                     .a_step = x.op_a == Op::None ? 1 : x.lda,
                     .b = x.b,
                     .b_step = x.ldb,
                     .b_ahead = 0,
                     .more = false,
                     .tile = x.c,
                     .ld = x.ldc};
  const auto multiply_at = [&](Index i, Index j) {
    tile.rows = static_cast<int>(std::min(tile_m, x.m - i));
    tile.cols = static_cast<int>(std::min(tile_n, x.n - j));
    tile.a = x.a + i * a_row;
    tile.b = x.b + j;
    tile.tile = x.c + i * x.ldc + j;
    tile.b_ahead = i == 0 ? b_ahead(x, j, tile_n) : 0;
    if (asks_for_c) ask_for(tile.tile, x.ldc, tile.rows, tile.cols);
    kernel.multiply_direct(tile);
  };
  if (goes_along_rows(x, l2_bytes)) {
    for (Index i = 0; i < x.m; i += tile_m)
      for (Index j = 0; j < x.n; j += tile_n) multiply_at(i, j);
  } else {
    for (Index j = 0; j < x.n; j += tile_n)
      for (Index i = 0; i < x.m; i += tile_m) multiply_at(i, j);
  }
}

/// Says whether multiply_here can compute the call.
bool is_plain(const GemmCall& call) {
  return call.k <= canonical_segment && call.op_b == Op::None && stores_plain_sums(call);
}

template <class T>
class DirectProduct {
 public:
  DirectProduct(CpuExecutor& cpu, const GemmCall& call, const MicroKernel<T>& kernel, int threads)
      : call_(call),
        x_(call),
        kernel_(kernel),
        team_(cpu.team()),
        packs_b_(x_.op_b == Op::Transpose),
        size_(packs_b_ ? choose_tile_of_strip(x_, kernel) : choose_tile(x_, kernel)),
        tile_m_(size_.m),
        tile_n_(size_.n),
        tiles_m_(ceil_div(x_.m, tile_m_)),
        tiles_n_(ceil_div(x_.n, tile_n_)),
        segments_(ceil_div(x_.k, canonical_segment)),
        threads_(threads),
        along_rows_(goes_along_rows(x_, cpu.capabilities().l2_bytes)) {
    shares_segments_ = threads_ > 1 && segments_ > 1 && tiles() < 64 * threads_;
    if (threads_ > 1 && x_.m == 1 && !packs_b_) shorten_row();
    const auto take = [&](Carver& carver) {
      if (packs_b_) strips_b_ = carver.take<T>(static_cast<std::size_t>(tiles_n_ * tile_n_ * x_.k));
      if (shares_segments_) sums_.carve(carver, x_, segments_, tiles());
    };
    Carver size;
    take(size);
    if (size.used() == 0) return;
    scratch_ = cpu.scratch().acquire(size.used());
    Carver arrays(scratch_.data());
    take(arrays);
  }

  void run() {
    if (packs_b_) pack_b();
    if (threads_ == 1) return compute(0, tiles());
    if (shares_segments_) return run_segments();
    // Many tasks even out the time that the operating system takes from a thread; each lasts some microseconds.
    constexpr double worth_a_task = 1 << 17; // multiply-adds
    const double work = static_cast<double>(x_.m) * static_cast<double>(x_.n) * static_cast<double>(x_.k);
    const Index tasks = threads_ * static_cast<Index>(std::clamp(work / (worth_a_task * threads_), 4.0, 16.0));
    const Index each = std::max<Index>(1, tiles() / tasks);
    team_.run(ceil_div(tiles(), each), threads_,
              [&](Index task, int) { compute(task * each, std::min((task + 1) * each, tiles())); });
  }

 private:
  static constexpr Index largest_tile = 4096; // elements of a tile of one row; all other tiles are smaller

  struct Tile {
    Index i, j;
    int rows, cols;
  };

  Index tiles() const { return tiles_m_ * tiles_n_; }

  /// Packs a transposed B, because tiles read the rows of op(B) in vectors.
  void pack_b() const {
    const Lines<T> lines{x_.b, x_.n, x_.ldb, 1};
    team_.run(tiles_n_, threads_, [&](Index strip, int) {
      kernel_.pack_b(lines, strip, strip + 1, 0, x_.k, strips_b_ + strip * tile_n_ * x_.k);
    });
  }

  /// Shortens the tiles of a product with one row of C, so that all threads get equally many. Such a product has few
  /// tiles, because they are long.
  void shorten_row() {
    constexpr Index tasks_per_thread = 4;
    constexpr Index shortest = 1024 / sizeof(T); // memory is read faster in long rows
    const Index tasks = shares_segments_ ? segments_ : 1;
    const Index most = std::min(ceil_div(threads_ * tasks_per_thread, tasks), x_.n / shortest);
    if (most <= tiles_n_) return;
    constexpr Index line = 64 / sizeof(T);
    tile_n_ = ceil_div(ceil_div(x_.n, even_parts(most, tasks, threads_)), line) * line;
    tiles_n_ = ceil_div(x_.n, tile_n_);
  }

  Tile tile_at(Index number) const {
    const Index i = (along_rows_ ? number / tiles_n_ : number % tiles_m_) * tile_m_;
    const Index j = (along_rows_ ? number % tiles_n_ : number / tiles_m_) * tile_n_;
    return {i, j, static_cast<int>(std::min(tile_m_, x_.m - i)), static_cast<int>(std::min(tile_n_, x_.n - j))};
  }

  /// Computes the sums of one segment of a tile and stores them at `out`. `b_is_near`: a tile above has read this part
  /// of B.
  void multiply(const Tile& tile, Index segment, T* out, Index ld, bool b_is_near) const {
    const Index p = segment * canonical_segment;
    const Index a_row = x_.op_a == Op::None ? x_.lda : 1;
    const Index a_step = x_.op_a == Op::None ? 1 : x_.lda;
    const Index b_step = packs_b_ ? tile_n_ : x_.ldb;
    kernel_.multiply_direct({.rows = tile.rows,
                             .cols = tile.cols,
                             .k = std::min(canonical_segment, x_.k - p),
                             .a = x_.a + tile.i * a_row + p * a_step,
                             .a_row = a_row,
                             .a_step = a_step,
                             .b = packs_b_ ? strips_b_ + tile.j * x_.k + p * b_step : x_.b + p * b_step + tile.j,
                             .b_step = b_step,
                             .b_ahead = b_is_near || packs_b_ ? 0 : b_ahead(x_, tile.j, tile_n_),
                             .more = false,
                             .tile = out,
                             .ld = ld});
  }

  Update<T> update(Index segment) const { return {segment == 0, segment + 1 == segments_, x_.alpha, x_.beta, &call_}; }

  /// Computes the tiles [first, last).
  void compute(Index first, Index last) const {
    alignas(64) T sums[largest_tile];
    alignas(64) T waiting[largest_tile];
    const bool is_plain = segments_ == 1 && stores_plain_sums(call_);
    if (segments_ > 1 && x_.beta == T{0}) return compute_by_segments(first, last, sums);
    for (Index number = first; number < last; ++number) {
      const Tile tile = tile_at(number);
      T* c = x_.c + tile.i * x_.ldc + tile.j;
      if (is_plain) {
        multiply(tile, 0, c, x_.ldc, number > first && tile.i > 0);
        continue;
      }
      for (Index segment = 0; segment < segments_; ++segment) {
        multiply(tile, segment, sums, tile_n_, false);
        apply(update(segment), tile.rows, tile.cols, sums, tile_n_, waiting, tile_n_, c, x_.ldc);
      }
    }
  }

  /// Computes the tiles [first, last), where the sums of earlier segments wait in C. All tiles of a segment come before
  /// the next segment, so that the segment's part of B stays in the cache.
  void compute_by_segments(Index first, Index last, T* sums) const {
    for (Index segment = 0; segment < segments_; ++segment)
      for (Index number = first; number < last; ++number) {
        const Tile tile = tile_at(number);
        T* c = x_.c + tile.i * x_.ldc + tile.j;
        multiply(tile, segment, sums, tile_n_, number > first && tile.i > 0);
        apply(update(segment), tile.rows, tile.cols, sums, tile_n_, c, x_.ldc, c, x_.ldc);
      }
  }

  /// Runs one loop over all tiles and segments of k.
  void run_segments() {
    team_.run(tiles() * segments_, threads_, [&](Index task, int) {
      const Index number = task % tiles();
      const Index segment = task / tiles();
      const Tile tile = tile_at(number);
      multiply(tile, segment, sums_.at(segment, tile.i, tile.j), sums_.ld(), false);
      sums_.add_if_last(number, tile.i, tile.j, tile.rows, tile.cols, call_, x_);
    });
  }

  const GemmCall& call_;
  GemmOperands<T> x_;
  const MicroKernel<T>& kernel_;
  Team& team_;
  bool packs_b_;
  TileSize size_;
  Index tile_m_, tile_n_, tiles_m_, tiles_n_, segments_;
  int threads_;
  bool along_rows_;
  bool shares_segments_ = false; ///< segments of k are shared out as well as tiles
  Scratch scratch_;
  T* strips_b_ = nullptr; ///< the strips of a packed B, each k long
  SegmentSums<T> sums_;
};

template <class T>
void multiply(CpuExecutor& cpu, const GemmCall& call, const MicroKernel<T>& kernel, int threads) {
  if (threads == 1 && is_plain(call))
    multiply_here<T>(GemmOperands<T>(call), kernel, cpu.capabilities().l2_bytes);
  else
    DirectProduct<T>(cpu, call, kernel, threads).run();
}

} // namespace

template <class T>
Status direct_product(CpuExecutor& cpu, const GemmCall& call, const MicroKernel<T>& kernel) noexcept try {
  const double work = static_cast<double>(call.m) * static_cast<double>(call.n) * static_cast<double>(call.k);
  const int most = work < enough_for_a_thread ? 1 : cpu.threads_for(call.threads);
  if (most == 1) {
    multiply(cpu, call, kernel, 1);
    return {};
  }
  const int threads = threads_for(work, most);
  const int more = threads_for(work, most, enough_for_a_thread / 2);
  if (more == threads || work >= 16 * enough_for_a_thread) {
    multiply(cpu, call, kernel, threads);
  } else {
    static thread_local ThreadTrial trial;
    multiply(cpu, call, kernel, trial.try_more(call.m, call.n, call.k) ? more : threads);
    trial.end();
  }
  return {};
} catch (const std::bad_alloc& error) {
  return out_of_memory(error);
}

template Status direct_product(CpuExecutor&, const GemmCall&, const MicroKernel<float>&) noexcept;
template Status direct_product(CpuExecutor&, const GemmCall&, const MicroKernel<double>&) noexcept;

} // namespace tessera::cpu
