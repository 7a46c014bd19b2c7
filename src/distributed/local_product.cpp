#include "local_product.hpp"

#include <algorithm>

#include <tessera/complex.hpp>
#include <tessera/running_sums.hpp>

namespace tessera::distributed {

LocalProduct::LocalProduct(Executor& executor, tessera::detail::DistributedType type, Index rows, Index cols,
                           Index most_k, int threads)
    : executor_(executor),
      type_(type),
      element_(type.bytes()),
      sum_(type.sum_bytes()),
      rows_(rows),
      cols_(cols),
      most_k_(most_k),
      threads_(threads),
      device_sums_(executor),
      device_x_(executor),
      device_y_(executor) {}

std::size_t LocalProduct::device_bytes() const noexcept {
  if (on_host() || rows_ == 0 || cols_ == 0) return 0;
  return static_cast<std::size_t>(rows_ * cols_) * sum_ +
         static_cast<std::size_t>((rows_ + cols_) * most_k_) * element_;
}

Status LocalProduct::allocate(char* sums) {
  host_sums_ = sums;
  sums_ = sums;
  if (device_bytes() == 0) return {};
  const auto bytes = [&](Index elements) { return static_cast<std::size_t>(elements) * element_; };
  if (Status status = device_sums_.allocate(static_cast<std::size_t>(rows_ * cols_) * sum_); !status.ok())
    return status;
  if (Status status = device_x_.allocate(bytes(rows_ * most_k_)); !status.ok()) return status;
  if (Status status = device_y_.allocate(bytes(cols_ * most_k_)); !status.ok()) return status;
  sums_ = static_cast<char*>(device_sums_.data());
  return {};
}

Status LocalProduct::begin_strip(Index first, Index count, bool has_sums) {
  strip_first_ = first;
  strip_rows_ = count;
  has_sums_ = has_sums;
  if (on_host() || !has_sums || count == 0 || cols_ == 0) return {};
  const std::size_t offset = static_cast<std::size_t>(first) * row_bytes();
  return executor_.copy_in(executor_.default_queue(), sums_ + offset, row_bytes(), host_sums_ + offset, row_bytes(),
                           row_bytes(), static_cast<std::size_t>(count));
}

Status LocalProduct::copy_in(Panel& panel, tessera::detail::ExecutorMemory& memory, Index outer, Index k) {
  const Index lines = panel.k_major ? k : outer, length = panel.k_major ? outer : k;
  const std::size_t width = static_cast<std::size_t>(length) * element_;
  Status status =
      executor_.copy_in(executor_.default_queue(), memory.data(), width, panel.data,
                        static_cast<std::size_t>(panel.ld) * element_, width, static_cast<std::size_t>(lines));
  panel.data = static_cast<const char*>(memory.data());
  panel.ld = length;
  return status;
}

Status LocalProduct::begin_segment(const Panel& x, const Panel& y, Index k) {
  x_ = x;
  y_ = y;
  k_ = k;
  if (on_host() || rows_ == 0 || cols_ == 0) return {};
  if (Status status = copy_in(x_, device_x_, rows_, k); !status.ok()) return status;
  return copy_in(y_, device_y_, cols_, k);
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
  char* sums = sums_ + static_cast<std::size_t>(row) * row_bytes();
  if (type_.is_complex) return multiply_complex(call, sums);
  RunningSums running{sums, cols_, !has_sums_};
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
               .ldc = cols_,
               .threads = call.threads});
}

Status LocalProduct::end_strip() {
  if (on_host() || strip_rows_ == 0 || cols_ == 0) return {};
  const std::size_t offset = static_cast<std::size_t>(strip_first_) * row_bytes();
  return executor_.copy_out(executor_.default_queue(), host_sums_ + offset, row_bytes(), sums_ + offset, row_bytes(),
                            row_bytes(), static_cast<std::size_t>(strip_rows_));
}

} // namespace tessera::distributed
