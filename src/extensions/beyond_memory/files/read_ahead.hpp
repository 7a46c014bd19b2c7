#pragma once

/// Reads slices of A and B from their files while the slices before them are multiplied.

#include <array>
#include <condition_variable>
#include <functional>
#include <mutex>
#include <thread>
#include <vector>

#include "extensions/beyond_memory/streamed/slices.hpp"
#include "host_buffer.hpp"
#include "npy_file.hpp"

namespace tessera::files {

/// An operand of which slices are read.
struct SlicedFile {
  NpyFile* file = nullptr;
  bool is_a = true;      ///< its slices are rows of op(A); else columns of op(B)
  Op op = Op::None;      ///< how the stored matrix is read
  Index depth = 0;       ///< k that are read at once
  std::size_t bytes = 0; ///< of a slice in memory
};

/// The slices of one executor. Each operand has two buffers: threads read into one while the other one is multiplied.
/// The threads share out the rows of a slice, because a disk reads several short runs at once faster than one after the
/// other.
class ReadAhead final : public tessera::detail::SliceSource {
 public:
  /// A step is `segment` k deep. `multiplied` is called at each step with the floating-point operations of the step
  /// before.
  ReadAhead(Executor& executor, tessera::detail::SharedBlocks& blocks, const SlicedFile& a, const SlicedFile& b,
            Index k, Index segment, int threads, std::function<void(double)> multiplied);
  ~ReadAhead() override;
  ReadAhead(const ReadAhead&) = delete;
  ReadAhead& operator=(const ReadAhead&) = delete;

  /// Allocates the buffers. Nothing is read yet.
  Status allocate(std::size_t& allocated);
  /// Begins to read.
  void start();

  Status next(tessera::detail::SliceStep& step, bool& given) noexcept override;
  /// Returns the seconds for which next() has waited.
  double seconds_waiting() const noexcept { return seconds_waiting_; }

 private:
  using Lock = std::unique_lock<std::mutex>;
  enum class State { Free, Reading, Full };
  struct Slot {
    HostBuffer memory;
    State state = State::Free;
    Index turn = 0; ///< which of the executor's blocks it belongs to
    tessera::detail::BlockOfC block;
    Index first = 0, k = 0;                             ///< the k of the slice
    Index row = 0, col = 0, rows = 0, cols = 0, ld = 0; ///< the rectangle in the file
    Index next_row = 0, rows_left = 0;
  };
  struct Lane {
    SlicedFile operand;
    std::array<Slot, 2> slots;
    std::size_t filled_next = 0, used_next = 0; ///< slots
    Index turn = 0, first = 0;                  ///< the slice that is read next
    bool ended = false;
  };

  void fill(Lane& lane);
  void give_back(Lane& lane, Index end);
  bool block_of(Index turn, tessera::detail::BlockOfC& block);
  Slot* slot_to_read(Lane*& lane);
  bool read_part(Lock& lock);
  void read() noexcept;
  Status wait_for(Lane& lane, Lock& lock);

  Executor& executor_;
  tessera::detail::SharedBlocks& blocks_;
  const Index k_, segment_;
  const int thread_count_;
  const std::function<void(double)> multiplied_;

  std::mutex mutex_;
  std::condition_variable work_, full_;
  std::array<Lane, 2> lanes_;
  std::array<tessera::detail::BlockOfC, 8> taken_; ///< the blocks of the turns, modulo the size
  Index turns_taken_ = 0;
  bool no_more_blocks_ = false, stopping_ = false;
  Status failure_;
  std::vector<std::thread> threads_;

  tessera::detail::SliceStep current_; ///< what next() gave last; k = 0: nothing yet
  double seconds_waiting_ = 0;
};

} // namespace tessera::files
