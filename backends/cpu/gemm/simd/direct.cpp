/// simd_direct is one loop over tiles of C, each computed straight from the operands. Where tiles are few and k is
/// long, the loop is over tiles and segments of k.

#include "direct.hpp"

#include <algorithm>
#include <new>

#include <tessera/backend/out_of_memory.hpp>

#include "cpu/gemm/common/blocking.hpp"
#include "cpu/gemm/common/segment_sums.hpp"
#include "cpu/gemm/common/update.hpp"
#include "cpu/memory/scratch.hpp"
#include "direct_tiles.hpp"
#include "thread_trial.hpp"

namespace tessera::cpu {
namespace {

/// Says whether tiles of C are prefetched. Where vectors lie along the rows of C, two wide vector units lose more by
/// the prefetches than they wait for lines of C, unless all lines come from beyond L2 and little else is read.
template <class T>
bool is_asked_for(const GemmOperands<T>& x, const DirectPlan& plan, const MicroKernel<T>& kernel, Index l2) {
  const Index c_bytes = x.m * x.n * static_cast<Index>(sizeof(T));
  if (plan.swapped || !has_two_wide_vector_units(kernel.isa)) return c_bytes > small_result_bytes;
  return c_bytes > l2 && stays_in_l1(x.k * x.n * static_cast<Index>(sizeof(T)));
}

/// Computes a product with one thread, one segment and nothing to scale or add, whose plan packs nothing. It is for
/// small products and does as little as possible besides their tiles.
template <class T>
void multiply_here(const GemmOperands<T>& x, const DirectPlan& plan, const MicroKernel<T>& kernel, Index l2) {
  const DirectTiles<T> tiles(x, plan, kernel, l2, 1);
  const bool asks_for_c = is_asked_for(x, plan, kernel, l2);
  tiles.for_each([&](const Tile& tile) {
    T* const c = x.c + tile.c_i * x.ldc + tile.c_j;
    if (asks_for_c) ask_for(c, x.ldc, tile.c_rows, tile.c_cols);
    tiles.multiply(tile, 0, x.k, tile.i == 0, c, x.ldc);
  });
}

/// Says whether multiply_here can compute the call.
bool is_plain(const GemmCall& call, const DirectPlan& plan) {
  return call.k <= canonical_segment && plan.vectors != VectorsOfB::Packed && stores_plain_sums(call);
}

template <class T>
class DirectProduct {
 public:
  DirectProduct(CpuExecutor& cpu, const GemmCall& call, const DirectPlan& plan, const MicroKernel<T>& kernel, Index l2,
                int threads)
      : call_(call),
        x_(call),
        kernel_(kernel),
        team_(cpu.team()),
        packs_b_(plan.vectors == VectorsOfB::Packed),
        tiles_(x_, plan, kernel, l2, threads),
        segments_(ceil_div(x_.k, canonical_segment)),
        threads_(threads),
        asks_for_c_(is_asked_for(x_, plan, kernel, l2)) {
    shares_segments_ = threads_ > 1 && segments_ > 1 && tiles_.count() < 64 * threads_;
    if (threads_ > 1 && tiles_.view().m == 1 && plan.vectors == VectorsOfB::InPlace) shorten_row();
    T* strips = nullptr;
    const auto take = [&](Carver& carver) {
      if (packs_b_)
        strips = carver.take<T>(static_cast<std::size_t>(tiles_.columns_of_tiles() * tiles_.columns() * x_.k));
      if (shares_segments_) sums_.carve(carver, x_, segments_, tiles_.count());
    };
    Carver size;
    take(size);
    if (size.used() == 0) return;
    scratch_ = cpu.scratch().acquire(size.used());
    Carver arrays(scratch_.data());
    take(arrays);
    strips_b_ = strips;
    tiles_.set_strips(strips);
  }

  void run() {
    if (packs_b_) pack_b();
    if (threads_ == 1) return compute(0, tiles_.count());
    if (shares_segments_) return run_segments();
    // Many tasks even out the time that the operating system takes from a thread; each lasts some microseconds.
    constexpr double worth_a_task = 1 << 17; // multiply-adds
    const double work = static_cast<double>(x_.m) * static_cast<double>(x_.n) * static_cast<double>(x_.k);
    const Index tasks = threads_ * static_cast<Index>(std::clamp(work / (worth_a_task * threads_), 4.0, 16.0));
    const Index each = std::max<Index>(1, tiles_.count() / tasks);
    team_.run(ceil_div(tiles_.count(), each), threads_,
              [&](Index task, int) { compute(task * each, std::min((task + 1) * each, tiles_.count())); });
  }

 private:
  /// Packs a B whose columns lie along k.
  void pack_b() const {
    const DirectView<T>& view = tiles_.view();
    const Lines<T> lines{view.b, view.n, view.b_col, view.b_step};
    team_.run(tiles_.columns_of_tiles(), threads_, [&](Index strip, int) {
      kernel_.pack_b(lines, strip, strip + 1, 0, x_.k, strips_b_ + strip * tiles_.columns() * x_.k);
    });
  }

