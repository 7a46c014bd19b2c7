/// One loop over tiles of C, each computed straight from the operands; a second one where so few tiles stand against so
/// long a k that the segments of k are shared out as well.

#include "cpu/gemm/direct.hpp"

#include <algorithm>
#include <new>

#include "cpu/gemm/blocking.hpp"
#include "cpu/gemm/transposed_b.hpp"
#include "cpu/gemm/update.hpp"
#include "cpu/scratch.hpp"

namespace tessera::cpu {
namespace {

/// Rows this many bytes apart fall on the same few lines of the first cache, which holds eight of a kind.
constexpr Index aliasing_bytes = 2048;
constexpr Index rows_that_alias = 7;

/// About how many cycles a tile takes: multiply-adds or loads, whichever are more, and what it takes to begin and end.
double cycles_of_tile(Index rows, Index vectors, Index k) {
  const double sums = static_cast<double>(rows * vectors);
  const double loads = 1.25 * static_cast<double>(rows + vectors);
  return static_cast<double>(k) * std::max(sums, loads) + sums + 60;
}

/// The same for all tiles of so many rows.
template <class T>
double cycles_with_rows(const GemmOperands<T>& x, const MicroKernel<T>& kernel, Index rows) {
  const Index lanes = kernel.direct_cols(kernel.direct_rows);
  const Index whole = kernel.direct_cols(static_cast<int>(rows)) / lanes;
  const Index vectors = ceil_div(x.n, lanes);
  const auto cycles_of_row = [&](Index r) {
    const double last = vectors % whole == 0 ? 0 : cycles_of_tile(r, vectors % whole, x.k);
    return static_cast<double>(vectors / whole) * cycles_of_tile(r, whole, x.k) + last;
  };
  const Index left = x.m % rows;
  return static_cast<double>(x.m / rows) * cycles_of_row(rows) + (left == 0 ? 0 : cycles_of_row(left));
}

/// More rows than fit one tile are cut into tiles of nearly equal size, with one, two, … vectors of B beside them,
/// whichever leaves the least over.
template <class T>
Index rows_of_tile(const GemmOperands<T>& x, const MicroKernel<T>& kernel) {
  const Index lanes = kernel.direct_cols(kernel.direct_rows);
  const bool aliases =
      x.op_a == Op::None && x.m > rows_that_alias && x.lda * static_cast<Index>(sizeof(T)) % aliasing_bytes == 0;
  const Index most = std::min<Index>(aliases ? rows_that_alias : kernel.direct_rows, kernel.direct_rows);
  const auto even = [&](Index rows) { return ceil_div(x.m, ceil_div(x.m, std::max<Index>(1, rows))); };
  if (x.n <= lanes) return even(most);
  Index best = even(std::min<Index>(most, kernel.tile_m));
  constexpr Index worth_a_choice = 32 * 32 * 32;
  if (best == 1 || x.m * x.n * x.k < worth_a_choice) return best;
  double least = cycles_with_rows(x, kernel, best);
  for (Index vectors = 3; vectors <= 4; ++vectors) { // tile_m leaves room for two
    const Index rows = even(std::min<Index>(most, (2 * kernel.tile_m + 4) / vectors - 1));
    const double cycles = cycles_with_rows(x, kernel, rows);
    if (cycles >= least) continue;
    least = cycles;
    best = rows;
  }
  return best;
}

template <class T>
class DirectProduct {
 public:
  DirectProduct(CpuExecutor& cpu, const GemmCall& call, const MicroKernel<T>& kernel)
      : x_(call),
        kernel_(kernel),
        team_(cpu.team()),
        tile_m_(rows_of_tile(x_, kernel)),
        tile_n_(kernel.direct_cols(static_cast<int>(tile_m_))),
        tiles_m_(ceil_div(x_.m, tile_m_)),
        tiles_n_(ceil_div(x_.n, tile_n_)),
        segments_(ceil_div(x_.k, canonical_segment)) {
    constexpr double worth_a_thread = 1 << 18; // multiply-adds: some microseconds
    const double work = static_cast<double>(x_.m) * static_cast<double>(x_.n) * static_cast<double>(x_.k);
    threads_ =
        static_cast<int>(std::clamp(work / worth_a_thread, 1.0, static_cast<double>(cpu.threads_for(call.threads))));
    const bool shares_segments = threads_ > 1 && segments_ > 1 && tiles() < 2 * threads_;
    const auto take = [&](Carver& carver) {
      if (x_.op_b == Op::Transpose) b_copy_ = carver.take<T>(static_cast<std::size_t>(x_.k * x_.n));
      if (shares_segments) sums_ = carver.take<T>(static_cast<std::size_t>(segments_ * x_.m * x_.n));
    };
    Carver size;
    take(size);
    if (size.used() == 0) return;
    scratch_ = cpu.scratch().acquire(size.used());
    Carver arrays(scratch_.data());
    take(arrays);
  }

