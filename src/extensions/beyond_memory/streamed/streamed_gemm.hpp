#pragma once

/// Products whose operands do not fit into a device's memory: C is cut into blocks, A and B into slices of k.
///
/// A block of C stays on the device while slices of A and B pass through two buffers each; copies run while the device
/// multiplies. Slices come from a source and blocks go to a target (slices.hpp): host memory, or files
/// (beyond_memory/files). Slices are whole segments of a strict sum, which continue the sums of the slices before them
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
#include <vector>

#include <tessera/executor.hpp>
#include <tessera/running_sums.hpp>

#include "core/executor/device_rectangle.hpp"
#include "core/executor/executor_memory.hpp"
#include "slice_exchange.hpp"
#include "slices.hpp"

namespace tessera::detail {

/// The sizes of what is on the device at a time: two blocks of C (one is computed, one is fetched), two slices each of
/// A and B, and the sums of a block where they are not C itself.
///
/// The shape has the rows and columns of a block of C, and as k the depth of the deepest slice: all of k, or a multiple
/// of canonical_segment.
struct StreamedBlocks : GemmShape {
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

/// Returns the blocks with deeper slices, if `bytes` bytes hold them and what kernels take for them: short rows take a
/// GPU's copy engine longer than their bytes say.
StreamedBlocks deepened(const GemmCall& call, StreamedBlocks blocks, std::size_t bytes, int multiprocessors);

/// How several equal devices compute one product.
struct Sharing {
  Index devices = 1;      ///< the devices that copy from the host at the same time
  bool exchanged = false; ///< The call is one device's part, and the devices exchange slices (slice_exchange.hpp).
  bool of_a = false;      ///< The devices exchange slices of A; false: slices of B.
};

/// Returns how deep slices are: the first are one segment, because nothing is multiplied while they are copied; then
/// each is copied in about the time in which the one before is multiplied. Rows of one segment are copied so slowly
/// that later slices are deeper.
SliceDepths depths_of(const GemmCall& call, const StreamedBlocks& blocks, const Sharing& sharing);

/// Estimates how many multiply-adds an executor does in a second, for choices of blocks.
double multiply_adds_a_second(const Executor& executor, const GemmCall& call);

/// Cuts C into blocks no larger than the blocks of `coarsest`, which the devices take in turns: so many blocks that the
/// copies of the first slices, which are `first_k` deep and during which nothing is multiplied, are short; but not so
/// many that the copies of operands, which each block needs anew, take longer than the products.
BlockGrid share_out(const GemmCall& call, const BlockGrid& coarsest, const Sharing& sharing, Index first_k);

/// Computes blocks of a product in the memory of one device.
class StreamedProduct {
 public:
  /// C is the only operand of the call that is read, and only with beta ≠ 0; A and B come from a source.
  StreamedProduct(Executor& executor, const GemmCall& call, std::string_view kernel);

  /// Chooses the blocks that move least data, for slices `depth` deep, and allocates memory for them: half of the
  /// device's memory, or less where the device has less left. The Status is OutOfMemory if not even small blocks fit.
  Status reserve(Index depth);
  /// Chooses blocks for a product that is shared so, within the same limit, and allocates memory for them.
  Status reserve_share(const Sharing& sharing);
  /// Allocates memory for blocks that the caller has chosen.
  Status reserve(const StreamedBlocks& blocks);
  const StreamedBlocks& blocks() const noexcept { return blocks_; }
  /// Returns how deep the slices of these blocks are: all of k where sums of several slices would have other bits.
  SliceDepths depths(const Sharing& sharing) const {
    const Index k = call_.k;
    return keeps_k_whole_ ? SliceDepths{k, k, k, k, 1} : depths_of(call_, blocks_, sharing);
  }

  /// Makes run() exchange slices with other devices as this member of the exchange. The other devices run with slices
  /// of the same sizes, in the same order.
  void exchange(SliceExchange& exchange, std::size_t member) {
    exchange_ = &exchange;
    member_ = member;
  }

  /// Multiplies until the source gives no more slices. `written` is set when the first rows go to the target.
  Status run(SliceSource& source, BlockTarget& target, std::atomic<bool>& written);

