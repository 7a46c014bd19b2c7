/// For each block of C and each segment of k, the threads pack the operands and then multiply the strips tile by tile.
///
/// All threads pack B, and all of them read it. Packing and multiplying a block are two loops, because the second one
/// needs all of the first one's strips. With one or two threads, each thread packs the rows of A that its own task
/// needs, into memory that stays in L2. More threads share a packed A as they share B, and pack the next block in the
/// loop that multiplies the current one.
///
/// k is not cut finer than a segment, so that a chain stays in registers from its first to its last step. A strip then
/// fits L2 but not L1; the hardware's prefetchers make up for that.

#include "blocked.hpp"

#include <algorithm>
#include <new>
#include <optional>

#include <tessera/backend/out_of_memory.hpp>

#include "blocking.hpp"
#include "cpu/memory/scratch.hpp"
#include "part_of_result.hpp"
#include "update.hpp"

namespace tessera::cpu {
namespace {

template <class T>
class BlockedProduct {
 public:
  BlockedProduct(CpuExecutor& cpu, const BlockedCall<T>& call, const MicroKernel<T>& kernel)
      : x_(call),
        kernel_(kernel),
        columns_(kernel.tile_n / kernel.parts),
        team_(cpu.team()),
        blocking_(choose_blocking(cpu.capabilities(), kernel, call.m, call.n, call.k, cpu.threads_for(call.threads))),
        l2_bytes_(l2_bytes_of(cpu.capabilities())),
        triangle_(x_.part, kernel.parts, x_.has_real_diagonal) {
    if (call.c == call.a.data) { // all columns of C meet a row of A before it is overwritten
      blocking_.block_n = ceil_div(call.n, kernel.tile_n) * kernel.tile_n;
      blocking_.task_n = blocking_.block_n;
    }
    // With many threads, waiting for the last one costs more than the cache that a second buffer takes.
    shares_a_ = blocking_.threads > few_threads;
    packs_ahead_ = shares_a_ && after(block_at(0, 0, 0, true, 0, 0)).has_value();
    Carver size;
    carve(size);
    scratch_ = cpu.scratch().acquire(size.used());
    Carver arrays(scratch_.data());
    carve(arrays);
  }

  void run() {
    const double work = static_cast<double>(x_.m) * static_cast<double>(x_.n) * static_cast<double>(x_.k);
    if (blocking_.threads == 1 || work < enough_to_stay_together) return run_blocks();
    team_.together(blocking_.threads, [this] { run_blocks(); });
  }

 private:
  void run_blocks() {
    Block block = block_at(0, 0, 0, true, 0, 0);
    share_out(nullptr, &block);
    while (const std::optional<Block> next = after(block)) {
      if (packs_ahead_) {
        share_out(&block, &*next);
      } else {
        share_out(&block, nullptr);
        share_out(nullptr, &*next);
      }
      block = *next;
    }
    share_out(&block, nullptr);
  }

  static constexpr int few_threads = 2;

  /// A block of C and a segment of k.
  struct Block {
    Index i, j, p;
    Index m, n, k;
    bool b_is_new;          ///< false: B was packed for the block before
    int a_buffer, b_buffer; ///< where the operands are packed
  };

  Block block_at(Index i, Index j, Index p, bool b_is_new, int a_buffer, int b_buffer) const {
    return {.i = i,
            .j = j,
            .p = p,
            .m = std::min(blocking_.block_m, x_.m - i),
            .n = std::min(blocking_.block_n, x_.n - j),
            .k = std::min(canonical_segment, x_.k - p),
            .b_is_new = b_is_new,
            .a_buffer = a_buffer,
            .b_buffer = b_buffer};
  }

