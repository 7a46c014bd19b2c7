#include "streamed_gemm.hpp"

#include <algorithm>
#include <array>
#include <new>
#include <utility>

#include <tessera/backend/log.hpp>
#include <tessera/backend/out_of_memory.hpp>

#include "matrix/executor_memory.hpp"
#include "partly_written.hpp"

namespace tessera::detail {
namespace {

/// A block of C, and how many of its rows are back on the host.
struct Block {
  Index row = 0, col = 0, rows = 0, cols = 0;
  char* c = nullptr; ///< the buffer on the device
  Index fetched = 0; ///< rows that are on the host again
};

class StreamedProduct {
 public:
  StreamedProduct(Executor& executor, const GemmCall& call, std::string_view kernel)
      : executor_(executor), call_(call), kernel_(kernel), element_(size_of(call.result)), slab_(executor) {}

  Status run();

 private:
  Status reserve();
  void cut_slab();
  Status multiply();
  Status multiply_slice(const Block& block, Index first);
  Status complete(const Block& block);
  Status fetch(Block& block, Index rows);
  Status copy_in(char* device, const DeviceRectangle& to, const void* host, Index ld, Index row, Index col, Index rows,
                 Index cols);

  bool one_slice() const { return call_.k <= blocks_.k || call_.alpha == 0.0; }
  bool keeps_old() const { return call_.beta != 0.0; }

