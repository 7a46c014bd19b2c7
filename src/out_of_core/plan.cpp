#include "plan.hpp"

#include <algorithm>
#include <limits>
#include <string>
#include <tuple>

#include <tessera/status.hpp>

#include "gemm/block_sizes.hpp"
#include "matrix/host_memory.hpp"

namespace tessera::out_of_core {
namespace {

using tessera::detail::largest_side;

/// With smaller blocks, more time would go into calls than into products and reads.
constexpr Index smallest_block = 64;
/// Slices of A and B that an executor has: one is multiplied, one is read.
constexpr std::size_t slices = 2;
/// Strips of sums that an executor has: one is written, one is filled.
constexpr std::size_t strips = 2;
/// Rows of a strip. While they go to the writer, the first slice of the next block is multiplied strip by strip, which
/// packs B once for each strip.
constexpr Index most_strip_rows = 512, least_strip_rows = 16;
/// A disk reads whole pages, and a run of elements in a file begins and ends within pages: it costs a page more.
constexpr double bytes_of_a_page = 4096;
/// The most k that are read at once.
constexpr Index most_segments = 16;
/// Kernels pack parts of this size or smaller, so that what they pack is small beside the blocks.
constexpr Index most_piece = 2048, least_piece = 64;

std::size_t rectangle_bytes(Index rows, Index cols, DType type) {
  return allocated_host_bytes(static_cast<std::size_t>(rows * cols) * size_of(type));
}

std::size_t slice_bytes(Index rows, Index cols, DType type) {
  return rectangle_bytes(rows, slice_ld(cols, type), type);
}

/// Are elements with neighbouring k neighbours in the file?
bool a_along_k(const Sizes& sizes) { return sizes.op_a == Op::None; }
bool b_along_k(const Sizes& sizes) { return sizes.op_b == Op::Transpose; }

/// Returns what reading one operand costs: `outer` is its size along m or n, `block` the part of it in a block, and it
/// is read `times` times.
double cost_of(bool along_k, Index outer, Index block, Index k, Index depth, Index times, DType type) {
  const auto bytes = static_cast<double>(outer) * static_cast<double>(k) * static_cast<double>(size_of(type));
  const bool whole_width = along_k ? depth >= k : block >= outer;
  const Index parts_of_k = (k + depth - 1) / depth, parts = (outer + block - 1) / block;
  const double runs = whole_width ? bytes / (1 << 20)
                      : along_k   ? static_cast<double>(outer) * static_cast<double>(parts_of_k)
                                  : static_cast<double>(k) * static_cast<double>(parts);
  return static_cast<double>(times) * (bytes + runs * bytes_of_a_page);
}

double cost_of(const Sizes& sizes, const Plan& plan) {
  const auto& grid = plan.grid;
  return cost_of(a_along_k(sizes), grid.m, grid.block_m, sizes.k, plan.depth_a, grid.cols(), sizes.type) +
         cost_of(b_along_k(sizes), grid.n, grid.block_n, sizes.k, plan.depth_b, grid.rows(), sizes.type);
}

/// Returns the depths to choose from.
std::vector<Index> depths(const Sizes& sizes, bool along_k) {
  const Index k = sizes.k, least = std::min(std::max<Index>(k, 1), sizes.segment);
  std::vector<Index> all{least};
  for (Index segments = 2; along_k && segments <= most_segments && all.back() < k; segments *= 2)
    all.push_back(std::min(k, segments * sizes.segment));
  return all;
}

Plan plan_with(const Sizes& sizes, Index block_m, Index block_n, Index depth_a, Index depth_b, Index piece) {
  return {{sizes.m, sizes.n, std::max<Index>(block_m, 1), std::max<Index>(block_n, 1)},
          depth_a,
          depth_b,
          std::min(block_m, std::clamp(block_m / 8, least_strip_rows, most_strip_rows)),
          piece};
}

/// Returns the largest piece whose packed operands take at most a quarter of the limit.
Index piece_for(const Sizes& sizes, std::size_t limit) {
  Index piece = most_piece;
  while (piece > least_piece &&
         plan_with(sizes, piece, piece, 1, 1, piece).packed_bytes(sizes) * static_cast<std::size_t>(sizes.on_host) >
             limit / 4)
    piece /= 2;
  return piece;
}

/// The smallest blocks, which need least memory.
Plan smallest_plan(const Sizes& sizes) {
  const Index depth = depths(sizes, false).front();
  const auto least = [](Index size) { return std::clamp<Index>(size, 1, smallest_block); };
  return plan_with(sizes, least(sizes.m), least(sizes.n), depth, depth, least_piece);
}

} // namespace

Index slice_ld(Index cols, DType type) {
  const auto element = static_cast<Index>(size_of(type));
  const Index line = 64 / element;
  const Index ld = (std::max<Index>(cols, 1) + line - 1) / line * line;
  return ld * element % 4096 == 0 ? ld + line : ld;
}

std::size_t Plan::slice_a_bytes(const Sizes& sizes) const {
  return sizes.op_a == Op::None ? slice_bytes(grid.block_m, depth_a, sizes.type)
                                : slice_bytes(depth_a, grid.block_m, sizes.type);
}
std::size_t Plan::slice_b_bytes(const Sizes& sizes) const {
  return sizes.op_b == Op::None ? slice_bytes(depth_b, grid.block_n, sizes.type)
                                : slice_bytes(grid.block_n, depth_b, sizes.type);
}
std::size_t Plan::sums_bytes(const Sizes& sizes) const { return slice_bytes(grid.block_m, grid.block_n, sizes.sums()); }
std::size_t Plan::strip_bytes(const Sizes& sizes) const {
  return rectangle_bytes(strip_rows, grid.block_n, sizes.sums());
}
std::size_t Plan::old_bytes(const Sizes& sizes) const {
  return sizes.reads_c ? rectangle_bytes(strip_rows, grid.block_n, sizes.result) : 0;
}
std::size_t Plan::straight_bytes(const Sizes& sizes) const { return sizes.c_in_columns ? old_bytes(sizes) : 0; }
std::size_t Plan::wide_bytes(const Sizes& sizes) const {
  return sizes.reads_c && sizes.result != sizes.sums() ? strip_bytes(sizes) : 0;
}
std::size_t Plan::result_bytes(const Sizes& sizes) const {
  return sizes.result != sizes.sums() ? rectangle_bytes(strip_rows, grid.block_n, sizes.result) : 0;
}

/// A kernel packs A and B of a piece, and a second part of each ahead. 16-bit operands are widened first. Kernels keep
/// both on huge pages, from 2 MiB on.
std::size_t Plan::packed_bytes(const Sizes& sizes) const {
  const Index sides = std::min(piece, grid.block_m) + std::min(piece, grid.block_n) + 64; // tiles are rounded up
  const Index depth = std::min(std::max<Index>(sizes.k, 1), canonical_segment) + 16;
  const std::size_t operands = static_cast<std::size_t>(sides * depth) * size_of(sizes.sums());
  const auto kept = [](std::size_t bytes) {
    constexpr std::size_t huge_page = std::size_t{2} << 20;
    return bytes >= huge_page ? (bytes + huge_page - 1) / huge_page * huge_page : allocated_host_bytes(bytes);
  };
  return kept(2 * operands) + (is_16_bit(sizes.type) ? kept(operands) : 0);
}

/// Each executor has a thread, and threads that read for it; the writer is one more.
std::size_t Plan::thread_bytes(const Sizes& sizes) const {
  constexpr std::size_t of_a_thread = std::size_t{48} << 10;
  return of_a_thread * static_cast<std::size_t>(1 + sizes.executors() * (1 + sizes.reading_threads()));
}

std::size_t Plan::bytes(const Sizes& sizes) const {
  const auto on_host = static_cast<std::size_t>(sizes.on_host), executors = static_cast<std::size_t>(sizes.executors());
  const std::size_t writer = old_bytes(sizes) + straight_bytes(sizes) + wide_bytes(sizes) + result_bytes(sizes);
  if (!sizes.multiplies) return strips * strip_bytes(sizes) + writer + thread_bytes(sizes);
  return thread_bytes(sizes) +
         executors * (slices * (slice_a_bytes(sizes) + slice_b_bytes(sizes)) + strips * strip_bytes(sizes)) +
         on_host * (sums_bytes(sizes) + packed_bytes(sizes)) + writer;
}

Plan plan_of_blocks(const Sizes& sizes, Index block_m, Index block_n, std::size_t limit) {
  Plan best;
  double least = std::numeric_limits<double>::infinity();
  for (Index piece = piece_for(sizes, limit);; piece /= 2) {
    for (const Index depth_a : depths(sizes, a_along_k(sizes)))
      for (const Index depth_b : depths(sizes, b_along_k(sizes))) {
        const Plan plan = plan_with(sizes, block_m, block_n, depth_a, depth_b, piece);
        const double cost = cost_of(sizes, plan);
        if (best.piece != 0 && (plan.bytes(sizes) > limit || cost >= least)) continue;
        best = plan;
        least = plan.bytes(sizes) <= limit ? cost : std::numeric_limits<double>::infinity();
      }
    if (best.bytes(sizes) <= limit) return best;
    if (piece <= least_piece)
      return plan_with(sizes, block_m, block_n, depths(sizes, false).front(), depths(sizes, false).front(), piece);
  }
}

Plan choose_plan(const Sizes& sizes, std::size_t limit) {
  const Index m = std::max<Index>(sizes.m, 1), n = std::max<Index>(sizes.n, 1);
  const Index most_m = sizes.most_m > 0 ? std::min(m, sizes.most_m) : m;
  const Index most_n = sizes.most_n > 0 ? std::min(n, sizes.most_n) : n;
  const Index least_m = std::min(most_m, smallest_block), least_n = std::min(most_n, smallest_block);
  // Several executors have blocks enough to end at about the same time.
  const Index enough = sizes.executors() > 1 ? 2 * sizes.executors() : 1;
  Plan best;
  std::tuple<bool, double> least{true, std::numeric_limits<double>::infinity()};
  for (Index piece = piece_for(sizes, limit); best.piece == 0; piece /= 2) {
    for (const Index depth_a : depths(sizes, a_along_k(sizes)))
      for (const Index depth_b : depths(sizes, b_along_k(sizes)))
        for (Index parts = 1, block_m = m + 1; block_m > least_m; parts = std::max(parts + 1, parts + parts / 16)) {
          block_m = std::max(least_m, (m + parts - 1) / parts);
          if (block_m > most_m) continue;
          const auto with = [&](Index block_n) { return plan_with(sizes, block_m, block_n, depth_a, depth_b, piece); };
          Index block_n =
              largest_side(0, most_n, [&](Index side) { return with(std::max<Index>(side, 1)).bytes(sizes) <= limit; });
          if (block_n < least_n) continue;
          const Index columns = std::max((n + block_n - 1) / block_n, (enough + parts - 1) / parts);
          block_n = std::max(least_n, (n + columns - 1) / columns);
          const Plan plan = with(block_n);
          const std::tuple rank{plan.grid.count() < enough, cost_of(sizes, plan)};
          if (rank < least) {
            least = rank;
            best = plan;
          }
        }
    if (piece <= least_piece) break;
  }
  if (best.piece == 0)
    throw OutOfMemory("memory_limit = " + std::to_string(limit) + " bytes is too small for a product of files of " +
                      std::to_string(sizes.m) + "×" + std::to_string(sizes.n) + "×" + std::to_string(sizes.k) + " " +
                      std::string(to_string(sizes.type)) +
                      (sizes.segment != canonical_segment
                           ? " in a mode that keeps its bits in slices of " + std::to_string(sizes.segment) + " k"
                           : "") +
                      "; the smallest limit that would do is " + std::to_string(smallest_plan(sizes).bytes(sizes)) +
                      " bytes");
  return best;
}

std::uint64_t bytes_to_read(const Sizes& sizes, const tessera::detail::BlockGrid& grid, const std::vector<bool>& done) {
  std::uint64_t bytes = 0;
  for (Index number = 0; number < grid.count(); ++number) {
    if (done[static_cast<std::size_t>(number)]) continue;
    const tessera::detail::BlockOfC block = grid.at(number);
    if (sizes.multiplies)
      bytes += static_cast<std::uint64_t>((block.rows + block.cols) * sizes.k) * size_of(sizes.type);
    if (sizes.reads_c) bytes += static_cast<std::uint64_t>(block.rows * block.cols) * size_of(sizes.result);
  }
  return bytes;
}

std::uint64_t bytes_to_write(const Sizes& sizes, const tessera::detail::BlockGrid& grid,
                             const std::vector<bool>& done) {
  std::uint64_t bytes = 0;
  for (Index number = 0; number < grid.count(); ++number) {
    const tessera::detail::BlockOfC block = grid.at(number);
    if (!done[static_cast<std::size_t>(number)])
      bytes += static_cast<std::uint64_t>(block.rows * block.cols) * size_of(sizes.result);
  }
  return bytes;
}

} // namespace tessera::out_of_core
