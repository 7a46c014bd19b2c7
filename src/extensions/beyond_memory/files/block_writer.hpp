#pragma once

/// Finishes blocks of C and writes them, while executors compute the next ones.

#include <array>
#include <atomic>
#include <condition_variable>
#include <deque>
#include <functional>
#include <memory>
#include <mutex>
#include <thread>
#include <vector>

#include <tessera/detail/stopwatch.hpp>

#include "extensions/beyond_memory/streamed/slices.hpp"
#include "host_buffer.hpp"
#include "npy_file.hpp"
#include "plan.hpp"
#include "unfinished.hpp"

namespace tessera::files {

/// What becomes of the sums.
struct Ending {
  double alpha = 1.0, beta = 0.0;
  NpyFile* old_c = nullptr;             ///< of beta ≠ 0
  std::vector<const NpyFile*> operands; ///< must not have changed when a block is recorded as done
};

class BlockWriter {
 public:
  /// `header` is the number of bytes before the first element of C. `recorded` is called when blocks were recorded as
  /// done, with their number and the bytes written so far.
  BlockWriter(const Sizes& sizes, const FilePlan& plan, const Ending& ending, tessera::detail::SharedBlocks& blocks,
              Unfinished& unfinished, std::uint64_t header, std::function<void(Index, std::uint64_t)> recorded);
  ~BlockWriter();
  BlockWriter(const BlockWriter&) = delete;
  BlockWriter& operator=(const BlockWriter&) = delete;

  Status allocate(std::size_t& allocated);
  /// Makes a target for one executor, whose strips are in memory that its copies reach.
  Status make_target(Executor& executor, std::unique_ptr<tessera::detail::BlockTarget>& target, std::size_t& allocated);
  void start();
  /// Waits until all is written and recorded.
  Status finish();

  std::uint64_t bytes_written() const noexcept { return bytes_written_.load(std::memory_order_relaxed); }
  /// Returns the seconds for which executors have waited for a strip.
  double seconds_waiting();

 private:
  class Target;
  /// Rows of one block, on their way to the file.
  struct Strip {
    HostBuffer sums;
    bool busy = false;
    tessera::detail::BlockOfC block;
    Index first = 0, rows = 0;
  };

  void work() noexcept;
  Status write(Strip& strip);
  Status apply_ending(Strip& strip, const char*& result);
  Status read_old(const Strip& strip, char*& old);
  Status write_rows(const Strip& strip, const char* result);
  Status record(bool all);
  bool take_strip(Strip*& strip);

  const Sizes sizes_;
  const FilePlan plan_;
  const Ending ending_;
  tessera::detail::SharedBlocks& blocks_;
  Unfinished& unfinished_;
  const std::uint64_t header_;
  const std::function<void(Index, std::uint64_t)> recorded_;
  Executor* host_ = nullptr; ///< applies alpha and beta
  std::unique_ptr<Queue> queue_;
  HostBuffer old_, straight_, wide_, result_;

  std::mutex mutex_;
  std::condition_variable wake_, freed_;
  std::deque<Strip*> waiting_;
  bool ending_now_ = false;
  double seconds_waiting_ = 0;
  std::thread thread_;

  std::vector<Index> unrecorded_; ///< blocks that are written
  measure::HostStopwatch watch_;
  double recorded_at_ = 0, cost_of_recording_ = 0;
  std::atomic<std::uint64_t> bytes_written_ = 0;
};

} // namespace tessera::files
