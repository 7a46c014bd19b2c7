/// simd_panel takes a few steps of k at a time. It packs that much of A, then goes along the rows of B, tile by tile of
/// C, and extends the chains.
///
/// B comes from memory, which is read faster in long rows. So k is cut into short ranges, and the sum of a chain waits
/// in the cache between them. Each tile prefetches the lines of B that the tile after the next one will need. A is
/// packed, because its rows may lie a multiple of the caches' stride apart.

#include "few_rows.hpp"

#include <algorithm>
#include <new>

#include <tessera/backend/out_of_memory.hpp>

#include "cpu/gemm/common/blocking.hpp"
#include "cpu/gemm/common/segment_sums.hpp"
#include "cpu/gemm/common/update.hpp"
#include "cpu/memory/scratch.hpp"
#include "transposed_b.hpp"

namespace tessera::cpu {
namespace {

/// Steps of k between two visits of a chain. They are few enough for the rows of B beside a tile to stay in L2 while
/// several tiles of rows use them, even if these rows lie a multiple of the cache's stride apart.
constexpr Index steps_at_a_time = 128;
constexpr int tiles_ahead = 2;

/// Returns the rows of a tile: all m rows, or about nine, which leave registers for three vectors of B.
template <class T>
Index rows_of_tile(Index m, const MicroKernel<T>& kernel) {
  if (m <= kernel.tile_m) return m;
  return ceil_div(m, ceil_div(m, std::max(1, kernel.tile_m * 2 / 3)));
}

template <class T>
class FewRowsProduct {
 public:
  FewRowsProduct(CpuExecutor& cpu, const GemmCall& call, const MicroKernel<T>& kernel)
      : call_(call),
        x_(call),
        kernel_(kernel),
        team_(cpu.team()),
        tile_m_(rows_of_tile(x_.m, kernel)),
        tile_n_(kernel.direct_cols(static_cast<int>(tile_m_))),
        segments_(ceil_div(x_.k, canonical_segment)) {
    const double work = static_cast<double>(x_.m) * static_cast<double>(x_.n) * static_cast<double>(x_.k);
    threads_ = threads_for(work, cpu.threads_for(call.threads));
    share_out();
    const auto take = [&](Carver& carver) {
      if (x_.op_b == Op::Transpose) b_copy_ = carver.take<T>(static_cast<std::size_t>(x_.k * x_.n));
      for (Index slot = 0; slot < threads_; ++slot) {
        T* memory = carver.take<T>(static_cast<std::size_t>(packed_size() + (sums_in_c() ? 1 : 2) * x_.m * block_n_));
        if (slot == 0) own_ = memory;
        if (slot == 1) own_step_ = memory - own_;
      }
      if (splits_k_) sums_.carve(carver, x_, segments_, blocks_);
    };
    Carver size;
    take(size);
    scratch_ = cpu.scratch().acquire(size.used());
    Carver arrays(scratch_.data());
    take(arrays);
  }

  void run() {
    if (b_copy_ != nullptr) transpose_b(team_, threads_, x_, b_copy_);
    if (!splits_k_) {
      team_.run(blocks_, threads_, [&](Index number, int slot) { multiply_block(block_at(number), slot); });
      return;
    }
    team_.run(blocks_ * segments_, threads_, [&](Index task, int slot) {
      const Index segment = task / blocks_;
      const Index number = task % blocks_;
      const Block block = block_at(number);
      multiply_segment(segment, block, slot, sums_.at(segment, 0, block.j), sums_.ld());
      sums_.add_if_last(number, 0, block.j, x_.m, block.cols, call_, x_);
    });
  }

 private:
  /// The columns that one task goes along.
  struct Block {
    Index j, cols;
  };

  /// Cuts the product into blocks of columns. Where the blocks would be short and k is long, cuts it into segments of k
  /// as well. Long rows are read faster from memory; equal numbers of tasks let threads end together.
  void share_out() {
    constexpr Index tasks_per_thread = 6; // many tasks even out the time that the operating system takes from a thread
    constexpr Index long_row = 2048 / sizeof(T);
    constexpr Index fewest_tiles = 4;
    const Index tiles = ceil_div(x_.n, tile_n_);
    const Index wanted = threads_ == 1 ? 1 : threads_ * tasks_per_thread;
    splits_k_ = threads_ > 1 && segments_ > 1 && x_.n < wanted * long_row;
    const Index tasks = splits_k_ ? segments_ : 1; // tasks of a block
    // The chains that wait stay in L2.
    const Index in_cache = (Index{256} << 10) / (x_.m * static_cast<Index>(sizeof(T)) * tile_n_);
    const Index fewest = ceil_div(tiles, std::max(in_cache, fewest_tiles));
    const Index most = std::max<Index>(1, tiles / fewest_tiles);
    blocks_ = std::clamp(even_parts(ceil_div(wanted, tasks), tasks, threads_), fewest, std::max(fewest, most));
    if (blocks_ == most) blocks_ = std::max(fewest, even_parts(most, tasks, threads_));
    block_n_ = std::min(ceil_div(tiles, blocks_) * tile_n_, x_.n);
  }

