#include "local_product.hpp"

#include <algorithm>
#include <utility>

#include <tessera/complex.hpp>
#include <tessera/running_sums.hpp>

namespace tessera::distributed {

using tessera::detail::DeviceRectangle;

namespace {

/// Returns a panel without its first outer indices.
Panel from_outer(Panel panel, Index outer, std::size_t element) noexcept {
  panel.data += static_cast<std::size_t>(panel.k_major ? outer : outer * panel.ld) * element;
  return panel;
}

} // namespace

LocalProduct::LocalProduct(Executor& executor, tessera::detail::DistributedType type, Index most_k, int threads,
                           OnDevice on_device)
    : executor_(executor),
      type_(type),
      element_(type.bytes()),
      sum_(type.sum_bytes()),
      most_k_(most_k),
      threads_(threads),
      on_device_(on_device),
      device_sums_(executor),
      device_panels_(executor) {}

std::size_t LocalProduct::device_bytes(const SumBlocks& blocks) const noexcept {
  if (on_host() || blocks.rows == 0 || blocks.cols == 0) return 0;
  return (blocks.several() ? 2 : 1) * sums_layout(blocks).bytes() + 2 * (x_bytes(blocks) + y_bytes(blocks));
}

/// A panel may lie either way.
std::size_t LocalProduct::panel_bytes(Index outer) const noexcept {
  return std::max(DeviceRectangle{outer, most_k_, element_}.bytes(), DeviceRectangle{most_k_, outer, element_}.bytes());
}

Status LocalProduct::allocate(const SumBlocks& blocks) {
  blocks_ = blocks;
  device_sums_.release();
  device_panels_.release();
  if (device_bytes(blocks) == 0) return {};
  if (Status status = device_sums_.allocate((blocks.several() ? 2 : 1) * sums_layout(blocks).bytes()); !status.ok())
    return status;
  if (const std::size_t bytes = 2 * (x_bytes(blocks) + y_bytes(blocks)); bytes > 0)
    if (Status status = device_panels_.allocate(bytes); !status.ok()) return status;
  for (std::unique_ptr<Queue>* queue : {&copies_, &fetches_})
    if (*queue == nullptr)
      if (Status status = executor_.create_queue(*queue); !status.ok()) return status;
  for (auto* events : {&copied_, &multiplied_, &came_, &complete_, &fetched_})
    for (std::unique_ptr<Event>& event : *events)
      if (event == nullptr)
        if (Status status = executor_.create_event(event); !status.ok()) return status;
  return {};
}

CopyCall LocalProduct::copy_of_sums(CopyDirection direction) const noexcept {
  const auto bytes = [&](Index sums) { return static_cast<std::size_t>(sums) * sum_; };
  char* const host = host_sums_ + bytes(block_.row * blocks_.cols + block_.col);
  const bool in = direction == CopyDirection::In;
  return {.direction = direction,
          .to = in ? sums_ : host,
          .to_pitch = bytes(in ? ld_ : blocks_.cols),
          .from = in ? host : sums_,
          .from_pitch = bytes(in ? blocks_.cols : ld_),
          .width = bytes(block_.cols),
          .rows = static_cast<std::size_t>(block_.rows)};
}

/// The half of device_sums_ that is taken may still be on its way to the host.
Status LocalProduct::begin_block(const tessera::detail::BlockOfC& block, bool has_sums) {
  block_ = block;
  has_sums_ = has_sums;
  if (is_empty()) return {};
  if (on_host()) {
    ld_ = blocks_.cols;
    sums_ = host_sums_ + static_cast<std::size_t>(block.row * ld_ + block.col) * sum_;
    return {};
  }
  const DeviceRectangle layout = sums_layout(blocks_);
  buffer_ = blocks_.several() ? 1 - buffer_ : 0;
  ld_ = layout.ld();
  sums_ = static_cast<char*>(device_sums_.data()) + buffer_ * layout.bytes();
  Queue& products = executor_.default_queue();
  if (leaving_[buffer_])
    for (Queue* queue : {copies_.get(), &products})
      if (Status status = queue->wait(*fetched_[buffer_]); !status.ok()) return status;
  coming_[buffer_] = has_sums;
  if (!has_sums) return {};
  if (Status status = executor_.enqueue_copy(*copies_, copy_of_sums(CopyDirection::In)); !status.ok()) return status;
  if (Status status = came_[buffer_]->record(*copies_); !status.ok()) return status;
  return products.wait(*came_[buffer_]);
}

Status LocalProduct::copy_in(Panel& panel, char* memory, Index outer, Index k) {
  const Index lines = panel.k_major ? k : outer, length = panel.k_major ? outer : k;
  const DeviceRectangle to{lines, length, element_};
  const auto bytes = [&](Index elements) { return static_cast<std::size_t>(elements) * element_; };
  Status status = executor_.enqueue_copy(*copies_, {.direction = CopyDirection::In,
                                                    .to = memory,
                                                    .to_pitch = to.pitch(),
                                                    .from = panel.data,
                                                    .from_pitch = bytes(panel.ld),
                                                    .width = bytes(length),
                                                    .rows = static_cast<std::size_t>(lines)});
  panel.data = memory;
  panel.ld = to.ld();
  return status;
}

Status LocalProduct::begin_segment(const Panel& x, const Panel& y, Index k) {
  x_ = from_outer(x, block_.row, element_);
  y_ = from_outer(y, block_.col, element_);
  k_ = k;
  if (on_host() || is_empty()) return {};
  slot_ = 1 - slot_;
  const bool copies_x = !on_device_.x && !x_.on_device, copies_y = !on_device_.y && !y_.on_device;
  if (!copies_x && !copies_y) return {};
  if (in_use_[slot_])
    if (Status status = copies_->wait(*multiplied_[slot_]); !status.ok()) return status;
  char* const panels = static_cast<char*>(device_panels_.data()) + slot_ * (x_bytes(blocks_) + y_bytes(blocks_));
  if (copies_x)
    if (Status status = copy_in(x_, panels, block_.rows, k); !status.ok()) return status;
  if (copies_y)
    if (Status status = copy_in(y_, panels + x_bytes(blocks_), block_.cols, k); !status.ok()) return status;
  if (Status status = copied_[slot_]->record(*copies_); !status.ok()) return status;
  last_copied_ = copied_[slot_].get();
  return executor_.default_queue().wait(*copied_[slot_]);
}

Status LocalProduct::wait_for_copies() {
  Event* const last = std::exchange(last_copied_, nullptr);
  return last == nullptr ? Status{} : last->synchronize();
}

Status LocalProduct::finish() {
  if (on_host() || copies_ == nullptr || fetches_ == nullptr) return {};
  Status first = copies_->synchronize();
  for (Queue* queue : {&executor_.default_queue(), fetches_.get()})
    if (Status status = queue->synchronize(); first.ok()) first = std::move(status);
  return first;
}

Status LocalProduct::end_segment() {
  has_sums_ = true;
  if (on_host() || is_empty()) return {};
  in_use_[slot_] = true;
  return multiplied_[slot_]->record(executor_.default_queue());
}

Status LocalProduct::wait_for_earlier() {
  return in_use_[1 - slot_] ? multiplied_[1 - slot_]->synchronize() : Status{};
}

Status LocalProduct::multiply(Index first, Index count) {
  if (count == 0 || is_empty()) return {};
  const Panel x = from_outer(x_, first, element_);
  const GemmCall call{{.type = type_.part,
                       .op_a = x.k_major ? Op::Transpose : Op::None,
                       .op_b = y_.k_major ? Op::None : Op::Transpose,
                       .m = count,
                       .n = block_.cols,
                       .k = k_,
                       .a = x.data,
                       .lda = x.ld,
                       .b = y_.data,
                       .ldb = y_.ld,
                       .threads = threads_}};
  char* const sums = sums_ + static_cast<std::size_t>(first * ld_) * sum_;
  if (type_.is_complex) return multiply_complex(call, sums);
  RunningSums running{sums, ld_, !has_sums_};
  return add_segments(executor_, executor_.default_queue(), call, running);
}

Status LocalProduct::multiply_complex(const GemmCall& call, char* sums) {
  return gemm(executor_, executor_.default_queue(),
              {{.type = call.type,
                .op_a = call.op_a,
                .op_b = call.op_b,
                .m = call.m,
                .n = call.n,
                .k = call.k,
                .a = call.a,
                .lda = call.lda,
                .b = call.b,
                .ldb = call.ldb,
                .beta = has_sums_ ? 1.0 : 0.0,
                .c = sums,
                .ldc = ld_,
                .threads = call.threads}});
}

/// The host waits until the block's sums have come, because it may not let them be written while they are read.
Status LocalProduct::end_block() {
  if (on_host() || is_empty()) return {};
  if (coming_[buffer_])
    if (Status status = came_[buffer_]->synchronize(); !status.ok()) return status;
  if (Status status = complete_[buffer_]->record(executor_.default_queue()); !status.ok()) return status;
  if (Status status = fetches_->wait(*complete_[buffer_]); !status.ok()) return status;
  if (Status status = executor_.enqueue_copy(*fetches_, copy_of_sums(CopyDirection::Out)); !status.ok()) return status;
  leaving_[buffer_] = true;
  return fetched_[buffer_]->record(*fetches_);
}

Status LocalProduct::wait_for_sums() { return fetches_ == nullptr ? Status{} : fetches_->synchronize(); }

} // namespace tessera::distributed