  /// These are the steps of run(), for callers that let several devices take them in turns: begin(), then load() and
  /// multiply() until load() has given nothing, fetch_rest(), and in any case finish(). They throw std::bad_alloc. What
  /// is passed to begin() must live until finish().
  Status begin(SliceSource& source, BlockTarget& target, std::atomic<bool>& written);
  /// Takes the next slices, and enqueues their copies. With an exchange all members load before one multiplies.
  Status load(bool& given);
  /// Enqueues the product of the slices, and copies of rows that are complete.
  Status multiply();
  /// Enqueues the copies of the last rows.
  Status fetch_rest() { return fetch(before_, before_.rows); }
  /// Waits for all work. Returns `status`, or the failure of the work if that is no failure.
  Status finish(Status status) noexcept;

 private:
  /// A block of C, and how many of its rows return to the host.
  struct Block : BlockOfC {
    char* c = nullptr;                             ///< the buffer on the device
    Index rows_of_a_part = 0;                      ///< rows that are completed at once
    Index fetched = 0;                             ///< rows whose way to the host is enqueued
    std::vector<std::unique_ptr<Event>> completed; ///< recorded after each part
  };

  void cut_slab();
  DeviceRectangle slice_of_a() const;
  DeviceRectangle slice_of_b() const;
  Index rows_of_a_part() const;
  /// Is A's slice copied in parts, just before each part is multiplied? The product then begins sooner.
  bool copies_a_in_parts() const noexcept { return steps_ == 0 && (exchange_ == nullptr || !exchange_->is_of_a()); }
  Status copy_slices();
  Status copy_rows_of_a(Index first, Index rows);
  Status multiply_slices();
  RunningSums sums_from(Index row) const;
  Status add(const GemmCall& product, RunningSums sums);
  Status complete(const GemmCall& rows, const RunningSums& sums);
  Status fetch(Block& block, Index rows);
  Status copy_in(char* device, const DeviceRectangle& slice, const HostSlice& host, const SlicePart& part);
  Status enqueue(Queue& queue, const CopyCall& copy, bool stays);
  std::size_t slot() const noexcept { return static_cast<std::size_t>(steps_ % 2); }

  template <class Choose>
  Status reserve_within_limit(Index depth, Choose&& choose);
  Status see_room_for_kernels(std::size_t bytes);

  Executor& executor_;
  const GemmCall& call_;
  std::string_view kernel_;
  bool adds_in_order_; ///< slices continue the sums in the order of the contract
  bool keeps_k_whole_; ///< matrix units keep their contract for whole k alone
  ExecutorMemory slab_;
  StreamedBlocks blocks_;
  std::array<char*, 2> a_{}, b_{}, c_{};
  char* sums_ = nullptr; ///< null where a block of C is its own sums
  std::unique_ptr<Queue> copies_in_, copies_out_;
  std::array<std::unique_ptr<Event>, 2> copied_, multiplied_; ///< recorded after the copies and products of a slot
  std::unique_ptr<Event> fetched_;                            ///< recorded after the copies of the last fetched block
  SliceSource* source_ = nullptr;
  BlockTarget* target_ = nullptr;
  std::atomic<bool>* written_ = nullptr;
  SliceStep step_;       ///< the slices of this step
  Block block_, before_; ///< the block of this step, and the one before, whose rows return to the host
  Index steps_ = 0;
  Index fetches_ = 0;                 ///< blocks whose way to the host is enqueued
  SliceExchange* exchange_ = nullptr; ///< null: all slices come from the host
  std::size_t member_ = 0;            ///< of the exchange
};

/// Computes `call`, whose operands are in host memory. Takes half of the device's memory, or less where the device has
/// less left. The Status is OutOfMemory if not even small blocks fit. After any error but DeviceError C is as it was.
Status streamed_gemm(Executor& executor, const GemmCall& call, std::string_view kernel) noexcept;

/// Computes `call`, whose operands are in host memory, on several executors, each of which takes one block of C after
/// the other. If one fails, the others stop; the Status names it. After any error but DeviceError C is as it was.
Status streamed_gemm(std::span<Executor* const> executors, const GemmCall& call, std::string_view kernel) noexcept;

/// Are all executors devices of one model? They compute equal blocks in equal times.
bool are_alike(std::span<Executor* const> executors);

/// Throws InvalidArgument if the list is empty, has null, or names an executor twice.
void check_executors(std::span<Executor* const> executors);

/// Returns how messages name an executor: its backend, the device's number where it has memory of its own, and its
/// device.
std::string name_of(const Executor& executor);

} // namespace tessera::detail
