/// For each block of C, for each segment of k: pack that much of A and B, then multiply the strips, tile by tile.
///
/// A and B are packed by all threads and shared by all; packing and multiplying are two loops, for the second needs the
/// first done. k is not cut finer than a segment, so that a chain stays in registers from its first to its last step:
/// strips are then as long as L2 likes them, not L1, which the hardware's prefetchers make up for.

#include "cpu/gemm/blocked.hpp"

#include <algorithm>
#include <new>

#include "cpu/gemm/blocking.hpp"
#include "cpu/gemm/update.hpp"
#include "cpu/scratch.hpp"

namespace tessera::cpu {
namespace {

template <class T>
class BlockedProduct {
 public:
  BlockedProduct(CpuExecutor& cpu, const GemmCall& call, const MicroKernel<T>& kernel)
      : x_(call),
        kernel_(kernel),
        team_(cpu.team()),
        blocking_(choose_blocking(cpu.capabilities(), call.m, call.n, call.k, kernel.tile_m, kernel.tile_n, sizeof(T),
                                  cpu.threads_for(call.threads))),
        lines_a_{x_.a, x_.m, x_.op_a == Op::None ? x_.lda : 1, x_.op_a == Op::None ? 1 : x_.lda},
        lines_b_{x_.b, x_.n, x_.op_b == Op::None ? 1 : x_.ldb, x_.op_b == Op::None ? x_.ldb : 1} {
    Carver size;
    carve(size);
    scratch_ = cpu.scratch().acquire(size.used());
    Carver arrays(scratch_.data());
    carve(arrays);
  }

  void run() {
    for (Index j = 0; j < x_.n; j += blocking_.block_n) {
      if (sums_in_c()) { // B is packed once
        for (Index p = 0; p < x_.k; p += canonical_segment)
          for (Index i = 0; i < x_.m; i += blocking_.block_m) multiply_block(block_at(i, j, p), i == 0);
      } else {
        for (Index i = 0; i < x_.m; i += blocking_.block_m)
          for (Index p = 0; p < x_.k; p += canonical_segment) multiply_block(block_at(i, j, p), true);
      }
    }
  }

 private:
  /// A block of C and a segment of k.
  struct Block {
    Index i, j, p;
    Index m, n, k;
  };

  Block block_at(Index i, Index j, Index p) const {
    return {i,
            j,
            p,
            std::min(blocking_.block_m, x_.m - i),
            std::min(blocking_.block_n, x_.n - j),
            std::min(canonical_segment, x_.k - p)};
  }

  void multiply_block(const Block& block, bool b_is_new) {
    pack(block, b_is_new);
    multiply(block);
  }

  /// Sums of several segments wait in C, unless its old elements are needed at the end.
  bool sums_in_c() const { return x_.beta == T{0} || x_.k <= canonical_segment; }

  void carve(Carver& carver) {
    const auto k = static_cast<std::size_t>(std::min(canonical_segment, x_.k));
    const auto block_m = static_cast<std::size_t>(blocking_.block_m);
    const auto block_n = static_cast<std::size_t>(blocking_.block_n);
    packed_a_ = carver.take<T>(block_m * k);
    packed_b_ = carver.take<T>(block_n * k);
    if (!sums_in_c()) sums_ = carver.take<T>(block_m * block_n);
  }

  void pack(const Block& block, bool b_is_new) {
    const Index strips_a = ceil_div(block.m, kernel_.tile_m);
    const Index strips_b = b_is_new ? ceil_div(block.n, kernel_.tile_n) : 0;
    // Neighbouring strips together, for they share the pages of rows; more where k is short; fewer for many threads.
    const Index for_a_task = std::max<Index>(4, 16384 / (block.k * kernel_.tile_n));
    const Index for_a_thread = (strips_a + strips_b) / (2 * blocking_.threads);
    const Index at_a_time = std::max<Index>(1, std::min(for_a_task, for_a_thread));
    const Index tasks_a = ceil_div(strips_a, at_a_time);
    const Index tasks_b = ceil_div(strips_b, at_a_time);
    const Index first_strip_a = block.i / kernel_.tile_m;
    const Index first_strip_b = block.j / kernel_.tile_n;
    team_.run(tasks_a + tasks_b, blocking_.threads, [&](Index task, int) {
      const bool is_a = task < tasks_a;
      const Index strips = is_a ? strips_a : strips_b;
      const Index first = (is_a ? task : task - tasks_a) * at_a_time;
      const Index last = std::min(first + at_a_time, strips);
      if (is_a)
        kernel_.pack_a(lines_a_, first_strip_a + first, first_strip_a + last, block.p, block.k,
                       packed_a_ + first * kernel_.tile_m * block.k);
      else
        kernel_.pack_b(lines_b_, first_strip_b + first, first_strip_b + last, block.p, block.k,
                       packed_b_ + first * kernel_.tile_n * block.k);
    });
  }

