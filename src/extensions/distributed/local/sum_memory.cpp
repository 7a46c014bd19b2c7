#include "sum_memory.hpp"

#include <algorithm>
#include <string>

#include <tessera/backend/log.hpp>

#include "core/executor/executor_memory.hpp"

namespace tessera::distributed {
namespace {

/// With smaller blocks a device would wait for copies of short rows.
constexpr Index smallest_block = 64;

/// A GPU multiplies a block with two segments in the time in which the block's sums cross to it and back, and panels
/// of eight segments are small beside sums that do not fit. docs/lab/distributed.md has the numbers.
constexpr Index segments_of_group = 8;
/// Panels in the device's memory take room from the sums, so that fewer of them are kept there.
constexpr Index segments_of_group_on_device = 2;

/// Complex products have scratch memory of at least so many bytes.
constexpr std::size_t least_scratch = std::size_t{1} << 20;

std::string text_of_size(Index rows, Index cols) { return std::to_string(rows) + "×" + std::to_string(cols); }

} // namespace

SumMemory::SumMemory(const Facts& facts, const SumBlocks& largest, LocalProduct& local, Panels& a, Panels& b)
    : facts_(facts), largest_(largest), local_(local), a_(a), b_(b) {
  use(largest);
  const bool is_known = !facts.executor->capabilities().host_memory && memory() > 0;
  if (is_known && device_bytes() > 0 && device_bytes() + left_to_kernels() > memory()) take_less();
}

std::size_t SumMemory::device_bytes() const noexcept {
  return local_.device_bytes(blocks_) + a_.device_bytes() + b_.device_bytes();
}

std::size_t SumMemory::left_to_kernels() const noexcept {
  return memory() / 64 + (facts_.is_complex ? least_scratch : 0);
}

void SumMemory::use(const SumBlocks& blocks) noexcept {
  blocks_ = blocks;
  const bool in_groups = blocks_.several() && !facts_.layered;
  const Index most = facts_.device_messages ? segments_of_group_on_device : segments_of_group;
  group_ = in_groups ? std::min(facts_.steps, most) : facts_.steps;
  for (Panels* panels : {&a_, &b_}) panels->keep(facts_.layered ? facts_.steps : in_groups ? group_ + 1 : 1);
}

SumBlocks SumMemory::blocks_within(std::size_t bytes) const noexcept {
  const auto fits = [&](Index side) { return local_.device_bytes(largest_.cut(side)) <= bytes; };
  const Index most = std::max(largest_.block_rows, largest_.block_cols);
  return largest_.cut(tessera::detail::largest_side(std::min(smallest_block, most), most, fits));
}

/// A quarter is left to the kernels, as in a streamed product.
bool SumMemory::take_less() noexcept {
  const SumBlocks smallest = largest_.cut(smallest_block), before = blocks_;
  while (blocks_ == before && blocks_ != smallest) {
    of_device_ = (of_device_ != 0 ? of_device_ : memory() != 0 ? memory() : device_bytes()) / 2;
    use(smallest); // panels are kept, so that they take what they take with other small blocks
    const std::size_t limit = of_device_ / 4 * 3, panels = a_.device_bytes() + b_.device_bytes();
    use(blocks_within(limit - std::min(limit, panels)));
  }
  return blocks_ != before;
}

Status SumMemory::see_room() {
  std::size_t of_kernels = local_.device_bytes(blocks_) > memory() / 4 ? left_to_kernels() : 0; // else there is room
  if (of_device_ != 0) of_kernels = std::min(left_to_kernels(), of_device_ / 4);
  tessera::detail::ExecutorMemory room(*facts_.executor);
  return room.allocate(a_.device_bytes() + b_.device_bytes() + of_kernels);
}

Status SumMemory::no_room(const Status& status) const {
  return {status.code, "of the " + text_of_size(largest_.rows, largest_.cols) +
                           " sums of this rank, the device has no memory for blocks of " +
                           text_of_size(blocks_.block_rows, blocks_.block_cols) + " with their panels, " +
                           std::to_string(device_bytes()) +
                           " bytes; give it another device or more ranks: " + status.why};
}

Status SumMemory::reserve(bool& changed) {
  for (;;) {
    Status status = local_.allocate(blocks_);
    if (local_.device_bytes(blocks_) == 0) return status;
    if (status.ok()) status = see_room();
    if (status.ok() && log_dispatch() && blocks_.several())
      log_line("sums of " + text_of_size(largest_.rows, largest_.cols) + " in blocks of " +
               text_of_size(blocks_.block_rows, blocks_.block_cols) + " on " + facts_.executor->capabilities().device +
               ", with the panels of " + std::to_string(group_) + " segments for each");
    if (status.code != StatusCode::OutOfMemory) return status;
    if (!take_less()) return no_room(status);
    changed = true;
  }
}

} // namespace tessera::distributed
