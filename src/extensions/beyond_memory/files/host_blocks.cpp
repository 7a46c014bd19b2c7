#include "host_blocks.hpp"

#include <algorithm>
#include <cstring>

#include "core/gemm/block_sizes.hpp"

namespace tessera::files {

using tessera::detail::BlockOfC;
using tessera::detail::SliceStep;

HostBlocks::HostBlocks(Executor& executor, const GemmCall& call, std::string_view kernel, const Sizes& sizes,
                       const FilePlan& plan)
    : executor_(executor),
      call_(call),
      kernel_(kernel),
      bytes_(plan.sums_bytes(sizes)),
      ld_(slice_ld(plan.grid.block_n, sizes.sums())),
      strip_rows_(plan.strip_rows),
      piece_(plan.piece) {}

Status HostBlocks::allocate(std::size_t& allocated) { return sums_.allocate(executor_, bytes_, allocated); }

char* HostBlocks::at(Index row, Index col) const {
  return sums_.data() + static_cast<std::size_t>(row * ld_ + col) * size_of(call_.result);
}

/// Adds the slices' product to rows of the sums, in pieces, so that the kernel packs little at a time.
Status HostBlocks::multiply(const SliceStep& step, Index row, Index rows) {
  const std::size_t element = size_of(call_.type);
  const auto part = [&](const tessera::detail::HostSlice& x, bool along_rows, Index place) {
    return static_cast<const char*>(x.data) + static_cast<std::size_t>(along_rows ? place * x.ld : place) * element;
  };
  const Index piece_m = tessera::detail::evened(rows, piece_),
              piece_n = tessera::detail::evened(step.block.cols, piece_);
  for (Index i = row; i < row + rows; i += piece_m)
    for (Index j = 0; j < step.block.cols; j += piece_n) {
      GemmCall product = call_;
      product.m = std::min(piece_m, row + rows - i);
      product.n = std::min(piece_n, step.block.cols - j);
      product.k = step.k;
      product.a = part(step.a, call_.op_a == Op::None, i);
      product.lda = step.a.ld;
      product.b = part(step.b, call_.op_b == Op::Transpose, j);
      product.ldb = step.b.ld;
      product.beta = step.first == 0 ? 0.0 : 1.0;
      product.c = at(i, j);
      product.ldc = ld_;
      if (Status status = executor_.gemm(executor_.default_queue(), product, kernel_); !status.ok()) return status;
    }
  return {};
}

Status HostBlocks::hand_over(const BlockOfC& block, Index row, Index rows, tessera::detail::BlockTarget& target) {
  const std::size_t element = size_of(call_.result), width = static_cast<std::size_t>(block.cols) * element;
  for (const Index end = row + rows; row < end;) {
    Index count = end - row, ld = 0;
    void* to = nullptr;
    if (Status status = target.place(block, row, count, to, ld); !status.ok()) return status;
    for (Index i = 0; i < count; ++i)
      std::memcpy(static_cast<char*>(to) + static_cast<std::size_t>(i * ld) * element, at(row + i, 0), width);
    if (Status status = target.take(block, row, count); !status.ok()) return status;
    row += count;
  }
  return {};
}

Status HostBlocks::run(tessera::detail::SliceSource& source, tessera::detail::BlockTarget& target) {
  BlockOfC before; // its sums are complete, and none of its rows is with the target yet
  for (SliceStep step;;) {
    bool given = false;
    if (Status status = source.next(step, given); !status.ok()) return status;
    if (!given) break;
    if (step.first > 0 || before.rows == 0) {
      if (Status status = multiply(step, 0, step.block.rows); !status.ok()) return status;
    } else {
      for (Index row = 0; row < std::max(before.rows, step.block.rows); row += strip_rows_) {
        if (const Index rows = std::min(strip_rows_, before.rows - row); rows > 0)
          if (Status status = hand_over(before, row, rows, target); !status.ok()) return status;
        if (const Index rows = std::min(strip_rows_, step.block.rows - row); rows > 0)
          if (Status status = multiply(step, row, rows); !status.ok()) return status;
      }
      before = {};
    }
    if (step.last) before = step.block;
  }
  return hand_over(before, 0, before.rows, target);
}

} // namespace tessera::files