  /// Shortens the tiles of a product with one row of C, so that all threads get equally many. Such a product has few
  /// tiles, because they are long.
  void shorten_row() {
    constexpr Index tasks_per_thread = 4;
    constexpr Index shortest = 1024 / sizeof(T); // memory is read faster in long rows
    const Index columns = tiles_.view().n;
    const Index tasks = shares_segments_ ? segments_ : 1;
    const Index most = std::min(ceil_div(threads_ * tasks_per_thread, tasks), columns / shortest);
    if (most <= tiles_.columns_of_tiles()) return;
    constexpr Index line = 64 / sizeof(T);
    tiles_.set_columns(ceil_div(ceil_div(columns, even_parts(most, tasks, threads_)), line) * line);
  }

  /// Computes the sums of one segment of a tile and stores them at `out`. `b_is_near`: a tile above has read this part
  /// of B.
  void multiply(const Tile& tile, Index segment, T* out, Index ld, bool b_is_near) const {
    const Index p = segment * canonical_segment;
    tiles_.multiply(tile, p, std::min(canonical_segment, x_.k - p), !b_is_near, out, ld);
  }

  Update<T> update(Index segment) const { return {segment == 0, segment + 1 == segments_, x_.alpha, x_.beta, &call_}; }

  /// Computes the tiles [first, last).
  void compute(Index first, Index last) const {
    alignas(64) T sums[DirectTiles<T>::largest_tile];
    alignas(64) T waiting[DirectTiles<T>::largest_tile];
    const bool is_plain = segments_ == 1 && stores_plain_sums(call_);
    if (segments_ > 1 && x_.beta == T{0}) return compute_by_segments(first, last, sums);
    const bool is_scaled = segments_ == 1 && call_.epilogue.empty();
    const TileStore<T> store{.is_scaled = true, .alpha = x_.alpha, .beta = x_.beta};
    for (Index number = first; number < last; ++number) {
      const Tile tile = tiles_.at(number);
      T* c = x_.c + tile.c_i * x_.ldc + tile.c_j;
      if (asks_for_c_) ask_for(c, x_.ldc, tile.c_rows, tile.c_cols);
      const bool b_is_near = segments_ == 1 && number > first && tile.i > 0;
      if (is_plain) {
        multiply(tile, 0, c, x_.ldc, b_is_near);
        continue;
      }
      if (is_scaled) {
        multiply(tile, 0, sums, tile.c_cols, b_is_near);
        kernel_.store(tile.c_rows, tile.c_cols, sums, tile.c_cols, c, x_.ldc, store);
        continue;
      }
      for (Index segment = 0; segment < segments_; ++segment) {
        multiply(tile, segment, sums, tile.c_cols, b_is_near);
        apply(update(segment), tile.c_rows, tile.c_cols, sums, tile.c_cols, waiting, tile.c_cols, c, x_.ldc);
      }
    }
  }

  /// Computes the tiles [first, last), where the sums of earlier segments wait in C. All tiles of a segment come before
  /// the next segment, so that the segment's part of B stays in the cache.
  void compute_by_segments(Index first, Index last, T* sums) const {
    for (Index segment = 0; segment < segments_; ++segment)
      for (Index number = first; number < last; ++number) {
        const Tile tile = tiles_.at(number);
        T* c = x_.c + tile.c_i * x_.ldc + tile.c_j;
        if (asks_for_c_) ask_for(c, x_.ldc, tile.c_rows, tile.c_cols);
        multiply(tile, segment, sums, tile.c_cols, number > first && tile.i > 0);
        apply(update(segment), tile.c_rows, tile.c_cols, sums, tile.c_cols, c, x_.ldc, c, x_.ldc);
      }
  }

  /// Runs one loop over all tiles and segments of k.
  void run_segments() {
    team_.run(tiles_.count() * segments_, threads_, [&](Index task, int) {
      const Index number = task % tiles_.count();
      const Index segment = task / tiles_.count();
      const Tile tile = tiles_.at(number);
      multiply(tile, segment, sums_.at(segment, tile.c_i, tile.c_j), sums_.ld(), false);
      sums_.add_if_last(number, tile.c_i, tile.c_j, tile.c_rows, tile.c_cols, call_, x_);
    });
  }

  const GemmCall& call_;
  GemmOperands<T> x_;
  const MicroKernel<T>& kernel_;
  Team& team_;
  bool packs_b_;
  DirectTiles<T> tiles_;
  Index segments_;
  int threads_;
  bool asks_for_c_;
  bool shares_segments_ = false; ///< segments of k are shared out as well as tiles
  Scratch scratch_;
  T* strips_b_ = nullptr; ///< the strips of a packed B, each k long
  SegmentSums<T> sums_;
};

template <class T>
void multiply(CpuExecutor& cpu, const GemmCall& call, const MicroKernel<T>& kernel, int threads) {
  const GemmOperands<T> x(call);
  const Index l2 = l2_bytes_of(cpu.capabilities());
  const DirectPlan& plan = direct_plan(x, kernel, l2);
  if (threads == 1 && is_plain(call, plan))
    multiply_here<T>(x, plan, kernel, l2);
  else
    DirectProduct<T>(cpu, call, plan, kernel, l2, threads).run();
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
