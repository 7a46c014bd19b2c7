#pragma once

/// The blocks that C is cut into, and how several executors share them out.

#include <algorithm>
#include <atomic>
#include <mutex>
#include <utility>
#include <vector>

#include <tessera/status.hpp>
#include <tessera/types.hpp>

namespace tessera::detail {

/// A rectangle of C.
struct BlockOfC {
  Index row = 0, col = 0, rows = 0, cols = 0;
};

/// The blocks that C, m×n, is cut into. They are block_m×block_n; blocks at the lower and right edges are smaller. They
/// are numbered row by row.
struct BlockGrid {
  Index m = 0, n = 0;
  Index block_m = 1, block_n = 1;

  Index rows() const noexcept { return (m + block_m - 1) / block_m; }
  Index cols() const noexcept { return (n + block_n - 1) / block_n; }
  Index count() const noexcept { return rows() * cols(); }
  BlockOfC at(Index number) const noexcept {
    const Index row = number / cols() * block_m, col = number % cols() * block_n;
    return {row, col, std::min(block_m, m - row), std::min(block_n, n - col)};
  }
  Index number_of(const BlockOfC& block) const noexcept { return block.row / block_m * cols() + block.col / block_n; }
};

/// Hands out the blocks of a grid, each one once. Several threads may call the functions at once.
class SharedBlocks {
 public:
  /// Blocks whose number is true in `done` are not handed out; an empty `done` is none.
  explicit SharedBlocks(const BlockGrid& grid, std::vector<bool> done = {}) : grid_(grid), done_(std::move(done)) {}

  const BlockGrid& grid() const noexcept { return grid_; }
  /// Gives the next block; false if there is none or a thread has failed.
  bool take(BlockOfC& block) noexcept {
    while (!stopped()) {
      const Index number = next_.fetch_add(1, std::memory_order_relaxed);
      if (number >= grid_.count()) return false;
      if (!done_.empty() && done_[static_cast<std::size_t>(number)]) continue;
      block = grid_.at(number);
      return true;
    }
    return false;
  }

  /// May take() give another block?
  bool has_more() const noexcept { return !stopped() && next_.load(std::memory_order_relaxed) < grid_.count(); }

  /// Keeps the first failure, and makes all threads stop. Returns whether this failure is the first.
  bool fail(Status status) noexcept {
    const std::lock_guard lock(mutex_);
    const bool first = failure_.ok();
    if (first) failure_ = std::move(status);
    stopped_.store(true);
    return first;
  }
  bool stopped() const noexcept { return stopped_.load(std::memory_order_relaxed); }
  Status failure() {
    const std::lock_guard lock(mutex_);
    return failure_;
  }

 private:
  const BlockGrid grid_;
  const std::vector<bool> done_;
  std::atomic<Index> next_ = 0;
  std::atomic<bool> stopped_ = false;
  std::mutex mutex_;
  Status failure_;
};

} // namespace tessera::detail
