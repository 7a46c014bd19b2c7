#include "streamed_gemm.hpp"

#include <algorithm>
#include <new>
#include <string>
#include <utility>

#include <tessera/backend/log.hpp>
#include <tessera/backend/out_of_memory.hpp>

#include "dispatch/row_order.hpp"
#include "partly_written.hpp"

namespace tessera::detail {
namespace {

/// Is it a block's only slice? The row then computes C with its alpha and beta.
bool is_whole(const SliceStep& step) { return step.first == 0 && step.last; }

/// Returns where the old values of a block are in the caller's C.
const void* old_of(const GemmCall& call, const BlockOfC& block) {
  return static_cast<const char*>(call.c) +
         static_cast<std::size_t>(block.row * call.ldc + block.col) * size_of(call.result);
}

} // namespace

StreamedProduct::StreamedProduct(Executor& executor, const GemmCall& call, std::string_view kernel)
    : executor_(executor),
      call_(call),
      kernel_(kernel),
      adds_in_order_(call.math == Math::Strict && !adds_in_own_order(executor, call, kernel)),
      keeps_k_whole_(keeps_unit_contract(executor, call, kernel)),
      slab_(executor) {}

Status StreamedProduct::run(SliceSource& source, BlockTarget& target, std::atomic<bool>& written) {
  cut_slab();
  if (Status status = executor_.create_queue(copies_); !status.ok()) return status;
  for (auto* event : {&multiplied_[0], &multiplied_[1], &finished_})
    if (Status status = executor_.create_event(*event); !status.ok()) return status;
  Status status;
  try {
    status = multiply(source, target, written);
  } catch (const std::bad_alloc& error) {
    status = out_of_memory(error);
  }
  Status end = executor_.default_queue().synchronize(); // before the buffers are freed
  return status.ok() ? end : status;
}

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

/// Fails where the device does not have the memory that is left to the kernels. Of more than they take, a part is asked
/// for, because memory that was never used costs a driver time.
Status StreamedProduct::see_room_for_kernels(std::size_t bytes) {
  constexpr std::size_t enough = std::size_t{1} << 30;
  const std::size_t taken = blocks_.kernels_bytes(call_, executor_.capabilities().multiprocessors);
  ExecutorMemory room(executor_);
  return room.allocate(std::min(bytes, enough + taken));
}

Status StreamedProduct::reserve(Index depth) {
  return reserve_within_limit(depth, [&](std::size_t bytes) { return choose_blocks(call_, bytes, depth); });
}

Status StreamedProduct::reserve_share(Index executors) {
  const Index depth = keeps_k_whole_ ? call_.k : canonical_segment;
  return reserve_within_limit(depth, [&](std::size_t bytes) {
    const StreamedBlocks largest = choose_blocks(call_, bytes, depth);
    if (largest.m == 0) return largest;
    return deepened(call_, largest.cut(share_out(call_, largest.grid(call_), executors)), bytes,
                    executor_.capabilities().multiprocessors);
  });
}

Status StreamedProduct::reserve(const StreamedBlocks& blocks) {
  blocks_ = blocks;
  return slab_.allocate(blocks_.bytes(call_));
}

void StreamedProduct::cut_slab() {
  char* next = static_cast<char*>(slab_.data());
  const auto cut = [&](const DeviceRectangle& rectangle) { return std::exchange(next, next + rectangle.bytes()); };
  for (char*& buffer : a_) buffer = cut(blocks_.a(call_));
  for (char*& buffer : b_) buffer = cut(blocks_.b(call_));
  for (char*& buffer : c_) buffer = cut(blocks_.c(call_));
  if (blocks_.keeps_sums(call_)) sums_ = cut(blocks_.sums(call_));
}

/// Copies in and multiplies slice after slice, while the device is busy with the slice before. The rows of a finished
/// block return to the host in as many parts as the next block has slices.
Status StreamedProduct::multiply(SliceSource& source, BlockTarget& target, std::atomic<bool>& written) {
  const Index slices = std::max<Index>((call_.k + blocks_.k - 1) / std::max<Index>(blocks_.k, 1), 1);
  Block before, block;
  for (SliceStep step;;) {
    bool given = false;
    if (Status status = source.next(step, given); !status.ok()) return status;
    if (!given) break;
    if (step.first == 0) block = {step.block, before.c == c_[0] ? c_[1] : c_[0]};
    if (Status status = multiply_slice(block, step); !status.ok()) return status;
    if (step.first == 0 && before.rows > 0)
      if (Status status = finished_->synchronize(); !status.ok()) return status;
    const Index part = step.last ? before.rows : (before.rows + slices - 1) / slices;
    if (Status status = fetch(before, part, target, written); !status.ok()) return status;
    if (!step.last) continue;
    if (Status status = complete(block, step); !status.ok()) return status;
    before = block;
  }
  if (before.rows == 0) return {};
  if (Status status = finished_->synchronize(); !status.ok()) return status;
  return fetch(before, before.rows, target, written);
}

Status StreamedProduct::multiply_slice(const Block& block, const SliceStep& step) {
  const std::size_t slot = static_cast<std::size_t>(steps_ % 2);
  if (steps_++ >= 2)
    if (Status status = multiplied_[slot]->synchronize(); !status.ok()) return status;
  const StreamedBlocks now{block.rows, block.cols, step.k};
  const DeviceRectangle a = now.a(call_), b = now.b(call_), c = now.c(call_);
  if (Status status = copy_in(a_[slot], a, step.a.data, step.a.ld); !status.ok()) return status;
  if (Status status = copy_in(b_[slot], b, step.b.data, step.b.ld); !status.ok()) return status;
  if (step.first == 0 && call_.beta != 0.0)
    if (Status status = copy_in(block.c, c, old_of(call_, block), call_.ldc); !status.ok()) return status;
  GemmCall product = call_;
  product.m = now.m;
  product.n = now.n;
  product.k = now.k;
  product.a = a_[slot];
  product.lda = a.ld();
  product.b = b_[slot];
  product.ldb = b.ld();
  product.c = block.c;
  product.ldc = c.ld();
  Status status = is_whole(step) ? executor_.gemm(executor_.default_queue(), product, kernel_)
                                 : add(block, product, step.first == 0);
  return status.ok() ? multiplied_[slot]->record(executor_.default_queue()) : status;
}

/// Returns the sums of a block on the device.
RunningSums StreamedProduct::sums_of(const Block& block) const {
  const StreamedBlocks now{block.rows, block.cols, 0};
  return sums_ != nullptr ? RunningSums{sums_, now.sums(call_).ld(), false}
                          : RunningSums{block.c, now.c(call_).ld(), false};
}

/// Adds a slice's product to the sums of the block. A row that adds in an order of its own has whole slices.
Status StreamedProduct::add(const Block& block, const GemmCall& product, bool is_first) {
  RunningSums sums = sums_of(block);
  sums.empty = is_first;
  if (adds_in_order_) return add_segments(executor_, executor_.default_queue(), product, sums, kernel_);
  GemmCall whole = product;
  whole.alpha = 1.0;
  whole.beta = is_first ? 0.0 : 1.0;
  whole.c = sums.data;
  whole.ldc = sums.ld;
  whole.result = scalar_of(call_.type);
  return executor_.gemm(executor_.default_queue(), whole, kernel_);
}

/// Completes a block after its last slice: makes C of the sums, where they are not C.
Status StreamedProduct::complete(const Block& block, const SliceStep& step) {
  if (blocks_.keeps_sums(call_) && !is_whole(step)) {
    GemmCall product = call_;
    product.math = Math::Strict;
    product.m = block.rows;
    product.n = block.cols;
    product.c = block.c;
    product.ldc = StreamedBlocks{block.rows, block.cols, 0}.c(call_).ld();
    if (Status status = finish_product(executor_, executor_.default_queue(), product, sums_of(block)); !status.ok())
      return status;
  }
  return finished_->record(executor_.default_queue());
}

Status StreamedProduct::fetch(Block& block, Index rows, BlockTarget& target, std::atomic<bool>& written) {
  const DeviceRectangle c = StreamedBlocks{block.rows, block.cols, 0}.c(call_);
  for (const Index end = std::min(block.rows, block.fetched + rows); block.fetched < end;) {
    Index count = end - block.fetched, ld = 0;
    void* to = nullptr;
    if (Status status = target.place(block, block.fetched, count, to, ld); !status.ok()) return status;
    written = true;
    if (Status status =
            executor_.copy_out(*copies_, to, static_cast<std::size_t>(ld) * c.element,
                               block.c + static_cast<std::size_t>(block.fetched) * c.pitch(), c.pitch(),
                               static_cast<std::size_t>(block.cols) * c.element, static_cast<std::size_t>(count));
        !status.ok())
      return status;
    if (Status status = target.take(block, block.fetched, count); !status.ok()) return status;
    block.fetched += count;
  }
  return {};
}

Status StreamedProduct::copy_in(char* device, const DeviceRectangle& to, const void* host, Index ld) {
  if (to.rows == 0 || to.cols == 0) return {};
  return executor_.copy_in(*copies_, device, to.pitch(), host, static_cast<std::size_t>(ld) * to.element,
                           static_cast<std::size_t>(to.cols) * to.element, static_cast<std::size_t>(to.rows));
}

Status streamed_gemm(Executor& executor, const GemmCall& call, std::string_view kernel) noexcept try {
  StreamedProduct product(executor, call, kernel);
  if (Status status = product.reserve_share(1); !status.ok()) return status;
  const StreamedBlocks& blocks = product.blocks();
  if (log_dispatch())
    log_line("operands do not fit into the memory of " + executor.capabilities().device + ": C in blocks of " +
             std::to_string(blocks.m) + "×" + std::to_string(blocks.n) + ", slices of " + std::to_string(blocks.k) +
             " k");
  SharedBlocks shared(blocks.grid(call));
  HostSource source(call, shared, blocks.k, product.keeps_k_whole());
  HostTarget target(call);
  std::atomic<bool> written = false;
  Status status = product.run(source, target, written);
  return written ? partly_written(status) : status;
} catch (const std::bad_alloc& error) {
  return out_of_memory(error);
}

} // namespace tessera::detail
