#pragma once

/// Products whose operands do not fit into a device's memory: C is cut into blocks, A and B into slices of k.
///
/// A block of C stays on the device while slices of A and B pass through two buffers each; copies run while the device
/// multiplies. A slice is one segment of the canonical summation, so that adding a slice's product to the block adds
/// one segment's sum to the sums before it: a streamed product has the bits of a product in one piece. A is copied once
/// for each column of blocks of C, and B once for each row of blocks, so blocks are as large and as square as memory
/// allows.
///
/// Source: out-of-core GEMM as in cuBLASXt; here the order of the sums does not depend on the blocks.

#include <algorithm>
#include <string_view>

#include <tessera/executor.hpp>

namespace tessera::detail {

/// A row-major rectangle in the device's memory. Its rows are padded to whole cache lines.
struct DeviceRectangle {
  Index rows = 0;
  Index cols = 0;
  std::size_t element = 0; ///< bytes

  Index ld() const { return (std::max<Index>(cols, 1) + line() - 1) / line() * line(); }
  std::size_t pitch() const { return static_cast<std::size_t>(ld()) * element; }
  std::size_t bytes() const { return pitch() * static_cast<std::size_t>(rows); }

 private:
  Index line() const { return static_cast<Index>(256 / element); }
};

/// The sizes of what is on the device at a time: `copies` blocks of C (one is computed, one is fetched, and with beta ≠
/// 0 and several slices one holds the old values) and two slices each of A and B.
struct StreamedBlocks {
  Index m = 0; ///< rows and columns of a block of C
  Index n = 0;
  Index k = 0; ///< depth of a slice
  int copies = 0;

  DeviceRectangle a(const GemmCall& call) const; ///< as A is stored: a slice of a transposed A is k×m
  DeviceRectangle b(const GemmCall& call) const;
  DeviceRectangle c(const GemmCall& call) const;
  std::size_t bytes(const GemmCall& call) const;
};

/// Returns the blocks that move least data with `bytes` bytes on the device; m = 0 if not even blocks of 64×64 fit.
StreamedBlocks choose_blocks(const GemmCall& call, std::size_t bytes);

/// Computes `call`, whose operands are in host memory. Takes half of the device's memory, or less where the device has
/// less left. The Status is OutOfMemory if not even small blocks fit. After any error but DeviceError C is as it was.
Status streamed_gemm(Executor& executor, const GemmCall& call, std::string_view kernel) noexcept;

} // namespace tessera::detail