  /// Returns the block that follows, or nothing after the last one. Where sums wait in C, the order is such that B is
  /// packed once for all blocks of the same columns.
  std::optional<Block> after(const Block& block) const {
    Index i = block.i, j = block.j, p = block.p;
    const auto advance = [](Index& at, Index step, Index end) {
      at = at + step < end ? at + step : 0;
      return at > 0;
    };
    const auto next_i = [&] { return advance(i, blocking_.block_m, x_.m); };
    const auto next_p = [&] { return advance(p, canonical_segment, x_.k); };
    const bool same_columns = sums_in_c() ? next_i() || next_p() : next_p() || next_i();
    if (!same_columns && (j += blocking_.block_n) >= x_.n) return {};
    const bool b_is_new = j != block.j || p != block.p || !sums_in_c();
    const int other = packs_ahead_ ? 1 : 0;
    return block_at(i, j, p, b_is_new, block.a_buffer ^ other, b_is_new ? block.b_buffer ^ other : block.b_buffer);
  }

  /// Says whether the sums of earlier segments wait in C. They cannot where C's old elements are needed at the end.
  bool sums_in_c() const { return (x_.beta == T{0} && x_.beta_imaginary == T{0}) || x_.k <= canonical_segment; }

  void carve(Carver& carver) {
    const auto k = static_cast<std::size_t>(std::min(canonical_segment, x_.k));
    const auto block_m = static_cast<std::size_t>(blocking_.block_m);
    const auto block_n = static_cast<std::size_t>(blocking_.block_n);
    for (int buffer = 0; buffer < (packs_ahead_ ? 2 : 1); ++buffer) {
      if (shares_a_) packed_a_[buffer] = carver.take<T>(block_m * k);
      packed_b_[buffer] = carver.take<T>(block_n / static_cast<std::size_t>(kernel_.parts) * k);
    }
    for (int slot = 0; slot < (shares_a_ ? 0 : blocking_.threads); ++slot)
      own_a_[slot].strips = carver.take<T>(static_cast<std::size_t>(blocking_.task_m) * k);
    if (!sums_in_c()) sums_ = carver.take<T>(block_m * block_n);
  }

  struct PackTasks {
    Index at_a_time = 0; ///< strips that one task packs
    Index a = 0, b = 0;  ///< numbers of tasks that pack A and B
  };

  PackTasks pack_tasks(const Block& block) const {
    const Index strips_a = shares_a_ ? ceil_div(block.m, kernel_.tile_m) : 0;
    const Index strips_b = block.b_is_new ? ceil_div(block.n, kernel_.tile_n) : 0;
    // A task packs neighbouring strips, because they share the pages of their rows. It packs more of them where k is
    // short, and fewer where there are many threads.
    const Index for_a_task = std::max<Index>(4, 16384 / (block.k * columns_));
    const Index for_a_thread = (strips_a + strips_b) / (2 * blocking_.threads);
    const Index at_a_time = std::max<Index>(1, std::min(for_a_task, for_a_thread));
    return {at_a_time, ceil_div(strips_a, at_a_time), ceil_div(strips_b, at_a_time)};
  }

  Index multiply_tasks(const Block& block) const {
    return ceil_div(block.m, blocking_.task_m) * ceil_div(block.n, blocking_.task_n);
  }

  /// Runs one loop that multiplies the block `multiplied` and packs the block `packed`; either may be null. The tasks
  /// that pack come last: they are small and fill the time of threads that have nothing left to multiply.
  void share_out(const Block* multiplied, const Block* packed) {
    const Index products = multiplied != nullptr ? multiply_tasks(*multiplied) : 0;
    const PackTasks packing = packed != nullptr ? pack_tasks(*packed) : PackTasks{};
    team_.run(products + packing.a + packing.b, blocking_.threads, [&](Index task, int slot) {
      if (task < products)
        multiply_task(*multiplied, task, slot);
      else
        pack_task(*packed, packing, task - products);
    });
  }

