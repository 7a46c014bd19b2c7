#pragma once

/// The memory and the traffic of a product of files, and its choice of blocks. docs/large_files.md has the formulas.

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

#include <tessera/backend/kernel.hpp>
#include <tessera/types.hpp>

#include "extensions/beyond_memory/streamed/block_grid.hpp"

namespace tessera::files {

/// What decides the plan.
struct Sizes {
  GemmShape shape;
  DType type = DType::F32;   ///< of A and B
  DType result = DType::F32; ///< of C
  Op op_a = Op::None;        ///< how the stored matrices are read
  Op op_b = Op::None;
  bool multiplies = true; ///< false: alpha or k is 0, and A and B are not read
  bool reads_c = false;
  bool c_in_columns = false; ///< the file of the old C is in Fortran order
  int on_host = 1;           ///< executors whose memory is the host's
  int on_devices = 0;        ///< executors with memory of their own, where the sums of their blocks are
  /// The k that is multiplied at once. Slices that are read at once are whole multiples of it, or all of k.
  Index segment = canonical_segment;
  Index most_m = 0; ///< largest block that every device has memory for; 0: no limit
  Index most_n = 0;
  double multiply_adds_a_second = 1e11; ///< of each executor, roughly
  /// Has the system memory enough to keep all files in its cache? Then what is read again does not come from the disk.
  bool files_stay_cached = true;

  /// The type of the sums.
  DType sums() const noexcept { return scalar_of(type); }
  int executors() const noexcept { return on_host + on_devices; }
  /// Threads that read for each executor: more for one alone, because a disk reads several short runs at once.
  int reading_threads() const noexcept { return std::max(2, 16 / std::max(1, executors())); }
};

/// Blocks, and how much is read at once.
struct FilePlan {
  tessera::detail::BlockGrid grid;
  Index depth_a = 0;    ///< k of a slice of A that is read at once
  Index depth_b = 0;    ///< k of a slice of B
  Index strip_rows = 0; ///< rows of C that are written at once
  Index piece = 0;      ///< rows and columns of a product that a kernel of the host computes at once

  std::size_t slice_a_bytes(const Sizes& sizes) const;
  std::size_t slice_b_bytes(const Sizes& sizes) const;
  std::size_t sums_bytes(const Sizes& sizes) const;     ///< of a block on the host
  std::size_t strip_bytes(const Sizes& sizes) const;    ///< of the sums of a strip
  std::size_t old_bytes(const Sizes& sizes) const;      ///< of a strip of the old C as it lies in its file
  std::size_t straight_bytes(const Sizes& sizes) const; ///< of a strip of the old C row by row; 0 where it lies so
  std::size_t wide_bytes(const Sizes& sizes) const;     ///< of a strip of the old C in the sums' type; 0 if it has it
  std::size_t result_bytes(const Sizes& sizes) const;   ///< of a strip in C's type; 0 where it is rounded in place
  std::size_t packed_bytes(const Sizes& sizes) const;   ///< of what a kernel of the host packs
  std::size_t thread_bytes(const Sizes& sizes) const;   ///< of the threads' stacks, as far as they are used
  /// Returns all host memory that the product takes.
  std::size_t bytes(const Sizes& sizes) const;
};

/// Elements between two rows of a slice in memory: rows begin on cache lines, and never a multiple of 4 KiB apart,
/// where caches would hold few of them.
Index slice_ld(Index cols, DType type);

/// Returns the plan for these blocks that is expected to end first, within the limit. Its bytes() exceed the limit if
/// none is within it.
FilePlan plan_of_blocks(const Sizes& sizes, Index block_m, Index block_n, std::size_t limit);
/// Returns the plan within the limit that is expected to end first. Throws OutOfMemory with the smallest limit that
/// would do.
FilePlan choose_plan(const Sizes& sizes, std::size_t limit);

/// Returns the bytes that are read and written for the blocks that are not done.
std::uint64_t bytes_to_read(const Sizes& sizes, const tessera::detail::BlockGrid& grid, const std::vector<bool>& done);
std::uint64_t bytes_to_write(const Sizes& sizes, const tessera::detail::BlockGrid& grid, const std::vector<bool>& done);

} // namespace tessera::files