  /// Returns block `number`. Blocks differ by at most one tile.
  Block block_at(Index number) const {
    const Index tiles = ceil_div(x_.n, tile_n_);
    const Index first = number * tiles / blocks_ * tile_n_;
    const Index last = (number + 1) * tiles / blocks_ * tile_n_;
    return {first, std::min(last, x_.n) - first};
  }

  Index tiles_m() const { return ceil_div(x_.m, tile_m_); }
  Index packed_size() const { return tiles_m() * kernel_.tile_m * steps_at_a_time; }
  /// Says whether the sums of earlier segments wait in C. They cannot where C's old elements are needed at the end.
  bool sums_in_c() const { return x_.beta == T{0} || segments_ == 1; }
  Update<T> update(Index segment) const { return {segment == 0, segment + 1 == segments_, x_.alpha, x_.beta, &call_}; }

  /// Computes a block of columns, from the first segment to the last.
  void multiply_block(const Block& block, int slot) const {
    T* const chains = own_ + slot * own_step_ + packed_size();
    T* const c = x_.c + block.j;
    T* const sums = sums_in_c() ? c : chains + x_.m * block_n_;
    const Index ld_sums = sums_in_c() ? x_.ldc : block_n_;
    for (Index segment = 0; segment < segments_; ++segment) {
      const bool straight = x_.beta == T{0} && segment == 0 && (segments_ > 1 || stores_plain_sums(call_));
      multiply_segment(segment, block, slot, straight ? c : chains, straight ? x_.ldc : block_n_);
      if (!straight) apply(update(segment), x_.m, block.cols, chains, block_n_, sums, ld_sums, c, x_.ldc);
    }
  }

  /// Computes the sums of one segment for a block of columns.
  void multiply_segment(Index segment, const Block& block, int slot, T* sums, Index ld) const {
    const Index first = segment * canonical_segment;
    const Index last = std::min(first + canonical_segment, x_.k);
    const Index last_of_task = splits_k_ ? last : x_.k;
    const Index tiled_cols = ceil_div(block.cols, tile_n_) * tile_n_;
    T* const packed_a = own_ + slot * own_step_;
    for (Index p = first; p < last; p += steps_at_a_time) {
      const Index steps = std::min(steps_at_a_time, last - p);
      pack_a(p, steps, packed_a);
      for (Index c = 0; c < block.cols; c += tile_n_) {
        Index ahead = tiles_ahead * tile_n_; // to the tile after the next one, in these rows of B or in the next rows
        if (c + ahead >= tiled_cols) ahead = p + steps < last_of_task ? steps * x_.ldb + ahead - tiled_cols : 0;
        for (Index i = 0; i < x_.m; i += tile_m_)
          kernel_.multiply_direct({.rows = static_cast<int>(std::min(tile_m_, x_.m - i)),
                                   .cols = static_cast<int>(std::min(tile_n_, block.cols - c)),
                                   .k = steps,
                                   .a = packed_a + i / tile_m_ * kernel_.tile_m * steps_at_a_time,
                                   .a_row = 1,
                                   .a_step = kernel_.tile_m,
                                   .b = x_.b + p * x_.ldb + block.j + c,
                                   .b_step = x_.ldb,
                                   .b_col = 1,
                                   .b_ahead = i == 0 ? ahead : 0,
                                   .more = p > first,
                                   .tile = sums + i * ld + c,
                                   .ld = ld});
      }
    }
  }

  /// Packs some steps of k of A. Each tile's rows become one strip, whether they fill it or not.
  void pack_a(Index p, Index steps, T* out) const {
    const Index line_step = x_.op_a == Op::None ? x_.lda : 1;
    const Index k_step = x_.op_a == Op::None ? 1 : x_.lda;
    for (Index i = 0; i < x_.m; i += tile_m_)
      kernel_.pack_a({x_.a + i * line_step, std::min(tile_m_, x_.m - i), line_step, k_step}, 0, 1, p, steps,
                     out + i / tile_m_ * kernel_.tile_m * steps_at_a_time);
  }

  const GemmCall& call_;
  GemmOperands<T> x_;
  const MicroKernel<T>& kernel_;
  Team& team_;
  Index tile_m_, tile_n_, segments_;
  int threads_ = 1;
  Index block_n_ = 0, blocks_ = 0; ///< columns of the longest block, and the number of blocks
  bool splits_k_ = false;          ///< segments of k are shared out as well
  Scratch scratch_;
  T* b_copy_ = nullptr;
  T* own_ = nullptr;   ///< a thread's packed part of A, its waiting chains, and its sums if they cannot wait in C
  Index own_step_ = 0; ///< elements from one thread's memory to the next thread's
  SegmentSums<T> sums_;
};

} // namespace

template <class T>
Status few_rows_product(CpuExecutor& cpu, const GemmCall& call, const MicroKernel<T>& kernel) noexcept try {
  FewRowsProduct<T>(cpu, call, kernel).run();
  return {};
} catch (const std::bad_alloc& error) {
  return out_of_memory(error);
}

template Status few_rows_product(CpuExecutor&, const GemmCall&, const MicroKernel<float>&) noexcept;
template Status few_rows_product(CpuExecutor&, const GemmCall&, const MicroKernel<double>&) noexcept;

} // namespace tessera::cpu
