#include "blocks.hpp"

#include <algorithm>

#include "core/gemm/block_sizes.hpp"

namespace tessera::detail {
namespace {

/// A segment of a strict sum, counted in complex numbers.
constexpr Index complex_segment = canonical_segment / 2;

/// Blocks of C are not made narrower than this; k is cut into slices instead.
constexpr Index narrow = 128;

std::size_t rectangle(Index rows, Index cols, DType parts) {
  return static_cast<std::size_t>(rows) * static_cast<std::size_t>(scratch_ld(cols, parts)) * 2 * size_of(parts);
}

/// Returns the largest blocks of this k that fit into `limit`, with one side for rows and columns. Rows are not cut
/// where that saves no memory.
ComplexBlocks largest_blocks(const ComplexGemmCall& call, Index k, std::size_t limit) {
  const bool cuts_rows = call.op_a != Op::None || ComplexBlocks{1, 1, k}.keeps_sums(call);
  const auto blocks_of = [&](Index side) {
    return ComplexBlocks{cuts_rows ? std::min(side, call.m) : call.m, std::min(side, call.n), k};
  };
  return blocks_of(
      largest_side(1, std::max(call.m, call.n), [&](Index side) { return blocks_of(side).bytes(call) <= limit; }));
}

} // namespace

Index scratch_ld(Index cols, DType parts) {
  const Index number = static_cast<Index>(2 * size_of(parts));
  const Index bytes = (cols * number + 63) / 64 * 64;
  return (bytes % 2048 == 0 ? bytes + 64 : bytes) / number;
}

bool ComplexBlocks::keeps_sums(const ComplexGemmCall& call) const {
  if (call.alpha.imag() != 0.0 || call.beta.imag() != 0.0) return true;
  return slices(call) && (call.alpha != 1.0 || call.beta != 0.0);
}

std::size_t ComplexBlocks::b(const ComplexGemmCall& call) const { return rectangle(2 * k, n, call.type); }
std::size_t ComplexBlocks::a(const ComplexGemmCall& call) const {
  return call.op_a == Op::None ? 0 : rectangle(m, k, call.type);
}
std::size_t ComplexBlocks::sums(const ComplexGemmCall& call) const {
  return keeps_sums(call) ? rectangle(m, n, call.type) : 0;
}

ComplexBlocks choose_complex_blocks(const ComplexGemmCall& call, std::size_t limit) {
  ComplexBlocks blocks{call.m, call.n, call.k};
  if (blocks.bytes(call) <= limit) return blocks;
  blocks = largest_blocks(call, call.k, limit);
  if (call.k > complex_segment && (blocks.n < std::min(narrow, call.n) || blocks.bytes(call) > limit))
    blocks = largest_blocks(call, complex_segment, limit);
  blocks.m = evened(call.m, blocks.m);
  blocks.n = evened(call.n, blocks.n);
  return blocks;
}

} // namespace tessera::detail