  void run() {
    if (b_copy_ != nullptr) transpose_b(team_, threads_, x_, b_copy_);
    if (sums_ != nullptr) return run_segments();
    constexpr Index tasks_per_thread = 8; // evens out what the operating system takes from one thread
    const Index each = std::max<Index>(1, tiles() / (threads_ * tasks_per_thread));
    if (threads_ == 1) return compute(0, tiles());
    team_.run(ceil_div(tiles(), each), threads_,
              [&](Index task, int) { compute(task * each, std::min((task + 1) * each, tiles())); });
  }

 private:
  static constexpr Index largest_tile = 2048; // elements: of a single row; others fit the vector registers

  struct Tile {
    Index i, j;
    int rows, cols;
  };

  Index tiles() const { return tiles_m_ * tiles_n_; }
  Tile tile_at(Index number) const { // down the rows first: a tile's columns of B are then still in cache
    const Index i = number % tiles_m_ * tile_m_;
    const Index j = number / tiles_m_ * tile_n_;
    return {i, j, static_cast<int>(std::min(tile_m_, x_.m - i)), static_cast<int>(std::min(tile_n_, x_.n - j))};
  }

  /// Sums of one segment of a tile.
  void multiply(const Tile& tile, Index segment, T* out, Index ld) const {
    const Index p = segment * canonical_segment;
    const Index a_row = x_.op_a == Op::None ? x_.lda : 1;
    const Index a_step = x_.op_a == Op::None ? 1 : x_.lda;
    constexpr Index rows_ahead = 16; // what memory's latency asks for
    kernel_.multiply_direct({.rows = tile.rows,
                             .cols = tile.cols,
                             .k = std::min(canonical_segment, x_.k - p),
                             .a = x_.a + tile.i * a_row + p * a_step,
                             .a_row = a_row,
                             .a_step = a_step,
                             .b = x_.b + p * x_.ldb + tile.j,
                             .b_step = x_.ldb,
                             .b_ahead = rows_ahead * x_.ldb,
                             .more = false,
                             .tile = out,
                             .ld = ld});
  }

  Update<T> update(Index segment) const { return {segment == 0, segment + 1 == segments_, x_.alpha, x_.beta}; }

  void compute(Index first, Index last) const {
    alignas(64) T sums[largest_tile];
    alignas(64) T waiting[largest_tile];
    const bool is_plain = segments_ == 1 && x_.alpha == T{1} && x_.beta == T{0};
    for (Index number = first; number < last; ++number) {
      const Tile tile = tile_at(number);
      T* c = x_.c + tile.i * x_.ldc + tile.j;
      if (is_plain) {
        multiply(tile, 0, c, x_.ldc);
        continue;
      }
      for (Index segment = 0; segment < segments_; ++segment) {
        multiply(tile, segment, sums, tile_n_);
        apply(update(segment), tile.rows, tile.cols, sums, tile_n_, waiting, tile_n_, c, x_.ldc);
      }
    }
  }

  /// Segments side by side, then added in their order.
  void run_segments() {
    T* const sums = sums_;
    const Index size = x_.m * x_.n;
    team_.run(tiles() * segments_, threads_, [&](Index task, int) {
      const Tile tile = tile_at(task % tiles());
      const Index segment = task / tiles();
      multiply(tile, segment, sums + segment * size + tile.i * x_.n + tile.j, x_.n);
    });
    for (Index segment = 0; segment < segments_; ++segment)
      apply(update(segment), x_.m, x_.n, sums + segment * size, x_.n, sums, x_.n, x_.c, x_.ldc);
  }

  GemmOperands<T> x_;
  const MicroKernel<T>& kernel_;
  Team& team_;
  Index tile_m_, tile_n_, tiles_m_, tiles_n_, segments_;
  int threads_ = 1;
  Scratch scratch_;
  T* b_copy_ = nullptr;
  T* sums_ = nullptr; ///< of each segment, where segments are shared out
};

} // namespace

template <class T>
bool direct_pays(const GemmCall& call, const MicroKernel<T>& kernel) noexcept {
  constexpr double small_work = 160.0 * 160.0 * 160.0;
  const double work = static_cast<double>(call.m) * static_cast<double>(call.n) * static_cast<double>(call.k);
  if (work <= small_work) return true;
  return call.op_b == Op::None && (call.m <= kernel.direct_rows || call.n <= kernel.direct_cols(kernel.direct_rows));
}

template <class T>
Status direct_product(CpuExecutor& cpu, const GemmCall& call, const MicroKernel<T>& kernel) noexcept try {
  DirectProduct<T>(cpu, call, kernel).run();
  return {};
} catch (const std::bad_alloc&) {
  return {StatusCode::OutOfMemory, {}};
}

template bool direct_pays(const GemmCall&, const MicroKernel<float>&) noexcept;
template bool direct_pays(const GemmCall&, const MicroKernel<double>&) noexcept;
template Status direct_product(CpuExecutor&, const GemmCall&, const MicroKernel<float>&) noexcept;
template Status direct_product(CpuExecutor&, const GemmCall&, const MicroKernel<double>&) noexcept;

} // namespace tessera::cpu
