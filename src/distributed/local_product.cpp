#include "local_product.hpp"

#include <algorithm>
#include <utility>

#include <tessera/complex.hpp>
#include <tessera/running_sums.hpp>

namespace tessera::distributed {

using tessera::detail::DeviceRectangle;

LocalProduct::LocalProduct(Executor& executor, tessera::detail::DistributedType type, Index rows, Index cols,
                           Index most_k, int threads, OnDevice on_device)
    : executor_(executor),
      type_(type),
      element_(type.bytes()),
      sum_(type.sum_bytes()),
      rows_(rows),
      cols_(cols),
      most_k_(most_k),
      threads_(threads),
      on_device_(on_device),
      ld_(on_host() ? cols : sums_layout().ld()),
      device_sums_(executor),
      device_panels_(executor) {}

std::size_t LocalProduct::device_bytes() const noexcept {
  if (on_host() || rows_ == 0 || cols_ == 0) return 0;
  return sums_layout().bytes() + 2 * (x_bytes() + y_bytes());
}

/// A panel may lie either way.
std::size_t LocalProduct::panel_bytes(Index outer) const noexcept {
  return std::max(DeviceRectangle{outer, most_k_, element_}.bytes(), DeviceRectangle{most_k_, outer, element_}.bytes());
}

Status LocalProduct::allocate(char* sums) {
  host_sums_ = sums;
  sums_ = sums;
  if (device_bytes() == 0) return {};
  if (Status status = device_sums_.allocate(sums_layout().bytes()); !status.ok()) return status;
  if (const std::size_t bytes = 2 * (x_bytes() + y_bytes()); bytes > 0)
    if (Status status = device_panels_.allocate(bytes); !status.ok()) return status;
  if (Status status = executor_.create_queue(copies_); !status.ok()) return status;
  for (auto* events : {&copied_, &multiplied_})
    for (std::unique_ptr<Event>& event : *events)
      if (Status status = executor_.create_event(event); !status.ok()) return status;
  sums_ = static_cast<char*>(device_sums_.data());
  return {};
}

Status LocalProduct::begin_strip(Index first, Index count, bool has_sums) {
  strip_first_ = first;
  strip_rows_ = count;
  has_sums_ = has_sums;
  if (on_host() || !has_sums || count == 0 || cols_ == 0) return {};
  const auto row = static_cast<std::size_t>(first);
  return executor_.copy_in(executor_.default_queue(), sums_ + row * pitch(), pitch(), host_sums_ + row * row_bytes(),
                           row_bytes(), row_bytes(), static_cast<std::size_t>(count));
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
  x_ = x;
  y_ = y;
  k_ = k;
  if (on_host() || rows_ == 0 || cols_ == 0) return {};
  slot_ = 1 - slot_;
  const bool copies_x = !on_device_.x && !x_.on_device, copies_y = !on_device_.y && !y_.on_device;
  if (!copies_x && !copies_y) return {};
  if (in_use_[slot_])
    if (Status status = copies_->wait(*multiplied_[slot_]); !status.ok()) return status;
  char* const panels = static_cast<char*>(device_panels_.data()) + slot_ * (x_bytes() + y_bytes());
  if (copies_x)
    if (Status status = copy_in(x_, panels, rows_, k); !status.ok()) return status;
  if (copies_y)
    if (Status status = copy_in(y_, panels + x_bytes(), cols_, k); !status.ok()) return status;
  if (Status status = copied_[slot_]->record(*copies_); !status.ok()) return status;
  last_copied_ = copied_[slot_].get();
  return executor_.default_queue().wait(*copied_[slot_]);
}

Status LocalProduct::wait_for_copies() {
  Event* const last = std::exchange(last_copied_, nullptr);
  return last == nullptr ? Status{} : last->synchronize();
}

Status LocalProduct::finish() {
  if (on_host() || copies_ == nullptr) return {};
  Status copied = copies_->synchronize(), multiplied = executor_.default_queue().synchronize();
  return copied.ok() ? multiplied : copied;
}

Status LocalProduct::end_segment() {
  has_sums_ = true;
  if (on_host() || rows_ == 0 || cols_ == 0) return {};
  in_use_[slot_] = true;
  return multiplied_[slot_]->record(executor_.default_queue());
}

Status LocalProduct::wait_for_earlier() {
  return in_use_[1 - slot_] ? multiplied_[1 - slot_]->synchronize() : Status{};
}

Status LocalProduct::multiply(Index first, Index count) {
  if (count == 0 || cols_ == 0) return {};
  const Index row = strip_first_ + first;
  const Index step = x_.k_major ? row : row * x_.ld;
  const GemmCall call{.type = type_.part,
                      .op_a = x_.k_major ? Op::Transpose : Op::None,
                      .op_b = y_.k_major ? Op::None : Op::Transpose,
                      .m = count,
                      .n = cols_,
                      .k = k_,
                      .a = x_.data + static_cast<std::size_t>(step) * element_,
                      .lda = x_.ld,
                      .b = y_.data,
                      .ldb = y_.ld,
                      .threads = threads_};
  char* sums = sums_ + static_cast<std::size_t>(row) * pitch();
  if (type_.is_complex) return multiply_complex(call, sums);
  RunningSums running{sums, ld_, !has_sums_};
  return add_segments(executor_, executor_.default_queue(), call, running);
}

Status LocalProduct::multiply_complex(const GemmCall& call, char* sums) {
  return gemm(executor_, executor_.default_queue(),
              {.type = call.type,
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
               .threads = call.threads});
}

Status LocalProduct::end_strip() {
  if (on_host() || strip_rows_ == 0 || cols_ == 0) return {};
  const auto row = static_cast<std::size_t>(strip_first_);
  return executor_.copy_out(executor_.default_queue(), host_sums_ + row * row_bytes(), row_bytes(),
                            sums_ + row * pitch(), pitch(), row_bytes(), static_cast<std::size_t>(strip_rows_));
}

} // namespace tessera::distributed
