#include "read_ahead.hpp"

#include <algorithm>
#include <chrono>
#include <new>
#include <system_error>
#include <utility>

#include <tessera/backend/log.hpp>
#include <tessera/backend/out_of_memory.hpp>
#include <tessera/detail/processors.hpp>
#include <tessera/detail/stopwatch.hpp>

#include "plan.hpp"

namespace tessera::files {
namespace {

using tessera::detail::BlockOfC;
using tessera::detail::SliceStep;

/// Threads take parts of about this size.
constexpr Index part_bytes = Index{1} << 20;

} // namespace

ReadAhead::ReadAhead(Executor& executor, tessera::detail::SharedBlocks& blocks, const SlicedFile& a,
                     const SlicedFile& b, Index k, Index segment, int threads, std::function<void(double)> multiplied)
    : executor_(executor),
      blocks_(blocks),
      k_(k),
      segment_(segment),
      thread_count_(threads),
      multiplied_(std::move(multiplied)) {
  lanes_[0].operand = a;
  lanes_[1].operand = b;
}

ReadAhead::~ReadAhead() {
  {
    const std::lock_guard lock(mutex_);
    stopping_ = true;
  }
  work_.notify_all();
  for (std::thread& thread : threads_) thread.join();
}

Status ReadAhead::allocate(std::size_t& allocated) {
  for (Lane& lane : lanes_)
    for (Slot& slot : lane.slots)
      if (Status status = slot.memory.allocate(executor_, lane.operand.bytes, allocated); !status.ok()) return status;
  return {};
}

/// Where the system refuses threads, next() reads by itself.
void ReadAhead::start() {
  {
    const std::lock_guard lock(mutex_);
    for (Lane& lane : lanes_) fill(lane);
  }
  threads_.reserve(static_cast<std::size_t>(thread_count_));
  for (int i = 0; i < thread_count_; ++i) try {
      threads_.emplace_back([this] { read(); });
    } catch (const std::system_error& error) {
      if (log_dispatch()) log_line(std::string("no thread to read a file: ") + error.what());
      return;
    } catch (const std::bad_alloc&) {
      return;
    }
}

/// Gives the block of a turn, which a lane reaches first; false if there is none.
bool ReadAhead::block_of(Index turn, BlockOfC& block) {
  if (turn >= turns_taken_) {
    if (no_more_blocks_ || !blocks_.take(taken_[static_cast<std::size_t>(turn) % taken_.size()])) {
      no_more_blocks_ = true;
      return false;
    }
    ++turns_taken_;
  }
  block = taken_[static_cast<std::size_t>(turn) % taken_.size()];
  return true;
}

/// Has the free slots of a lane read.
void ReadAhead::fill(Lane& lane) {
  for (;;) {
    Slot& slot = lane.slots[lane.filled_next];
    if (lane.ended || slot.state != State::Free) return;
    if (!block_of(lane.turn, slot.block)) {
      lane.ended = true;
      return;
    }
    const SlicedFile& x = lane.operand;
    slot.turn = lane.turn;
    slot.first = lane.first;
    slot.k = std::min(x.depth, k_ - lane.first);
    const Index outer = x.is_a ? slot.block.row : slot.block.col, size = x.is_a ? slot.block.rows : slot.block.cols;
    const bool along_rows = x.is_a == (x.op == Op::None); // k runs along the stored rows
    slot.row = along_rows ? outer : slot.first;
    slot.col = along_rows ? slot.first : outer;
    slot.rows = along_rows ? size : slot.k;
    slot.cols = along_rows ? slot.k : size;
    slot.ld = slice_ld(slot.cols, x.file->info().type);
    slot.next_row = 0;
    slot.rows_left = slot.rows;
    slot.state = State::Reading;
    lane.filled_next ^= 1;
    lane.first += slot.k;
    if (lane.first >= k_) {
      lane.first = 0;
      ++lane.turn;
    }
  }
}

/// Returns the slot that is needed first, among those with rows to read.
ReadAhead::Slot* ReadAhead::slot_to_read(Lane*& chosen) {
  Slot* best = nullptr;
  for (Lane& lane : lanes_)
    for (Slot& slot : lane.slots) {
      if (slot.state != State::Reading || slot.next_row == slot.rows) continue;
      if (best != nullptr && std::pair(best->turn, best->first) <= std::pair(slot.turn, slot.first)) continue;
      best = &slot;
      chosen = &lane;
    }
  return best;
}

/// Reads a part of a slice; false if there is nothing to read.
bool ReadAhead::read_part(Lock& lock) {
  Lane* lane = nullptr;
  Slot* const slot = failure_.ok() ? slot_to_read(lane) : nullptr;
  if (slot == nullptr) return false;
  NpyFile& file = *lane->operand.file;
  const auto element = static_cast<Index>(size_of(file.info().type));
  const Index first = slot->next_row;
  const Index rows = std::min(std::max<Index>(1, part_bytes / (slot->cols * element)), slot->rows - first);
  slot->next_row += rows;
  lock.unlock();
  Status status;
  try {
    status = file.read(slot->row + first, slot->col, rows, slot->cols, slot->memory.data() + first * slot->ld * element,
                       slot->ld);
  } catch (const std::bad_alloc& error) {
    status = out_of_memory(error);
  }
  lock.lock();
  if (!status.ok() && failure_.ok()) failure_ = std::move(status);
  slot->rows_left -= rows;
  if (slot->rows_left == 0) slot->state = State::Full;
  if (slot->rows_left == 0 || !failure_.ok()) full_.notify_all();
  return true;
}

void ReadAhead::read() noexcept {
  tessera::detail::leave_inherited_place();
  Lock lock(mutex_);
  while (!stopping_ && failure_.ok())
    if (!read_part(lock)) work_.wait(lock);
}

/// Waits until the slot of the next step is full, or the lane has no more.
Status ReadAhead::wait_for(Lane& lane, Lock& lock) {
  const measure::HostStopwatch watch;
  const Slot& slot = lane.slots[lane.used_next];
  while (failure_.ok() && !blocks_.stopped() && slot.state != State::Full && !(lane.ended && slot.state == State::Free))
    if (!threads_.empty() || !read_part(lock)) full_.wait_for(lock, std::chrono::milliseconds(50));
  seconds_waiting_ += watch.seconds();
  return failure_;
}

/// Frees the slot that was used if no step from k = `end` on needs it.
void ReadAhead::give_back(Lane& lane, Index end) {
  Slot& slot = lane.slots[lane.used_next];
  if (slot.first + slot.k > end) return;
  slot.state = State::Free;
  lane.used_next ^= 1;
  fill(lane);
}

Status ReadAhead::next(SliceStep& step, bool& given) noexcept try {
  given = false;
  if (current_.k > 0)
    multiplied_(2.0 * static_cast<double>(current_.block.rows) * static_cast<double>(current_.block.cols) *
                static_cast<double>(current_.k));
  Lock lock(mutex_);
  if (current_.k > 0) {
    for (Lane& lane : lanes_) give_back(lane, current_.first + current_.k);
    work_.notify_all();
  }
  for (Lane& lane : lanes_)
    if (Status status = wait_for(lane, lock); !status.ok()) return status;
  const Slot &a = lanes_[0].slots[lanes_[0].used_next], &b = lanes_[1].slots[lanes_[1].used_next];
  if (blocks_.stopped() || a.state != State::Full || b.state != State::Full) return {};
  const bool begins = current_.k == 0 || current_.last;
  step.block = a.block;
  step.first = begins ? 0 : current_.first + current_.k;
  step.k = std::min(segment_, k_ - step.first);
  step.last = step.first + step.k == k_;
  const auto place = [&](const Lane& lane, const Slot& slot) -> tessera::detail::HostSlice {
    const SlicedFile& x = lane.operand;
    const Index inner = step.first - slot.first;
    const bool along_rows = x.is_a == (x.op == Op::None);
    return {slot.memory.data() +
                static_cast<std::size_t>(along_rows ? inner : inner * slot.ld) * size_of(x.file->info().type),
            slot.ld};
  };
  step.a = place(lanes_[0], a);
  step.b = place(lanes_[1], b);
  current_ = step;
  given = true;
  return {};
} catch (const std::bad_alloc& error) {
  return out_of_memory(error);
}

} // namespace tessera::files
