#pragma once

/// Products whose operands do not fit into a device's memory: C is cut into blocks, A and B into slices of k.
///
/// A block of C stays on the device while slices of A and B pass through two buffers each; copies run while the device
/// multiplies. Slices come from a source and blocks go to a target (slices.hpp): host memory, or files (out_of_core/).
/// Slices are whole segments of the canonical summation, which continue the sums of the slices before them
/// (running_sums.hpp): a streamed product has the bits of a product in one piece. So it has in the modes of matrix
/// units, where slices are as deep as k, because parts of k have other bits there. A is copied once for each column of
/// blocks of C, and B once for each row of blocks, so blocks are large; but the first slices and the last block are
/// copied while nothing is multiplied, so they are not larger than needed.
///
/// Source: out-of-core GEMM as in cuBLASXt; here the order of the sums does not depend on the blocks.

#include <algorithm>
#include <array>
#include <atomic>
#include <memory>
#include <span>
#include <string>
#include <string_view>

#include <tessera/executor.hpp>
#include <tessera/running_sums.hpp>

#include "matrix/device_rectangle.hpp"
#include "matrix/executor_memory.hpp"
#include "slices.hpp"

namespace tessera::detail {

/// The sizes of what is on the device at a time: two blocks of C (one is computed, one is fetched), two slices each of
/// A and B, and the sums of a block where they are not C itself.
struct StreamedBlocks {
  Index m = 0; ///< rows and columns of a block of C
  Index n = 0;
  Index k = 0; ///< depth of the deepest slice: all of k, or a multiple of canonical_segment

  DeviceRectangle a(const GemmCall& call) const; ///< as A is stored: a slice of a transposed A is k×m
  DeviceRectangle b(const GemmCall& call) const;
  DeviceRectangle c(const GemmCall& call) const;
  DeviceRectangle sums(const GemmCall& call) const;
  std::size_t bytes(const GemmCall& call) const;
  /// Returns what kernels may take besides for slices of several segments: copies of operands, and sums of segments.
  std::size_t kernels_bytes(const GemmCall& call, int multiprocessors) const;
  /// Do blocks of several slices have sums that are not yet C? finish_product() then makes C of them.
  bool keeps_sums(const GemmCall& call) const;
  /// Returns C cut into these blocks.
  BlockGrid grid(const GemmCall& call) const { return {call.m, call.n, std::max<Index>(m, 1), std::max<Index>(n, 1)}; }
  /// Returns the sizes with the grid's blocks of C.
  StreamedBlocks cut(const BlockGrid& grid) const { return {grid.block_m, grid.block_n, k}; }
};

/// Returns the largest blocks for `bytes` bytes on the device, which move least data; m = 0 if not even blocks of 64×64
/// fit. Slices are at most `depth` deep.
StreamedBlocks choose_blocks(const GemmCall& call, std::size_t bytes, Index depth = canonical_segment);

/// Returns the blocks with slices as deep as `bytes` bytes hold, with what kernels take for them: a block of one slice
/// needs no running sums in memory, and short rows take a card's copy engine longer than their bytes say.
StreamedBlocks deepened(const GemmCall& call, StreamedBlocks blocks, std::size_t bytes, int multiprocessors);

/// Estimates how many multiply-adds an executor does in a second, for choices of blocks.
double multiply_adds_a_second(const Executor& executor, const GemmCall& call);

/// Cuts C into blocks no larger than the blocks of `coarsest`, which so many equal devices take in turns: so many
/// blocks that the copies of the first slices and of the last block, during which nothing is multiplied, are short; but
/// not so many that the copies of operands, which each block needs anew, take longer than the products.
BlockGrid share_out(const GemmCall& call, const BlockGrid& coarsest, Index executors);

/// Computes blocks of a product in the memory of one device.
class StreamedProduct {
 public:
  /// Of the call's operands only C is read, and only with beta ≠ 0; A and B come from a source.
  StreamedProduct(Executor& executor, const GemmCall& call, std::string_view kernel);

  /// Chooses the blocks that move least data, for slices `depth` deep, and allocates memory for them: half of the
  /// device's memory, or less where the device has less left. The Status is OutOfMemory if not even small blocks fit.
  Status reserve(Index depth);
  /// Chooses blocks that so many equal devices share, within the same limit, and allocates memory for them.
  Status reserve_share(Index executors);
  /// Allocates memory for blocks that the caller has chosen.
  Status reserve(const StreamedBlocks& blocks);
  const StreamedBlocks& blocks() const noexcept { return blocks_; }
  /// Does a block have a single slice, because its sums would have other bits in several? reserve_share() sees to it.
  bool keeps_k_whole() const noexcept { return keeps_k_whole_; }

  /// Multiplies until the source gives no more slices. `written` is set when the first rows go to the target.
  Status run(SliceSource& source, BlockTarget& target, std::atomic<bool>& written);

 private:
  /// A block of C, and how many of its rows are back on the host.
  struct Block : BlockOfC {
    char* c = nullptr; ///< the buffer on the device
    Index fetched = 0; ///< rows that are on the host again
  };

  void cut_slab();
  Status multiply(SliceSource& source, BlockTarget& target, std::atomic<bool>& written);
  Status multiply_slice(const Block& block, const SliceStep& step);
  Status complete(const Block& block, const SliceStep& step);
  Status fetch(Block& block, Index rows, BlockTarget& target, std::atomic<bool>& written);
  Status copy_in(char* device, const DeviceRectangle& to, const void* host, Index ld);

  template <class Choose>
  Status reserve_within_limit(Index depth, Choose&& choose);
  Status see_room_for_kernels(std::size_t bytes);
  Status add(const Block& block, const GemmCall& product, bool is_first);
  RunningSums sums_of(const Block& block) const;

  Executor& executor_;
  const GemmCall& call_;
  std::string_view kernel_;
  bool adds_in_order_; ///< slices continue the sums in the order of the contract
  bool keeps_k_whole_; ///< matrix units keep their contract for whole k alone
  ExecutorMemory slab_;
  StreamedBlocks blocks_;
  std::array<char*, 2> a_{}, b_{}, c_{};
  char* sums_ = nullptr; ///< null where a block of C is its own sums
  std::unique_ptr<Queue> copies_;
  std::array<std::unique_ptr<Event>, 2> multiplied_; ///< recorded after the product that read these slices
  std::unique_ptr<Event> finished_;                  ///< recorded after the last block was enqueued
  Index steps_ = 0;
};

/// Computes `call`, whose operands are in host memory. Takes half of the device's memory, or less where the device has
/// less left. The Status is OutOfMemory if not even small blocks fit. After any error but DeviceError C is as it was.
Status streamed_gemm(Executor& executor, const GemmCall& call, std::string_view kernel) noexcept;

/// Computes `call`, whose operands are in host memory, on several executors, each of which takes one block of C after
/// the other. If one fails, the others stop; the Status names it. After any error but DeviceError C is as it was.
Status streamed_gemm(std::span<Executor* const> executors, const GemmCall& call, std::string_view kernel) noexcept;

/// Throws InvalidArgument if the list is empty, has null, or names an executor twice.
void check_executors(std::span<Executor* const> executors);

/// Returns how messages name an executor: its backend, the device's number where it has memory of its own, and its
/// device.
std::string name_of(const Executor& executor);

} // namespace tessera::detail