  void pack_task(const Block& block, const PackTasks& tasks, Index task) const {
    const bool is_a = task < tasks.a;
    const Index tile = is_a ? kernel_.tile_m : kernel_.tile_n;
    const Index first = (is_a ? task : task - tasks.a) * tasks.at_a_time;
    const Index last = std::min(first + tasks.at_a_time, ceil_div(is_a ? block.m : block.n, tile));
    const Index before = (is_a ? block.i : block.j) / tile; // strips of earlier blocks
    if (!is_a)
      return kernel_.pack_b(x_.b, before + first, before + last, block.p, block.k,
                            packed_b_[block.b_buffer] + first * columns_ * block.k);
    kernel_.pack_a(x_.a, before + first, before + last, block.p, block.k,
                   packed_a_[block.a_buffer] + first * tile * block.k);
  }

  /// Returns the packed strips of A for a block's rows [first, last). Where A is not shared, the calling thread packs
  /// them first.
  const T* strips_of_a(const Block& block, Index first, Index last, int slot) {
    if (shares_a_) return packed_a_[block.a_buffer] + first * block.k;
    OwnRows& own = own_a_[slot];
    if (own.i != block.i + first || own.p != block.p) { // else this thread packed them for a task of the same rows
      const Index strip = (block.i + first) / kernel_.tile_m;
      kernel_.pack_a(x_.a, strip, strip + ceil_div(last - first, kernel_.tile_m), block.p, block.k, own.strips);
      own.i = block.i + first;
      own.p = block.p;
    }
    return own.strips;
  }

  /// Returns how many columns of B meet every strip of A before the next columns are fetched. Where k is short, half of
  /// L2 holds them, so that tiles follow each other along the rows of C, on the same pages. Elsewhere it is one strip.
  Index columns_at_once(const Block& block) const {
    constexpr Index short_k = 512;
    if (block.k > short_k) return kernel_.tile_n;
    const Index strip_bytes = block.k * columns_ * static_cast<Index>(sizeof(T));
    return std::max<Index>(1, l2_bytes_ / 2 / strip_bytes) * kernel_.tile_n;
  }

  void multiply_task(const Block& block, Index task, int slot) {
    const Index tile_m = kernel_.tile_m;
    const Index tile_n = kernel_.tile_n;
    const Index tasks_n = ceil_div(block.n, blocking_.task_n);
    const Index first_i = task / tasks_n * blocking_.task_m;
    const Index first_j = task % tasks_n * blocking_.task_n;
    const Index last_i = std::min(first_i + blocking_.task_m, block.m);
    const Index last_j = std::min(first_j + blocking_.task_n, block.n);
    if (triangle_.has_none(block.i + first_i, block.i + last_i, block.j + first_j, block.j + last_j)) return;
    const T* const strips_a = strips_of_a(block, first_i, last_i, slot);
    const Index at_once = columns_at_once(block);
    const Index strip = columns_ * block.k;
    for (Index column = first_j; column < last_j; column += at_once) {
      const Index end = std::min(column + at_once, last_j);
      for (Index i = first_i; i < last_i; i += tile_m)
        for (Index j = column; j < end; j += tile_n) {
          const Index rows = std::min(tile_m, last_i - i), cols = std::min(tile_n, last_j - j);
          if (triangle_.has_none(block.i + i, block.i + i + rows, block.j + j, block.j + j + cols)) continue;
          const Terms terms = terms_of(block, i, j);
          if (terms.count <= 0) continue;
          const T* a = strips_a + (i - first_i) * block.k + terms.begin * tile_m;
          const T* b = packed_b_[block.b_buffer] + j / tile_n * strip + terms.begin * columns_;
          // The next strip of B is in L3 or in memory. The first tiles of this strip prefetch it, each a part of it.
          const Index part = (i - first_i) / tile_m * block.k * (prefetch_bytes / static_cast<Index>(sizeof(T)));
          const T* prefetch = at_once == tile_n && part < strip && j + tile_n < last_j ? b + strip + part : b;
          multiply_tile(block, terms, i, j, rows, cols, a, b, prefetch);
        }
    }
  }