  Executor& executor_;
  const GemmCall& call_;
  std::string_view kernel_;
  std::size_t element_; ///< of C
  ExecutorMemory slab_;
  StreamedBlocks blocks_;
  std::array<char*, 2> a_{}, b_{}, c_{};
  char* old_ = nullptr;
  std::unique_ptr<Queue> copies_;
  std::array<std::unique_ptr<Event>, 2> multiplied_; ///< recorded after the product that read these slices
  std::unique_ptr<Event> finished_;                  ///< recorded after the last block was enqueued
  Index steps_ = 0;
  bool fetched_ = false; ///< C has been written to
};

Status StreamedProduct::run() {
  if (Status status = reserve(); !status.ok()) return status;
  if (log_dispatch())
    log_line("operands do not fit into the memory of " + executor_.capabilities().device + ": C in blocks of " +
             std::to_string(blocks_.m) + "×" + std::to_string(blocks_.n) + ", slices of " + std::to_string(blocks_.k) +
             " k");
  cut_slab();
  if (Status status = executor_.create_queue(copies_); !status.ok()) return status;
  for (auto* event : {&multiplied_[0], &multiplied_[1], &finished_})
    if (Status status = executor_.create_event(*event); !status.ok()) return status;
  Status status;
  try {
    status = multiply();
  } catch (const std::bad_alloc& error) {
    status = out_of_memory(error);
  }
  Status end = executor_.default_queue().synchronize(); // before the buffers are freed
  if (status.ok()) return end;
  return fetched_ ? partly_written(status) : status;
}

/// Reserves half of the device's memory, or half of that, and so on until the device has it. Blocks and slices take
/// three quarters of it; a quarter is left to the kernels.
Status StreamedProduct::reserve() {
  std::string first_failure;
  for (std::size_t bytes = executor_.capabilities().memory_bytes / 2;; bytes /= 2) {
    blocks_ = choose_blocks(call_, bytes / 4 * 3);
    if (blocks_.m == 0)
      return {StatusCode::OutOfMemory, "out of device memory: not even a block of 64×64 of C with slices of " +
                                           std::to_string(std::min(call_.k, canonical_segment)) + " k fits into " +
                                           std::to_string(bytes) + " bytes, the most that could be had" +
                                           first_failure};
    Status status = slab_.allocate(bytes);
    if (status.ok()) return slab_.allocate(blocks_.bytes(call_));
    if (status.code != StatusCode::OutOfMemory) return status;
    if (first_failure.empty()) first_failure = "; " + std::to_string(bytes) + " bytes failed first: " + status.why;
  }
}

void StreamedProduct::cut_slab() {
  char* next = static_cast<char*>(slab_.data());
  const auto cut = [&](const DeviceRectangle& rectangle) { return std::exchange(next, next + rectangle.bytes()); };
  for (char*& buffer : a_) buffer = cut(blocks_.a(call_));
  for (char*& buffer : b_) buffer = cut(blocks_.b(call_));
  for (char*& buffer : c_) buffer = cut(blocks_.c(call_));
  if (blocks_.copies == 3) old_ = cut(blocks_.c(call_));
}

/// Copies in and multiplies slice after slice, while the device is busy with the slice before. The rows of a finished
/// block return to the host in as many parts as the next block has slices.
Status StreamedProduct::multiply() {
  const Index slices = one_slice() ? 1 : (call_.k + blocks_.k - 1) / blocks_.k;
  Block before;
  for (Index row = 0; row < call_.m; row += blocks_.m)
    for (Index col = 0; col < call_.n; col += blocks_.n) {
      Block block{row, col, std::min(blocks_.m, call_.m - row), std::min(blocks_.n, call_.n - col),
                  before.c == c_[0] ? c_[1] : c_[0]};
      for (Index slice = 0; slice < slices; ++slice) {
        if (Status status = multiply_slice(block, slice * blocks_.k); !status.ok()) return status;
        if (slice == 0 && before.rows > 0)
          if (Status status = finished_->synchronize(); !status.ok()) return status;
        if (Status status = fetch(before, (before.rows + slices - 1) / slices); !status.ok()) return status;
      }
      if (Status status = complete(block); !status.ok()) return status;
      before = block;
    }
  if (Status status = finished_->synchronize(); !status.ok()) return status;
  return fetch(before, before.rows);
}

/// Adds a slice's product to the block. Where k is one slice, the row computes the caller's product with its alpha and
/// beta.
Status StreamedProduct::multiply_slice(const Block& block, Index first) {
  const std::size_t slot = static_cast<std::size_t>(steps_ % 2);
  if (steps_++ >= 2)
    if (Status status = multiplied_[slot]->synchronize(); !status.ok()) return status;
  StreamedBlocks now = blocks_;
  now.m = block.rows;
  now.n = block.cols;
  now.k = call_.alpha == 0.0 ? 0 : std::min(blocks_.k, call_.k - first);
  const DeviceRectangle a = now.a(call_), b = now.b(call_), c = now.c(call_);
  const bool flip_a = call_.op_a == Op::Transpose, flip_b = call_.op_b == Op::Transpose;
  if (Status status = copy_in(a_[slot], a, call_.a, call_.lda, flip_a ? first : block.row, flip_a ? block.row : first,
                              a.rows, a.cols);
      !status.ok())
    return status;
  if (Status status = copy_in(b_[slot], b, call_.b, call_.ldb, flip_b ? block.col : first, flip_b ? first : block.col,
                              b.rows, b.cols);
      !status.ok())
    return status;
  if (one_slice() && keeps_old())
    if (Status status = copy_in(block.c, c, call_.c, call_.ldc, block.row, block.col, block.rows, block.cols);
        !status.ok())
      return status;
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
  if (!one_slice()) {
    product.alpha = 1.0;
    product.beta = first == 0 ? 0.0 : 1.0;
  }
  if (Status status = executor_.gemm(executor_.default_queue(), product, kernel_); !status.ok()) return status;
  return multiplied_[slot]->record(executor_.default_queue());
}

/// Completes a block after the sum of all slices: multiplies it by alpha and adds beta times the old values.
Status StreamedProduct::complete(const Block& block) {
  if (!one_slice() && (call_.alpha != 1.0 || keeps_old())) {
    const DeviceRectangle c{block.rows, block.cols, element_};
    MapCall map;
    map.op = keeps_old() ? MapOp::Axpby : MapOp::Scale;
    map.type = call_.result;
    map.rows = block.rows;
    map.cols = block.cols;
    map.alpha = call_.alpha;
    map.beta = call_.beta;
    map.x = map.z = block.c;
    map.ldx = map.ldz = map.ldy = c.ld();
    map.threads = call_.threads;
    if (keeps_old()) {
      if (Status status = copy_in(old_, c, call_.c, call_.ldc, block.row, block.col, block.rows, block.cols);
          !status.ok())
        return status;
      map.y = old_;
    }
    if (Status status = executor_.map(executor_.default_queue(), map); !status.ok()) return status;
  }
  return finished_->record(executor_.default_queue());
}

Status StreamedProduct::fetch(Block& block, Index rows) {
  rows = std::min(rows, block.rows - block.fetched);
  if (rows == 0) return {};
  fetched_ = true;
  const DeviceRectangle c{block.rows, block.cols, element_};
  char* const to = static_cast<char*>(call_.c) +
                   static_cast<std::size_t>((block.row + block.fetched) * call_.ldc + block.col) * element_;
  Status status = executor_.copy_out(*copies_, to, static_cast<std::size_t>(call_.ldc) * element_,
                                     block.c + static_cast<std::size_t>(block.fetched) * c.pitch(), c.pitch(),
                                     static_cast<std::size_t>(block.cols) * element_, static_cast<std::size_t>(rows));
  block.fetched += rows;
  return status;
}

Status StreamedProduct::copy_in(char* device, const DeviceRectangle& to, const void* host, Index ld, Index row,
                                Index col, Index rows, Index cols) {
  if (rows == 0 || cols == 0) return {};
  const auto* from = static_cast<const char*>(host) + static_cast<std::size_t>(row * ld + col) * to.element;
  return executor_.copy_in(*copies_, device, to.pitch(), from, static_cast<std::size_t>(ld) * to.element,
                           static_cast<std::size_t>(cols) * to.element, static_cast<std::size_t>(rows));
}

} // namespace

Status streamed_gemm(Executor& executor, const GemmCall& call, std::string_view kernel) noexcept try {
  StreamedProduct product(executor, call, kernel);
  return product.run();
} catch (const std::bad_alloc& error) {
  return out_of_memory(error);
}

} // namespace tessera::detail
