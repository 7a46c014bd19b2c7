#include "slices.hpp"

#include <algorithm>

namespace tessera::detail {
namespace {

/// Returns the part of an operand that begins at row `row` and column `col` of op(X).
HostSlice part_of(const void* x, Index ld, Op op, DType type, Index row, Index col) {
  const Index offset = op == Op::None ? row * ld + col : col * ld + row;
  return {static_cast<const char*>(x) + static_cast<std::size_t>(offset) * size_of(type), ld};
}

} // namespace

Status HostSource::next(SliceStep& step, bool& given) noexcept {
  given = false;
  if (!in_block_) {
    if (!blocks_.take(block_)) return {};
    first_ = 0;
  }
  const Index k = call_.alpha == 0.0 ? 0 : call_.k;
  step.block = block_;
  step.first = first_;
  // Nothing is multiplied while the first slices of all are copied, so the first block's slices are not as deep as
  // others; but rows of less than 8 KiB take copy engines longer than their bytes say.
  const Index shallow = std::max(canonical_segment, (Index{8} << 10) / static_cast<Index>(size_of(call_.type)));
  step.k = std::min({in_first_block_ ? shallow : depth_, depth_, k - first_});
  step.last = first_ + step.k >= k;
  step.a = part_of(call_.a, call_.lda, call_.op_a, call_.type, block_.row, first_);
  step.b = part_of(call_.b, call_.ldb, call_.op_b, call_.type, first_, block_.col);
  first_ += step.k;
  in_block_ = !step.last;
  in_first_block_ = in_first_block_ && !step.last;
  given = true;
  return {};
}

Status HostTarget::place(const BlockOfC& block, Index first, Index&, void*& data, Index& ld) noexcept {
  data = static_cast<char*>(call_.c) +
         static_cast<std::size_t>((block.row + first) * call_.ldc + block.col) * size_of(call_.result);
  ld = call_.ldc;
  return {};
}

} // namespace tessera::detail