  /// The terms that a tile's sums have in a block: all of them, unless an operand is a triangle.
  struct Terms {
    Index begin, count;       ///< steps of the block's k
    bool are_first, are_last; ///< of the sums
  };
  Terms terms_of(const Block& block, Index i, Index j) const {
    const Index row = block.i + i, col = (block.j + j) / kernel_.parts, block_end = block.p + block.k;
    const Index first = std::max(x_.a.first_step(row), x_.b.first_step(col));
    const Index last = std::min(x_.a.last_step(row, kernel_.tile_m, x_.k), x_.b.last_step(col, columns_, x_.k));
    const Index begin = std::max(first, block.p), end = std::min(last, block_end);
    return {begin - block.p, end - begin, block.p <= first, last <= block_end};
  }

  /// Computes a tile of the block's C from strips of A and B: rows×cols elements from (i, j) on.
  void multiply_tile(const Block& block, const Terms& terms, Index i, Index j, Index rows, Index cols, const T* a,
                     const T* b, const T* prefetch) const {
    constexpr Index largest_tile = 16 * 32;
    alignas(64) T tile[largest_tile];
    const Index tile_n = kernel_.tile_n;
    const Update<T> update{.first = terms.are_first,
                           .last = terms.are_last,
                           .alpha = x_.alpha,
                           .beta = x_.beta,
                           .call = x_.with_epilogue,
                           .alpha_imaginary = x_.alpha_imaginary,
                           .beta_imaginary = x_.beta_imaginary};
    T* c = x_.c + (block.i + i) * x_.ldc + block.j + j;
    for (Index r = 0; r < rows; ++r) { // C is in L3 or in memory: it is prefetched before the sums are made
      __builtin_prefetch(c + r * x_.ldc, 0, 2);
      __builtin_prefetch(c + r * x_.ldc + cols - 1, 0, 2);
    }
    T* const s = sums_in_c() ? c : sums_ + i * blocking_.block_n + j;
    const Index lds = sums_in_c() ? x_.ldc : blocking_.block_n;
    if (triangle_.cuts(block.i + i, block.i + i + rows, block.j + j, block.j + j + cols)) {
      kernel_.multiply(static_cast<int>(rows), terms.count, a, b, tile, tile_n, {}, prefetch);
      for (Index r = 0; r < rows; ++r)
        update_in_triangle(update, block.i + i + r, block.j + j, cols, tile + r * tile_n, s + r * lds, c + r * x_.ldc);
      return;
    }
    if (cols == tile_n && (!update.last || kernel_stores_results()))
      return kernel_.multiply(static_cast<int>(rows), terms.count, a, b, s, lds, store_of(update), prefetch);
    const bool is_plain = update.last ? stores_plain_sums() : sums_in_c();
    if (2 * cols <= tile_n && kernel_.multiply_direct != nullptr) { // most of the strip of B is padding
      const bool in_place = is_plain && update.first;
      multiply_narrow(rows, cols, terms.count, a, b, in_place ? c : tile, in_place ? x_.ldc : tile_n);
      if (in_place) return;
    } else {
      kernel_.multiply(static_cast<int>(rows), terms.count, a, b, tile, tile_n, {}, prefetch);
    }
    apply(update, rows, cols, tile, tile_n, s, lds, c, x_.ldc);
  }

  bool has_epilogue() const { return x_.with_epilogue != nullptr && !x_.with_epilogue->epilogue.empty(); }
  bool has_factors() const {
    return x_.alpha != T{1} || x_.alpha_imaginary != T{0} || x_.beta != T{0} || x_.beta_imaginary != T{0};
  }
  bool stores_plain_sums() const { return !has_factors() && !has_epilogue(); }
  /// Does the micro-kernel itself store the results of the last segment? It can read C, or the sums that wait.
  bool kernel_stores_results() const { return sums_in_c() && !has_epilogue(); }
  TileStore<T> store_of(const Update<T>& update) const {
    return {.adds = !update.first,
            .is_scaled = update.last && has_factors(),
            .alpha = update.alpha,
            .beta = update.beta,
            .alpha_imaginary = update.alpha_imaginary,
            .beta_imaginary = update.beta_imaginary};
  }

