/// Chooses the sizes of the blocks of a streamed product.

#include <algorithm>

#include "block_sizes.hpp"
#include "streamed_gemm.hpp"

namespace tessera::detail {
namespace {

/// With smaller blocks the device would wait for copies of short rows.
constexpr Index smallest_block = 64;

DeviceRectangle stored(Index rows, Index cols, Op op, DType type) {
  return op == Op::None ? DeviceRectangle{rows, cols, size_of(type)} : DeviceRectangle{cols, rows, size_of(type)};
}

StreamedBlocks blocks_of(const GemmCall& call, Index side) {
  const bool one_slice = call.k <= canonical_segment;
  return {std::min(side, call.m), std::min(side, call.n), std::min(call.k, canonical_segment),
          call.beta == 0.0 || one_slice ? 2 : 3};
}

} // namespace

DeviceRectangle StreamedBlocks::a(const GemmCall& call) const { return stored(m, k, call.op_a, call.type); }
DeviceRectangle StreamedBlocks::b(const GemmCall& call) const { return stored(k, n, call.op_b, call.type); }
DeviceRectangle StreamedBlocks::c(const GemmCall& call) const { return stored(m, n, Op::None, call.result); }
std::size_t StreamedBlocks::bytes(const GemmCall& call) const {
  return 2 * (a(call).bytes() + b(call).bytes()) + static_cast<std::size_t>(copies) * c(call).bytes();
}

StreamedBlocks choose_blocks(const GemmCall& call, std::size_t bytes) {
  // A side that the smaller size of C clips leaves its memory to the larger size.
  const Index larger = std::max(call.m, call.n);
  const Index side = largest_side(0, larger, [&](Index x) { return blocks_of(call, x).bytes(call) <= bytes; });
  if (side < std::min(smallest_block, larger)) return {};
  StreamedBlocks blocks = blocks_of(call, side);
  blocks.m = evened(call.m, blocks.m);
  blocks.n = evened(call.n, blocks.n);
  return blocks;
}

} // namespace tessera::detail
