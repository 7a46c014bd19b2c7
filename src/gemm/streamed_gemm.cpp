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
  if (exchange_ != nullptr)
    if (Status status = exchange_->enter(member_, exchange_->is_of_a() ? a_ : b_); !status.ok()) return status;
  for (auto* queue : {&copies_in_, &copies_out_})
    if (Status status = executor_.create_queue(*queue); !status.ok()) return status;
  for (auto* event : {&copied_[0], &copied_[1], &multiplied_[0], &multiplied_[1], &fetched_})
    if (Status status = executor_.create_event(*event); !status.ok()) return status;
  Status status;
  try {
    status = multiply(source, target, written);
  } catch (const std::bad_alloc& error) {
    status = out_of_memory(error);
  }
  // Before the buffers are freed, and the caller's memory is the caller's again.
  for (Queue* queue : {&executor_.default_queue(), copies_in_.get(), copies_out_.get()})
    if (Status end = queue->synchronize(); status.ok()) status = std::move(end);
  return status;
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

void StreamedProduct::cut_slab() {
  char* next = static_cast<char*>(slab_.data());
  const auto cut = [&](const DeviceRectangle& rectangle) { return std::exchange(next, next + rectangle.bytes()); };
  for (char*& buffer : a_) buffer = cut(blocks_.a(call_));
  for (char*& buffer : b_) buffer = cut(blocks_.b(call_));
  for (char*& buffer : c_) buffer = cut(blocks_.c(call_));
  if (blocks_.keeps_sums(call_)) sums_ = cut(blocks_.sums(call_));
}

/// Copies in and multiplies slice after slice, while the device is busy with the slice before. The rows of a finished
/// block return to the host in as many parts as the next block has slices. The host is at most two slices ahead.
Status StreamedProduct::multiply(SliceSource& source, BlockTarget& target, std::atomic<bool>& written) {
  const Index slices = std::max<Index>((call_.k + blocks_.k - 1) / std::max<Index>(blocks_.k, 1), 1);
  Block before, block;
  for (SliceStep step;; ++steps_) {
    if (steps_ >= 2)
      if (Status status = multiplied_[slot()]->synchronize(); !status.ok()) return status;
    bool given = false;
    if (Status status = source.next(step, given); !status.ok()) return status;
    if (!given) break;
    if (step.first == 0) {
      block = {};
      static_cast<BlockOfC&>(block) = step.block;
      block.c = before.c == c_[0] ? c_[1] : c_[0];
      block.rows_of_a_part = steps_ == 0 || step.ends ? rows_of_a_part(block) : block.rows;
    }
    if (Status status = copy_slice(block, step, source.keeps_slices()); !status.ok()) return status;
    if (Status status = multiply_slice(block, step, source.keeps_slices()); !status.ok()) return status;
    const Index rows = step.last ? before.rows : (before.rows + slices - 1) / slices;
    if (Status status = fetch(before, rows, target, written); !status.ok()) return status;
    if (step.last) before = std::move(block);
  }
  return fetch(before, before.rows, target, written);
}

/// The first slice of an executor's first block and the last slice of its last one are multiplied in parts of their
/// rows, so that only a part is copied while nothing is multiplied. Parts are as large as gives each multiprocessor two
/// of the largest tiles.
Index StreamedProduct::rows_of_a_part(const Block& block) const {
  constexpr Index results_of_a_multiprocessor = 2 * 128 * 256, tile = 256;
  const Index results = results_of_a_multiprocessor * std::max(executor_.capabilities().multiprocessors, 1);
  const Index rows = (results + block.cols - 1) / std::max<Index>(block.cols, 1);
  return (rows + tile - 1) / tile * tile;
}

