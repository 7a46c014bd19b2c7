/// Chooses the sizes of the blocks of a streamed product.

#include <algorithm>

#include "core/gemm/block_sizes.hpp"
#include "streamed_gemm.hpp"

namespace tessera::detail {
namespace {

/// A GPU's engine copies rows of this length, or longer ones, as fast as it can.
constexpr Index bytes_of_a_long_row = 32 << 10;
/// With smaller blocks the device would wait for copies of short rows.
constexpr Index smallest_block = 64;

DeviceRectangle stored(Index rows, Index cols, Op op, DType type) {
  return op == Op::None ? DeviceRectangle{rows, cols, size_of(type)} : DeviceRectangle{cols, rows, size_of(type)};
}

StreamedBlocks blocks_of(const GemmCall& call, Index side, Index depth) {
  return {std::min(side, call.m), std::min(side, call.n), std::min(call.k, depth)};
}

/// What a GPU does in a second, roughly: choices depend on the ratios alone, and little on these.
double multiply_adds_a_second(Math math) { return math == Math::Strict ? 25e12 : 200e12; }

/// The GPUs of a host share the bandwidth of its memory. Rows of less than 32 KiB are copied at some 30 GB/s, where
/// the system's memory is scattered; longer ones faster.
double bytes_a_second(Index gpus) {
  constexpr double of_a_gpu = 30e9, of_a_host = 100e9;
  return std::min(of_a_gpu, of_a_host / static_cast<double>(gpus));
}

double real(Index x) { return static_cast<double>(x); }

/// Returns the bytes of A and B that a GPU copies from the host for each of the k of a block.
double bytes_of_a_k(const GemmCall& call, const BlockGrid& grid, const Sharing& sharing) {
  double rows = real(grid.block_m), cols = real(grid.block_n);
  if (sharing.exchanged) (sharing.of_a ? rows : cols) /= real(sharing.devices);
  return (rows + cols) * static_cast<double>(size_of(call.type));
}

/// Estimates the seconds in which each of the devices computes its part of `grid`: copies run beside the products, but
/// for the first slices and the last rows. Also beside products they cost something: memory's bandwidth, and the wait
/// where they are slower than was thought.
double seconds_of(const GemmCall& call, const BlockGrid& grid, const Sharing& sharing, Index first_k) {
  constexpr double last_results = 8 << 20, cost_of_hidden_copies = 0.1;
  const double m = real(grid.block_m), n = real(grid.block_n), k = real(call.k);
  const double rate = bytes_a_second(sharing.devices), result = static_cast<double>(size_of(call.result));
  const double computing = m * n * k / multiply_adds_a_second(call.math);
  const double in = bytes_of_a_k(call, grid, sharing) * k + (call.beta == 0.0 ? 0 : m * n * result);
  const double copying = std::max(in, m * n * result) / rate;
  const Index together = sharing.exchanged ? 1 : sharing.devices;
  const double rounds = real((grid.count() + together - 1) / together);
  const double alone =
      bytes_of_a_k(call, grid, sharing) * std::min(k, real(first_k)) + std::min(m * n, last_results) * result;
  return rounds * (std::max(computing, copying) + cost_of_hidden_copies * copying) + alone / rate;
}

} // namespace

double multiply_adds_a_second(const Executor& executor, const GemmCall& call) {
  constexpr double of_a_thread = 50e9; // in f32
  const Capabilities& machine = executor.capabilities();
  if (!machine.host_memory) return multiply_adds_a_second(call.math);
  const int threads = call.threads > 0 ? call.threads : machine.threads;
  return threads * of_a_thread * 4 / static_cast<double>(size_of(scalar_of(call.type)));
}

SliceDepths depths_of(const GemmCall& call, const StreamedBlocks& blocks, const Sharing& sharing) {
  const double rate = bytes_a_second(sharing.devices), speed = multiply_adds_a_second(call.math);
  const double copying = bytes_of_a_k(call, blocks.grid(call), sharing) / rate;
  const double computing = real(blocks.m) * real(blocks.n) / speed;
  const double as_long_as_c = speed * static_cast<double>(size_of(call.result)) / rate;
  return {.first = std::min(canonical_segment, blocks.k),
          .later = std::min(2 * canonical_segment, blocks.k),
          .most = blocks.k,
          .last = static_cast<Index>(as_long_as_c),
          .growth = std::max(1.0, computing / copying)};
}

BlockGrid share_out(const GemmCall& call, const BlockGrid& coarsest, const Sharing& sharing, Index first_k) {
  constexpr Index most = 16; // cuts of a side; with more the copies of operands take too long
  if (coarsest.count() == 0) return coarsest;
  BlockGrid best = coarsest;
  double least = seconds_of(call, best, sharing, first_k);
  const Index rows = best.rows(), cols = best.cols();
  for (Index r = rows; r <= std::max(rows, std::min(most, call.m / smallest_block)); ++r)
    for (Index c = cols; c <= std::max(cols, std::min(most, call.n / smallest_block)); ++c) {
      const BlockGrid grid{call.m, call.n, evened(call.m, (call.m + r - 1) / r), evened(call.n, (call.n + c - 1) / c)};
      if (const double seconds = seconds_of(call, grid, sharing, first_k); seconds < least) {
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
  // The strict segments of a slice are added to C one after the other.
  const Index aside = call.math == Math::Strict ? 0 : (k + canonical_segment - 1) / canonical_segment;
  const std::size_t widened = 2 * size_of(scalar_of(call.type)) / size_of(call.type);
  return static_cast<std::size_t>(multiprocessors) * each + static_cast<std::size_t>(aside) * sums(call).bytes() +
         widened * (a(call).bytes() + b(call).bytes());
}

StreamedBlocks deepened(const GemmCall& call, StreamedBlocks blocks, std::size_t bytes, int multiprocessors) {
  const Index deepest = std::min(call.k, bytes_of_a_long_row / static_cast<Index>(size_of(call.type)));
  while (blocks.k < deepest) {
    const StreamedBlocks next{blocks.m, blocks.n, std::min(deepest, 2 * blocks.k)};
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
