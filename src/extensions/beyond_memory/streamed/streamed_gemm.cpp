/// Products of host matrices on one device: the choice of blocks and the memory for them. streamed_product.cpp computes
/// them.

#include "streamed_gemm.hpp"

#include <algorithm>
#include <new>
#include <string>

#include <tessera/backend/log.hpp>
#include <tessera/backend/out_of_memory.hpp>

#include "core/base/partly_written.hpp"
#include "core/executor/summation_order.hpp"

namespace tessera::detail {
StreamedProduct::StreamedProduct(Executor& executor, const GemmCall& call, std::string_view kernel)
    : executor_(executor),
      call_(call),
      kernel_(kernel),
      adds_in_order_(call.math == Math::Strict && !adds_in_own_order(executor, call, kernel)),
      keeps_k_whole_(keeps_matrix_unit_contract(executor, call, kernel)),
      slab_(executor) {}

/// Calls choose(bytes), which chooses blocks of slices at most `depth` deep, with what three quarters of half of the
/// device's memory hold, or of half of that, and so on until the device has memory for the blocks that it returns. The
/// rest is left to the kernels.
template <class Choose>
Status StreamedProduct::reserve_within_limit(Index depth, Choose&& choose) {
  std::string first_failure;
  for (std::size_t bytes = executor_.capabilities().memory_bytes / 2;; bytes /= 2) {
    const StreamedBlocks blocks = choose(bytes / 4 * 3);
    if (blocks.m == 0)
      return {StatusCode::OutOfMemory, "out of device memory: not even a block of 64×64 of C with slices of " +
                                           std::to_string(std::min(call_.k, depth)) + " k fits into " +
                                           std::to_string(bytes) + " bytes, the most that could be had" +
                                           first_failure};
    Status status = reserve(blocks);
    if (status.ok()) status = see_room_for_kernels(bytes - blocks.bytes(call_));
    if (status.code != StatusCode::OutOfMemory) return status;
    if (first_failure.empty()) first_failure = "; " + std::to_string(bytes) + " bytes failed first: " + status.why;
  }
}

/// Fails where the device does not have the memory that is left to the kernels. If more is left than they take, the
/// function asks for a part of it, because memory that was never used costs a driver time.
Status StreamedProduct::see_room_for_kernels(std::size_t bytes) {
  constexpr std::size_t enough = std::size_t{1} << 30;
  const std::size_t taken = blocks_.kernels_bytes(call_, executor_.capabilities().multiprocessors);
  ExecutorMemory room(executor_);
  return room.allocate(std::min(bytes, enough + taken));
}

Status StreamedProduct::reserve(Index depth) {
  return reserve_within_limit(depth, [&](std::size_t bytes) { return choose_blocks(call_, bytes, depth); });
}

Status StreamedProduct::reserve_share(const Sharing& sharing) {
  const Index depth = keeps_k_whole_ ? call_.k : canonical_segment;
  return reserve_within_limit(depth, [&](std::size_t bytes) {
    const StreamedBlocks largest = choose_blocks(call_, bytes, depth);
    if (largest.m == 0) return largest;
    return deepened(call_, largest.cut(share_out(call_, largest.grid(call_), sharing, depth)), bytes,
                    executor_.capabilities().multiprocessors);
  });
}

Status StreamedProduct::reserve(const StreamedBlocks& blocks) {
  blocks_ = blocks;
  return slab_.allocate(blocks_.bytes(call_));
}

Status streamed_gemm(Executor& executor, const GemmCall& call, std::string_view kernel) noexcept try {
  StreamedProduct product(executor, call, kernel);
  const Sharing alone;
  if (Status status = product.reserve_share(alone); !status.ok()) return status;
  const StreamedBlocks& blocks = product.blocks();
  if (log_dispatch())
    log_line("operands do not fit into the memory of " + executor.capabilities().device + ": C in blocks of " +
             std::to_string(blocks.m) + "×" + std::to_string(blocks.n) + ", slices of " + std::to_string(blocks.k) +
             " k");
  SharedBlocks shared(blocks.grid(call));
  HostSource source(call, shared, product.depths(alone));
  HostTarget target(call);
  std::atomic<bool> written = false;
  Status status = product.run(source, target, written);
  return written ? partly_written(status) : status;
} catch (const std::bad_alloc& error) {
  return out_of_memory(error);
}

} // namespace tessera::detail