/// Enqueues the copies of a slice, and of the old values of C, if they are wanted.
Status StreamedProduct::copy_slice(const Block& block, const SliceStep& step, bool stays) {
  const StreamedBlocks now{block.rows, block.cols, step.k};
  const DeviceRectangle a = now.a(call_), b = now.b(call_);
  Queue& queue = executor_.default_queue();
  const bool of_a = exchange_ != nullptr && exchange_->is_of_a(), of_b = exchange_ != nullptr && !of_a;
  if (exchange_ != nullptr)
    if (Status status = exchange_->begin(member_, slot(), *copies_in_); !status.ok()) return status;
  if (Status status = copy_operand(b_[slot()], b, step.b, of_b, stays); !status.ok()) return status;
  if (!copies_a_in_parts())
    if (Status status = copy_operand(a_[slot()], a, step.a, of_a, stays); !status.ok()) return status;
  if (exchange_ != nullptr)
    if (Status status = exchange_->gather(member_, slot(), of_a ? a : b, *copies_in_, queue); !status.ok())
      return status;
  if (step.first == 0 && fetches_ > 0) // the block that had these rows of the device's memory
    for (Queue* later : {copies_in_.get(), &queue})
      if (Status status = later->wait(*fetched_); !status.ok()) return status;
  if (step.first == 0 && call_.beta != 0.0)
    if (Status status = copy_in(block.c, now.c(call_), old_of(call_, block), call_.ldc, true); !status.ok())
      return status;
  if (Status status = copied_[slot()]->record(*copies_in_); !status.ok()) return status;
  return queue.wait(*copied_[slot()]);
}

/// Enqueues the copy of an operand's slice, or of this member's part of one that is exchanged.
Status StreamedProduct::copy_operand(char* device, const DeviceRectangle& slice, const HostSlice& host, bool exchanged,
                                     bool stays) {
  const RowRange rows = exchanged ? exchange_->part(member_, slice.rows) : RowRange{0, slice.rows};
  const std::size_t pitch = static_cast<std::size_t>(host.ld) * slice.element,
                    first = static_cast<std::size_t>(rows.first);
  return copy_in(device + first * slice.pitch(), {rows.count, slice.cols, slice.element},
                 static_cast<const char*>(host.data) + first * pitch, host.ld, stays);
}

/// Copies what rows of op(A) from `first` on have in the slice, and makes later products wait for it.
Status StreamedProduct::copy_rows_of_a(const Block& block, const SliceStep& step, Index first, Index rows, bool stays) {
  const DeviceRectangle a = StreamedBlocks{block.rows, block.cols, step.k}.a(call_);
  const bool along_rows = call_.op_a == Op::None;
  const auto row = static_cast<std::size_t>(along_rows ? first : 0),
             col = static_cast<std::size_t>(along_rows ? 0 : first);
  const auto pitch = static_cast<std::size_t>(step.a.ld) * a.element;
  if (rows > 0 && step.k > 0)
    if (Status status = enqueue(*copies_in_,
                                {.direction = CopyDirection::In,
                                 .to = a_[slot()] + row * a.pitch() + col * a.element,
                                 .to_pitch = a.pitch(),
                                 .from = static_cast<const char*>(step.a.data) + row * pitch + col * a.element,
                                 .from_pitch = pitch,
                                 .width = static_cast<std::size_t>(along_rows ? step.k : rows) * a.element,
                                 .rows = static_cast<std::size_t>(along_rows ? rows : step.k)},
                                stays);
        !status.ok())
      return status;
  if (Status status = copied_[slot()]->record(*copies_in_); !status.ok()) return status;
  return executor_.default_queue().wait(*copied_[slot()]);
}

Status StreamedProduct::multiply_slice(Block& block, const SliceStep& step, bool stays) {
  const StreamedBlocks now{block.rows, block.cols, step.k};
  const DeviceRectangle a = now.a(call_), b = now.b(call_), c = now.c(call_);
  GemmCall product = call_;
  product.n = now.n;
  product.k = now.k;
  product.lda = a.ld();
  product.b = b_[slot()];
  product.ldb = b.ld();
  product.ldc = c.ld();
  const Index rows = step.last || copies_a_in_parts() ? block.rows_of_a_part : block.rows;
  for (Index first = 0; first < block.rows; first += rows) {
    product.m = std::min(rows, block.rows - first);
    if (copies_a_in_parts())
      if (Status status = copy_rows_of_a(block, step, first, product.m, stays); !status.ok()) return status;
    const Index offset = call_.op_a == Op::None ? first * product.lda : first;
    product.a = a_[slot()] + static_cast<std::size_t>(offset) * size_of(call_.type);
    product.c = block.c + static_cast<std::size_t>(first) * c.pitch();
    const RunningSums sums = sums_of(block, first, step.first == 0);
    Status status = is_whole(step) ? executor_.gemm(executor_.default_queue(), product, kernel_) : add(product, sums);
    if (status.ok() && step.last) status = complete(block, product, is_whole(step) ? nullptr : &sums);
    if (!status.ok()) return status;
  }
  return multiplied_[slot()]->record(executor_.default_queue());
}

