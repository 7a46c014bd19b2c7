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

StreamedBlocks blocks_of(const GemmCall& call, Index side, Index depth) {
  return {std::min(side, call.m), std::min(side, call.n), std::min(call.k, depth)};
}

/// What a card does in a second, roughly: the choice of blocks depends on the ratio of these alone, and little on that.
constexpr double bytes_a_second = 38e9;
double multiply_adds_a_second(Math math) { return math == Math::Strict ? 25e12 : 200e12; }

/// Estimates the seconds in which each of `executors` cards computes its part of `grid`: copies run beside the
/// products, but for the first slices and the last block.
double seconds_of(const GemmCall& call, const BlockGrid& grid, Index executors) {
  const auto real = [](Index x) { return static_cast<double>(x); };
  const double element = static_cast<double>(size_of(call.type)), result = static_cast<double>(size_of(call.result));
  const double m = real(grid.block_m), n = real(grid.block_n), k = real(call.k);
  const double c = m * n * result * (call.beta == 0.0 ? 1 : 2);
  const double computing = m * n * k / multiply_adds_a_second(call.math);
  const double copying = ((m + n) * k * element + c) / bytes_a_second;
  const double rounds = real((grid.count() + executors - 1) / executors);
  const double alone = ((m + n) * std::min(k, real(canonical_segment)) * element + m * n * result) / bytes_a_second;
  return rounds * std::max(computing, copying) + alone;
}

} // namespace

double multiply_adds_a_second(const Executor& executor, const GemmCall& call) {
  constexpr double of_a_thread = 50e9; // in f32
  const Capabilities& machine = executor.capabilities();
  if (!machine.host_memory) return multiply_adds_a_second(call.math);
  const int threads = call.threads > 0 ? call.threads : machine.threads;
  return threads * of_a_thread * 4 / static_cast<double>(size_of(scalar_of(call.type)));
}

BlockGrid share_out(const GemmCall& call, const BlockGrid& coarsest, Index executors) {
  constexpr Index most = 16; // cuts of a side; with more the copies of operands take too long
  if (coarsest.count() == 0) return coarsest;
  BlockGrid best = coarsest;
  double least = seconds_of(call, best, executors);
  const Index rows = best.rows(), cols = best.cols();
  for (Index r = rows; r <= std::max(rows, std::min(most, call.m / smallest_block)); ++r)
    for (Index c = cols; c <= std::max(cols, std::min(most, call.n / smallest_block)); ++c) {
      const BlockGrid grid{call.m, call.n, evened(call.m, (call.m + r - 1) / r), evened(call.n, (call.n + c - 1) / c)};
      if (const double seconds = seconds_of(call, grid, executors); seconds < least) {
        least = seconds;
        best = grid;
      }
    }
  return best;
}

DeviceRectangle StreamedBlocks::a(const GemmCall& call) const { return stored(m, k, call.op_a, call.type); }
DeviceRectangle StreamedBlocks::b(const GemmCall& call) const { return stored(k, n, call.op_b, call.type); }
DeviceRectangle StreamedBlocks::c(const GemmCall& call) const { return stored(m, n, Op::None, call.result); }
DeviceRectangle StreamedBlocks::sums(const GemmCall& call) const {
  return stored(m, n, Op::None, scalar_of(call.type));
}
bool StreamedBlocks::keeps_sums(const GemmCall& call) const {
  return call.k > canonical_segment && call.alpha != 0.0 &&
         (call.alpha != 1.0 || call.beta != 0.0 || call.result != scalar_of(call.type));
}
std::size_t StreamedBlocks::bytes(const GemmCall& call) const {
  const bool copies_c = keeps_sums(call) && call.beta != 0.0 && call.result != scalar_of(call.type);
  return 2 * (a(call).bytes() + b(call).bytes() + c(call).bytes()) + (keeps_sums(call) ? sums(call).bytes() : 0) +
         (copies_c ? sums(call).bytes() : 0);
}
std::size_t StreamedBlocks::kernels_bytes(const GemmCall& call, int multiprocessors) const {
  constexpr std::size_t each = std::size_t{512} << 10; // sums that a multiprocessor hands on, or keeps aside
  const auto segments = static_cast<std::size_t>((k + canonical_segment - 1) / canonical_segment);
  const std::size_t widened = 2 * size_of(scalar_of(call.type)) / size_of(call.type);
  return static_cast<std::size_t>(multiprocessors) * each + segments * sums(call).bytes() +
         widened * (a(call).bytes() + b(call).bytes());
}

StreamedBlocks deepened(const GemmCall& call, StreamedBlocks blocks, std::size_t bytes, int multiprocessors) {
  while (blocks.k < call.k) {
    const StreamedBlocks next{blocks.m, blocks.n, std::min(call.k, 2 * blocks.k)};
    if (next.bytes(call) + next.kernels_bytes(call, multiprocessors) > bytes) break;
    blocks = next;
  }
  return blocks;
}

StreamedBlocks choose_blocks(const GemmCall& call, std::size_t bytes, Index depth) {
  // A side that the smaller size of C clips leaves its memory to the larger size.
  const Index larger = std::max(call.m, call.n);
  const Index side = largest_side(0, larger, [&](Index x) { return blocks_of(call, x, depth).bytes(call) <= bytes; });
  if (side < std::min(smallest_block, larger)) return {};
  StreamedBlocks blocks = blocks_of(call, side, depth);
  blocks.m = evened(call.m, blocks.m);
  blocks.n = evened(call.n, blocks.n);
  return blocks;
}

} // namespace tessera::detail
