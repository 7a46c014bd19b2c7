#pragma once

/// The products of one rank: its part of the sums, in any executor's memory.

#include <array>
#include <memory>

#include <tessera/executor.hpp>
#include <tessera/running_sums.hpp>

#include "matrix/device_rectangle.hpp"
#include "matrix/executor_memory.hpp"
#include "panels/panels.hpp"

namespace tessera::distributed {

/// Adds panel products X·Yᵀ to the sums, one segment of k after the other: x is rows×k, y is cols×k. The sums are in
/// host memory without gaps, row by row; sums of 16-bit elements are f32. With a device they go through its memory,
/// strip by strip. Panels that are not there are copied there while the device multiplies the segment before, and the
/// host goes on meanwhile if the panels are in memory that the executor's copies do not wait for.
class LocalProduct {
 public:
  /// Which panels come in the executor's memory.
  struct OnDevice {
    bool x = false, y = false;
  };
  /// `most_k` is the longest segment.
  LocalProduct(Executor& executor, tessera::detail::DistributedType type, Index rows, Index cols, Index most_k,
               int threads, OnDevice on_device);

  /// Returns how many bytes of the device's memory allocate() allocates.
  std::size_t device_bytes() const noexcept;
  /// Sets where the sums are on the host, and allocates the device's memory.
  Status allocate(char* sums);

  /// Begins with rows first … first + count − 1 of the sums. `has_sums`: a part of k was added to them before.
  Status begin_strip(Index first, Index count, bool has_sums);
  /// Sets the panels of the next segment.
  Status begin_segment(const Panel& x, const Panel& y, Index k);
  /// Multiplies rows of the strip, from `first` on.
  Status multiply(Index first, Index count);
  /// Ends a segment that was multiplied for all rows of the strip.
  Status end_segment();
  /// Waits until the panels of all segments but the last one that ended were read.
  Status wait_for_earlier();
  /// Waits until the panels of all segments that began were copied to the device.
  Status wait_for_copies();
  /// Brings the strip's sums to the host.
  Status end_strip();
  /// Returns the sums in the device's memory, all strips of them.
  RunningSums sums_on_device() const noexcept { return {sums_, ld_, false}; }
  /// Waits for all copies and products, so that the panels' memory may be given to others.
  Status finish();

 private:
  bool on_host() const noexcept { return executor_.capabilities().host_memory; }
  /// Returns how the sums lie in a device's memory.
  tessera::detail::DeviceRectangle sums_layout() const noexcept { return {rows_, cols_, sum_}; }
  std::size_t row_bytes() const noexcept { return static_cast<std::size_t>(cols_) * sum_; }
  std::size_t pitch() const noexcept { return static_cast<std::size_t>(ld_) * sum_; }
  Status multiply_complex(const GemmCall& call, char* sums);
  Status copy_in(Panel& panel, char* memory, Index outer, Index k);
  std::size_t panel_bytes(Index outer) const noexcept;
  std::size_t x_bytes() const noexcept { return on_device_.x ? 0 : panel_bytes(rows_); }
  std::size_t y_bytes() const noexcept { return on_device_.y ? 0 : panel_bytes(cols_); }

  Executor& executor_;
  tessera::detail::DistributedType type_;
  std::size_t element_, sum_; ///< bytes of an element of a panel, and of a sum
  Index rows_, cols_, most_k_;
  int threads_;
  OnDevice on_device_;
  Index ld_; ///< of the sums where they are added up

  char *host_sums_ = nullptr, *sums_ = nullptr;
  tessera::detail::ExecutorMemory device_sums_, device_panels_;
  std::unique_ptr<Queue> copies_;
  /// Two slots for the panels of a segment, and what is recorded when they were copied and when the device has
  /// multiplied them.
  std::array<std::unique_ptr<Event>, 2> copied_, multiplied_;
  std::array<bool, 2> in_use_{};
  Event* last_copied_ = nullptr; ///< recorded after the last copies that were enqueued; null if they were waited for
  std::size_t slot_ = 0;
  Index strip_first_ = 0, strip_rows_ = 0, k_ = 0;
  bool has_sums_ = false;
  Panel x_, y_;
};

} // namespace tessera::distributed