  /// Updates a row of a tile where it is in the triangle: row i, `cols` elements from column j on, which are at s and
  /// c.
  void update_in_triangle(const Update<T>& update, Index i, Index j, Index cols, const T* tile, T* s, T* c) const {
    const Index begin = std::max(triangle_.begin(i), j), end = std::min(triangle_.end(i), j + cols);
    if (begin >= end) return;
    apply(update, 1, end - begin, tile + (begin - j), 0, s + (begin - j), 0, c + (begin - j), 0);
    const Index imaginary = 2 * i + 1;
    if (x_.has_real_diagonal && update.last && begin <= imaginary && imaginary < end) c[imaginary - j] = T{0};
  }

  /// Computes a tile of few columns from packed strips by the direct micro-kernel, which does not multiply by the
  /// strip's padding.
  void multiply_narrow(Index rows, Index cols, Index k, const T* a, const T* b, T* tile, Index ld) const {
    kernel_.multiply_direct({.rows = static_cast<int>(rows),
                             .cols = static_cast<int>(cols),
                             .k = k,
                             .a = a,
                             .a_row = 1,
                             .a_step = kernel_.tile_m,
                             .b = b,
                             .b_step = kernel_.tile_n,
                             .b_col = 1,
                             .b_ahead = 48 * kernel_.tile_n,
                             .more = false,
                             .tile = tile,
                             .ld = ld});
  }

  const BlockedCall<T>& x_;
  const MicroKernel<T>& kernel_;
  Index columns_; ///< of op(B) in a strip
  Team& team_;
  Blocking blocking_;
  Index l2_bytes_;
  PartOfResult triangle_;
  bool shares_a_ = false;
  bool packs_ahead_ = false; ///< the next block is packed while the current one is multiplied
  Scratch scratch_;
  /// The rows of A that a thread packed last, and where they begin in op(A).
  struct OwnRows {
    T* strips = nullptr;
    Index i = -1, p = -1;
  };
  OwnRows own_a_[few_threads];
  T* packed_a_[2] = {}; ///< the second buffers are used if packs_ahead_
  T* packed_b_[2] = {};
  T* sums_ = nullptr;
};

} // namespace

template <class T>
Status blocked_product(CpuExecutor& cpu, const GemmCall& call, const MicroKernel<T>& kernel) noexcept {
  const GemmOperands<T> x(call);
  const bool flips_a = x.op_a != Op::None, flips_b = x.op_b != Op::None;
  const BlockedCall<T> blocked{.m = x.m,
                               .n = x.n,
                               .k = x.k,
                               .a = {x.a, x.m, flips_a ? 1 : x.lda, flips_a ? x.lda : 1},
                               .b = {x.b, x.n, flips_b ? x.ldb : 1, flips_b ? 1 : x.ldb},
                               .alpha = x.alpha,
                               .beta = x.beta,
                               .c = x.c,
                               .ldc = x.ldc,
                               .threads = call.threads,
                               .with_epilogue = &call};
  return blocked_product(cpu, blocked, kernel);
}

template <class T>
Status blocked_product(CpuExecutor& cpu, const BlockedCall<T>& call, const MicroKernel<T>& kernel) noexcept try {
  BlockedProduct<T>(cpu, call, kernel).run();
  return {};
} catch (const std::bad_alloc& error) {
  return out_of_memory(error);
}

template Status blocked_product(CpuExecutor&, const GemmCall&, const MicroKernel<float>&) noexcept;
template Status blocked_product(CpuExecutor&, const GemmCall&, const MicroKernel<double>&) noexcept;
template Status blocked_product(CpuExecutor&, const BlockedCall<float>&, const MicroKernel<float>&) noexcept;
template Status blocked_product(CpuExecutor&, const BlockedCall<double>&, const MicroKernel<double>&) noexcept;

} // namespace tessera::cpu
