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

/// Returns the depth of the next slice where k has `rest` left.
Index HostSource::depth(Index rest) const {
  if (rest <= depth_) return rest;
  const Index before_the_last = (rest - std::min(depth_, depths_.last)) / canonical_segment * canonical_segment;
  return std::clamp(before_the_last, canonical_segment, depth_);
}

Status HostSource::next(SliceStep& step, bool& given) noexcept {
  given = false;
  if (!in_block_) {
    if (!blocks_.take(block_)) return {};
    first_ = 0;
  }
  const Index k = call_.alpha == 0.0 ? 0 : call_.k;
  step.block = block_;
  step.first = first_;
  step.k = depth(k - first_);
  step.last = first_ + step.k >= k;
  step.ends = !blocks_.has_more();
  step.a = part_of(call_.a, call_.lda, call_.op_a, call_.type, block_.row, first_);
  step.b = part_of(call_.b, call_.ldb, call_.op_b, call_.type, first_, block_.col);
  first_ += step.k;
  in_block_ = !step.last;
  const auto grown = static_cast<Index>(static_cast<double>(depth_) * depths_.growth);
  depth_ = std::min(depths_.most, std::max({depth_, depths_.later, grown / canonical_segment * canonical_segment}));
  given = true;
  return {};
}

GemmCall call_of(const GemmCall& call, const BlockOfC& block) {
  GemmCall part = call;
  part.m = block.rows;
  part.n = block.cols;
  part.a = part_of(call.a, call.lda, call.op_a, call.type, block.row, 0).data;
  part.b = part_of(call.b, call.ldb, call.op_b, call.type, 0, block.col).data;
  part.c =
      static_cast<char*>(call.c) + static_cast<std::size_t>(block.row * call.ldc + block.col) * size_of(call.result);
  return part;
}

Status HostTarget::place(const BlockOfC& block, Index first, Index&, void*& data, Index& ld) noexcept {
  data = static_cast<char*>(call_.c) +
         static_cast<std::size_t>((block.row + first) * call_.ldc + block.col) * size_of(call_.result);
  ld = call_.ldc;
  return {};
}

} // namespace tessera::detail