/// Returns the sums of the block's rows from `row` on.
RunningSums StreamedProduct::sums_of(const Block& block, Index row, bool empty) const {
  const StreamedBlocks now{block.rows, block.cols, 0};
  const DeviceRectangle sums = sums_ != nullptr ? now.sums(call_) : now.c(call_);
  char* const first = sums_ != nullptr ? sums_ : block.c;
  return {first + static_cast<std::size_t>(row) * sums.pitch(), sums.ld(), empty};
}

/// Adds a slice's product to the sums. A row that adds in an order of its own has whole slices.
Status StreamedProduct::add(const GemmCall& product, RunningSums sums) {
  if (adds_in_order_) return add_segments(executor_, executor_.default_queue(), product, sums, kernel_);
  GemmCall whole = product;
  whole.alpha = 1.0;
  whole.beta = sums.empty ? 0.0 : 1.0;
  whole.c = sums.data;
  whole.ldc = sums.ld;
  whole.result = scalar_of(call_.type);
  return executor_.gemm(executor_.default_queue(), whole, kernel_);
}

/// Completes rows of a block after its last slice: makes C of the sums, if there are sums that are not C.
Status StreamedProduct::complete(Block& block, const GemmCall& part, const RunningSums* sums) {
  if (sums != nullptr && sums_ != nullptr) {
    GemmCall product = part;
    product.math = Math::Strict;
    if (Status status = finish_product(executor_, executor_.default_queue(), product, {sums->data, sums->ld, false});
        !status.ok())
      return status;
  }
  std::unique_ptr<Event>& finished = block.finished.emplace_back();
  if (Status status = executor_.create_event(finished); !status.ok()) return status;
  return finished->record(executor_.default_queue());
}

/// Enqueues the copies of so many further rows to the host.
Status StreamedProduct::fetch(Block& block, Index rows, BlockTarget& target, std::atomic<bool>& written) {
  const DeviceRectangle c = StreamedBlocks{block.rows, block.cols, 0}.c(call_);
  for (const Index end = std::min(block.rows, block.fetched + rows); block.fetched < end;) {
    const Index part = block.fetched / block.rows_of_a_part;
    Index count = std::min(end, (part + 1) * block.rows_of_a_part) - block.fetched, ld = 0;
    void* to = nullptr;
    if (Status status = copies_out_->wait(*block.finished[static_cast<std::size_t>(part)]); !status.ok()) return status;
    if (Status status = target.place(block, block.fetched, count, to, ld); !status.ok()) return status;
    written = true;
    const CopyCall copy{.direction = CopyDirection::Out,
                        .to = to,
                        .to_pitch = static_cast<std::size_t>(ld) * c.element,
                        .from = block.c + static_cast<std::size_t>(block.fetched) * c.pitch(),
                        .from_pitch = c.pitch(),
                        .width = static_cast<std::size_t>(block.cols) * c.element,
                        .rows = static_cast<std::size_t>(count)};
    if (Status status = enqueue(*copies_out_, copy, target.keeps_rows()); !status.ok()) return status;
    if (Status status = target.take(block, block.fetched, count); !status.ok()) return status;
    block.fetched += count;
  }
  if (block.rows == 0 || block.fetched < block.rows) return {};
  ++fetches_;
  return fetched_->record(*copies_out_);
}

Status StreamedProduct::copy_in(char* device, const DeviceRectangle& to, const void* host, Index ld, bool stays) {
  if (to.rows == 0 || to.cols == 0) return {};
  return enqueue(*copies_in_,
                 {.direction = CopyDirection::In,
                  .to = device,
                  .to_pitch = to.pitch(),
                  .from = host,
                  .from_pitch = static_cast<std::size_t>(ld) * to.element,
                  .width = static_cast<std::size_t>(to.cols) * to.element,
                  .rows = static_cast<std::size_t>(to.rows)},
                 stays);
}

/// Enqueues a copy between the device and the host, and waits for it unless the host's memory stays as it is until the
/// product is done.
Status StreamedProduct::enqueue(Queue& queue, const CopyCall& copy, bool stays) {
  Status status = executor_.enqueue_copy(queue, copy);
  return status.ok() && !stays ? queue.synchronize() : status;
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