  void multiply(const Block& block) {
    const Index tasks_m = ceil_div(block.m, blocking_.task_m);
    const Index tasks_n = ceil_div(block.n, blocking_.task_n);
    team_.run(tasks_m * tasks_n, blocking_.threads, [&](Index task, int) {
      const Index i = task / tasks_n * blocking_.task_m;
      const Index j = task % tasks_n * blocking_.task_n;
      multiply_task(block, i, std::min(i + blocking_.task_m, block.m), j, std::min(j + blocking_.task_n, block.n));
    });
  }

  /// Rows [first_i, last_i) and columns [first_j, last_j) of the block, from tile to tile: a strip of B meets every
  /// strip of A before the next one is fetched.
  void multiply_task(const Block& block, Index first_i, Index last_i, Index first_j, Index last_j) const {
    constexpr Index largest_tile = 16 * 32;
    alignas(64) T tile[largest_tile];
    const Index tile_m = kernel_.tile_m;
    const Index tile_n = kernel_.tile_n;
    const Update<T> update{block.p == 0, block.p + block.k == x_.k, x_.alpha, x_.beta};
    // The micro-kernel itself can store in C or add to it.
    const bool is_plain = update.last ? x_.alpha == T{1} && x_.beta == T{0} : sums_in_c();
    for (Index j = first_j; j < last_j; j += tile_n)
      for (Index i = first_i; i < last_i; i += tile_m) {
        const Index rows = std::min(tile_m, last_i - i);
        const Index cols = std::min(tile_n, last_j - j);
        const T* a = packed_a_ + i * block.k;
        const T* b = packed_b_ + j * block.k;
        T* c = x_.c + (block.i + i) * x_.ldc + block.j + j;
        // The next strip of B comes from far away: the first tiles of this one ask for it, a part each.
        const Index strip = tile_n * block.k;
        const Index part = (i - first_i) / tile_m * block.k * (soon_bytes / static_cast<Index>(sizeof(T)));
        const T* soon = part < strip && j + tile_n < last_j ? b + strip + part : b;
        for (Index r = 0; r < rows; ++r) { // C comes from far away: ask for it before the sums are made
          __builtin_prefetch(c + r * x_.ldc, 0, 2);
          __builtin_prefetch(c + r * x_.ldc + cols - 1, 0, 2);
        }
        if (is_plain && cols == tile_n) {
          kernel_.multiply(static_cast<int>(rows), block.k, a, b, c, x_.ldc, !update.first, soon);
          continue;
        }
        kernel_.multiply(static_cast<int>(rows), block.k, a, b, tile, tile_n, false, soon);
        T* s = sums_in_c() ? c : sums_ + i * blocking_.block_n + j;
        apply(update, rows, cols, tile, tile_n, s, sums_in_c() ? x_.ldc : blocking_.block_n, c, x_.ldc);
      }
  }

  GemmOperands<T> x_;
  const MicroKernel<T>& kernel_;
  Team& team_;
  Blocking blocking_;
  Lines<T> lines_a_;
  Lines<T> lines_b_;
  Scratch scratch_;
  T* packed_a_ = nullptr;
  T* packed_b_ = nullptr;
  T* sums_ = nullptr;
};

} // namespace

template <class T>
Status blocked_product(CpuExecutor& cpu, const GemmCall& call, const MicroKernel<T>& kernel) noexcept try {
  BlockedProduct<T>(cpu, call, kernel).run();
  return {};
} catch (const std::bad_alloc&) {
  return {StatusCode::OutOfMemory, {}};
}

template Status blocked_product(CpuExecutor&, const GemmCall&, const MicroKernel<float>&) noexcept;
template Status blocked_product(CpuExecutor&, const GemmCall&, const MicroKernel<double>&) noexcept;

} // namespace tessera::cpu
