/// Computes blocks of a product on one device.

#include <algorithm>
#include <new>
#include <utility>

#include <tessera/backend/out_of_memory.hpp>

#include "streamed_gemm.hpp"

namespace tessera::detail {
namespace {

/// Is it a block's only slice? The kernel then computes C with its alpha and beta.
bool is_whole(const SliceStep& step) { return step.first == 0 && step.last; }

/// Returns where the old values of a block are in the caller's C.
HostSlice old_of(const GemmCall& call, const BlockOfC& block) {
  return {static_cast<const char*>(call.c) +
              static_cast<std::size_t>(block.row * call.ldc + block.col) * size_of(call.result),
          call.ldc};
}

SlicePart all_of(const DeviceRectangle& slice) { return {0, 0, slice.rows, slice.cols}; }

} // namespace

Status StreamedProduct::begin(SliceSource& source, BlockTarget& target, std::atomic<bool>& written) {
  source_ = &source;
  target_ = &target;
  written_ = &written;
  cut_slab();
  if (exchange_ != nullptr)
    if (Status status = exchange_->enter(member_, exchange_->is_of_a() ? a_ : b_); !status.ok()) return status;
  for (auto* queue : {&copies_in_, &copies_out_})
    if (Status status = executor_.create_queue(*queue); !status.ok()) return status;
  for (auto* event : {&copied_[0], &copied_[1], &multiplied_[0], &multiplied_[1], &fetched_})
    if (Status status = executor_.create_event(*event); !status.ok()) return status;
  return {};
}

void StreamedProduct::cut_slab() {
  char* next = static_cast<char*>(slab_.data());
  const auto cut = [&](const DeviceRectangle& rectangle) { return std::exchange(next, next + rectangle.bytes()); };
  for (char*& buffer : a_) buffer = cut(blocks_.a(call_));
  for (char*& buffer : b_) buffer = cut(blocks_.b(call_));
  for (char*& buffer : c_) buffer = cut(blocks_.c(call_));
  if (blocks_.keeps_sums(call_)) sums_ = cut(blocks_.sums(call_));
}

/// The host is at most two slices ahead of the device.
Status StreamedProduct::load(bool& given) {
  given = false;
  if (steps_ >= 2)
    if (Status status = multiplied_[slot()]->synchronize(); !status.ok()) return status;
  if (Status status = source_->next(step_, given); !status.ok() || !given) return status;
  if (step_.first == 0) {
    block_ = {};
    static_cast<BlockOfC&>(block_) = step_.block;
    block_.c = before_.c == c_[0] ? c_[1] : c_[0];
    block_.rows_of_a_part = steps_ == 0 || step_.ends ? rows_of_a_part() : block_.rows;
  }
  return copy_slices();
}

/// The first slice of an executor's first block and the last slice of its last one are multiplied in parts of their
/// rows, so that only a part is copied while nothing is multiplied. Parts are as large as gives each multiprocessor two
/// of the largest tiles.
Index StreamedProduct::rows_of_a_part() const {
  constexpr Index results_of_a_multiprocessor = 2 * 128 * 256, tile = 256;
  const Index results = results_of_a_multiprocessor * std::max(executor_.capabilities().multiprocessors, 1);
  const Index rows = (results + block_.cols - 1) / block_.cols;
  return (rows + tile - 1) / tile * tile;
}

DeviceRectangle StreamedProduct::slice_of_a() const {
  return StreamedBlocks{block_.rows, block_.cols, step_.k}.a(call_);
}
DeviceRectangle StreamedProduct::slice_of_b() const {
  return StreamedBlocks{block_.rows, block_.cols, step_.k}.b(call_);
}

/// Enqueues the copies of the slices, and of the old values of C, if they are wanted.
Status StreamedProduct::copy_slices() {
  const DeviceRectangle a = slice_of_a(), b = slice_of_b();
  const bool of_a = exchange_ != nullptr && exchange_->is_of_a(), of_b = exchange_ != nullptr && !of_a;
  if (exchange_ != nullptr && steps_ >= 2)
    if (Status status = exchange_->wait_for_readers(member_, slot(), *copies_in_); !status.ok()) return status;
  const SlicePart part_of_b = of_b ? exchange_->part(member_, b) : all_of(b);
  if (Status status = copy_in(b_[slot()], b, step_.b, part_of_b); !status.ok()) return status;
  if (!copies_a_in_parts()) {
    const SlicePart part_of_a = of_a ? exchange_->part(member_, a) : all_of(a);
    if (Status status = copy_in(a_[slot()], a, step_.a, part_of_a); !status.ok()) return status;
  }
  if (exchange_ != nullptr)
    if (Status status = exchange_->loaded(member_, slot(), *copies_in_); !status.ok()) return status;
  if (step_.first == 0 && fetches_ > 0) // the block that had these rows of the device's memory
    for (Queue* later : {copies_in_.get(), &executor_.default_queue()})
      if (Status status = later->wait(*fetched_); !status.ok()) return status;
  if (step_.first == 0 && call_.beta != 0.0) {
    const DeviceRectangle c = StreamedBlocks{block_.rows, block_.cols, 0}.c(call_);
    if (Status status = copy_in(block_.c, c, old_of(call_, block_), all_of(c)); !status.ok()) return status;
  }
  return copied_[slot()]->record(*copies_in_);
}

/// The rows of a finished block return to the host in as many parts as the next block has slices.
Status StreamedProduct::multiply() {
  Queue& queue = executor_.default_queue();
  if (exchange_ != nullptr) {
    const DeviceRectangle slice = exchange_->is_of_a() ? slice_of_a() : slice_of_b();
    if (Status status = exchange_->gather(member_, slot(), slice, queue); !status.ok()) return status;
  }
  if (Status status = queue.wait(*copied_[slot()]); !status.ok()) return status;
  if (Status status = multiply_slices(); !status.ok()) return status;
  const Index slices = std::max<Index>((call_.k + blocks_.k - 1) / std::max<Index>(blocks_.k, 1), 1);
  const Index rows = step_.last ? before_.rows : (before_.rows + slices - 1) / slices;
  if (Status status = fetch(before_, rows); !status.ok()) return status;
  if (step_.last) before_ = std::move(block_);
  ++steps_;
  return {};
}

Status StreamedProduct::multiply_slices() {
  const DeviceRectangle a = slice_of_a(), b = slice_of_b(), c = StreamedBlocks{block_.rows, block_.cols, 0}.c(call_);
  GemmCall product = call_;
  product.n = block_.cols;
  product.k = step_.k;
  product.lda = a.ld();
  product.b = b_[slot()];
  product.ldb = b.ld();
  product.ldc = c.ld();
  const Index rows = step_.last || copies_a_in_parts() ? block_.rows_of_a_part : block_.rows;
  for (Index first = 0; first < block_.rows; first += rows) {
    product.m = std::min(rows, block_.rows - first);
    if (copies_a_in_parts())
      if (Status status = copy_rows_of_a(first, product.m); !status.ok()) return status;
    const Index offset = call_.op_a == Op::None ? first * product.lda : first;
    product.a = a_[slot()] + static_cast<std::size_t>(offset) * size_of(call_.type);
    product.c = block_.c + static_cast<std::size_t>(first) * c.pitch();
    const RunningSums sums = sums_from(first);
    Status status = is_whole(step_) ? executor_.gemm(executor_.default_queue(), product, kernel_) : add(product, sums);
    if (status.ok() && step_.last) status = complete(product, sums);
    if (!status.ok()) return status;
  }
  return multiplied_[slot()]->record(executor_.default_queue());
}

/// Enqueues the copy of what rows of op(A) have in the slice. Later products wait for it.
Status StreamedProduct::copy_rows_of_a(Index first, Index rows) {
  const DeviceRectangle a = slice_of_a();
  const SlicePart part = call_.op_a == Op::None ? SlicePart{first, 0, rows, a.cols} : SlicePart{0, first, a.rows, rows};
  if (Status status = copy_in(a_[slot()], a, step_.a, part); !status.ok()) return status;
  if (Status status = copied_[slot()]->record(*copies_in_); !status.ok()) return status;
  return executor_.default_queue().wait(*copied_[slot()]);
}

/// Returns the sums of the block's rows from `row` on.
RunningSums StreamedProduct::sums_from(Index row) const {
  const StreamedBlocks now{block_.rows, block_.cols, 0};
  const DeviceRectangle sums = sums_ != nullptr ? now.sums(call_) : now.c(call_);
  char* const first = sums_ != nullptr ? sums_ : block_.c;
  return {first + static_cast<std::size_t>(row) * sums.pitch(), sums.ld(), step_.first == 0};
}

/// Adds a slice's product to the sums. A kernel that adds in an order of its own has whole slices.
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

/// Completes rows of the block after its last slice: makes C of the sums, if there are sums that are not C.
Status StreamedProduct::complete(const GemmCall& rows, const RunningSums& sums) {
  Queue& queue = executor_.default_queue();
  if (sums_ != nullptr && !is_whole(step_)) {
    GemmCall product = rows;
    product.math = Math::Strict;
    if (Status status = finish_product(executor_, queue, product, {sums.data, sums.ld, false}); !status.ok())
      return status;
  }
  std::unique_ptr<Event>& completed = block_.completed.emplace_back();
  if (Status status = executor_.create_event(completed); !status.ok()) return status;
  return completed->record(queue);
}

/// Enqueues the copies of so many further rows to the host.
Status StreamedProduct::fetch(Block& block, Index rows) {
  const DeviceRectangle c = StreamedBlocks{block.rows, block.cols, 0}.c(call_);
  for (const Index end = std::min(block.rows, block.fetched + rows); block.fetched < end;) {
    const Index part = block.fetched / block.rows_of_a_part;
    Index count = std::min(end, (part + 1) * block.rows_of_a_part) - block.fetched, ld = 0;
    void* to = nullptr;
    if (Status status = copies_out_->wait(*block.completed[static_cast<std::size_t>(part)]); !status.ok())
      return status;
    if (Status status = target_->place(block, block.fetched, count, to, ld); !status.ok()) return status;
    *written_ = true;
    const CopyCall copy{.direction = CopyDirection::Out,
                        .to = to,
                        .to_pitch = static_cast<std::size_t>(ld) * c.element,
                        .from = block.c + static_cast<std::size_t>(block.fetched) * c.pitch(),
                        .from_pitch = c.pitch(),
                        .width = static_cast<std::size_t>(block.cols) * c.element,
                        .rows = static_cast<std::size_t>(count)};
    if (Status status = enqueue(*copies_out_, copy, target_->keeps_rows()); !status.ok()) return status;
    if (Status status = target_->take(block, block.fetched, count); !status.ok()) return status;
    block.fetched += count;
  }
  if (block.rows == 0 || block.fetched < block.rows) return {};
  ++fetches_;
  return fetched_->record(*copies_out_);
}

Status StreamedProduct::copy_in(char* device, const DeviceRectangle& slice, const HostSlice& host,
                                const SlicePart& part) {
  if (part.rows == 0 || part.cols == 0) return {};
  const std::size_t host_pitch = static_cast<std::size_t>(host.ld) * slice.element;
  const auto row = static_cast<std::size_t>(part.row), col = static_cast<std::size_t>(part.col) * slice.element;
  return enqueue(*copies_in_,
                 {.direction = CopyDirection::In,
                  .to = device + row * slice.pitch() + col,
                  .to_pitch = slice.pitch(),
                  .from = static_cast<const char*>(host.data) + row * host_pitch + col,
                  .from_pitch = host_pitch,
                  .width = static_cast<std::size_t>(part.cols) * slice.element,
                  .rows = static_cast<std::size_t>(part.rows)},
                 source_->keeps_slices());
}

/// Enqueues a copy between the device and the host, and waits for it unless the host's memory stays as it is until the
/// product is done.
Status StreamedProduct::enqueue(Queue& queue, const CopyCall& copy, bool stays) {
  Status status = executor_.enqueue_copy(queue, copy);
  return status.ok() && !stays ? queue.synchronize() : status;
}

/// Also after a failure the device must not use the buffers any more, nor the caller's memory.
Status StreamedProduct::finish(Status status) noexcept {
  for (Queue* queue : {&executor_.default_queue(), copies_in_.get(), copies_out_.get()})
    if (queue != nullptr)
      if (Status end = queue->synchronize(); status.ok()) status = std::move(end);
  return status;
}

Status StreamedProduct::run(SliceSource& source, BlockTarget& target, std::atomic<bool>& written) {
  Status status;
  try {
    status = begin(source, target, written);
    for (bool given = true; status.ok() && given;) {
      status = load(given);
      if (status.ok()) status = given ? multiply() : fetch_rest();
    }
  } catch (const std::bad_alloc& error) {
    status = out_of_memory(error);
  }
  return finish(std::move(status));
}

} // namespace tessera::detail
