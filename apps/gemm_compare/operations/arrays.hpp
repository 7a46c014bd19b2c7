#pragma once

/// The arrays of an operation in an executor's memory. There are several sets of them, so that timed runs rotate past
/// the cache and each run meets different data.

#include <vector>

#include <tessera/user_kernel/operation_table.hpp>

#include "race/operands.hpp"

namespace tessera::compare_app {

/// What the elements of an array that is written hold before a run, as a byte. The reference's are NaN (−1, of whole
/// numbers), and the ones of all other runs are not, so that elements that are not written differ.
inline constexpr unsigned char blank_of_reference = 0xFF;
inline constexpr unsigned char blank_of_race = 0x5A;

class OperationArrays {
 public:
  /// `count` sets of arrays in host memory, filled with the random numbers that the options ask for. Throws
  /// InvalidArgument for shapes that overflow, and OutOfMemory.
  static OperationArrays on_host(const OperationEntry& entry, const OperationSizes& sizes, const Options& options,
                                 std::size_t count);
  /// Copies of the sets of `host` in a device's memory. Throws Error.
  static OperationArrays on_device(const OperationArrays& host, Executor& device);

  std::size_t count() const { return sets_.size(); }
  /// One set as run() of the operation takes it.
  std::vector<ArrayPlace> places(std::size_t set) const;
  /// Enqueues what comes before a run: arrays that are written hold `blank`, updated ones their old elements. On the
  /// host it is done on return; on a device `blank` is blank_of_race.
  Status enqueue_preparation(std::size_t set, Executor& executor, unsigned char blank = blank_of_race) const;
  /// Copies one array of a set to host memory laid out as stored(array). Throws Error.
  std::vector<std::byte> copy_out(std::size_t set, std::size_t array, Executor& executor) const;

  const OperationEntry& entry() const { return *entry_; }
  const Stored& stored(std::size_t array) const { return stored_[array]; }

 private:
  struct Set {
    std::vector<Buffer> arrays,
        before; ///< `before` has a buffer for each array; it is empty unless the array is updated
  };
  OperationArrays(const OperationEntry& entry, std::vector<Stored> stored)
      : entry_(&entry), stored_(std::move(stored)) {}
  void allocate(Executor& executor, std::size_t count);
  bool is_updated(std::size_t array) const { return entry_->arrays[array].access == ArrayAccess::Updated; }

  const OperationEntry* entry_;
  std::vector<Stored> stored_;
  std::vector<Set> sets_;
  Buffer blank_; ///< of a device: as large as the largest array that is written
};

} // namespace tessera::compare_app
