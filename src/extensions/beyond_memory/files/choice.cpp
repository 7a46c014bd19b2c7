/// Chooses the blocks of a product of files: of all that fit into the limit, the ones with which the product is
/// expected to end first.

#include <algorithm>
#include <limits>
#include <string>
#include <tuple>
#include <vector>

#include <tessera/status.hpp>

#include "core/gemm/block_sizes.hpp"
#include "plan.hpp"

namespace tessera::files {
namespace {

using tessera::detail::largest_side;

/// With smaller blocks, more time would go into calls than into products and reads.
constexpr Index smallest_block = 64;
/// The most rows of a strip, which is an eighth of a block, a quarter or a half. While strips go to the writer, a host
/// multiplies the first slice of the next block strip by strip, and packs B for each.
constexpr Index least_strip_rows = 16, most_of_an_eighth = 512, most_of_a_quarter = 1024, most_of_a_half = 2048;
/// C is cut into so many times as many columns of blocks as memory asks for, at most.
constexpr Index most_times_columns = 16;
/// The most k that are read at once.
constexpr Index most_segments = 16;
/// Kernels pack parts of this size or smaller, so that what they pack is small beside the blocks.
constexpr Index most_piece = 2048, least_piece = 64;

/// Bytes a second, roughly: of a disk, of reading files that the system keeps in its cache, and of allocating memory,
/// whose pages are cleared. Only their ratios to each other and to the rate of the product count, and little on that.
constexpr double disk_rate = 1e9, cache_rate = 8e9, allocation_rate = 4e9;
/// A disk reads and writes whole pages, and a run of elements in a file begins and ends within pages: it costs a page
/// more.
constexpr double bytes_of_a_page = 4096;
/// Packing B for so many rows takes a host as long as multiplying them.
constexpr double rows_for_packing = 300;
/// What is read again is hidden behind the product, but takes this part of its time from it, or more on slower disks.
constexpr double share_of_reading_again = 0.15;
/// What a block costs beside its bytes and operations: calls, and waiting for the disk before it is recorded.
constexpr double seconds_of_a_block = 0.01;

double real(Index x) { return static_cast<double>(x); }
double real(std::size_t x) { return static_cast<double>(x); }

/// Are elements with neighbouring k neighbours in the file?
bool a_along_k(const Sizes& sizes) { return sizes.op_a == Op::None; }
bool b_along_k(const Sizes& sizes) { return sizes.op_b == Op::Transpose; }

/// Returns the bytes of an operand whose size along m or n is `outer`.
double bytes_of(const Sizes& sizes, Index outer) {
  return real(outer) * real(sizes.shape.k) * real(size_of(sizes.type));
}

/// Returns the bytes that a disk reads beside an operand's own when it is read once: `outer` is its size along m or n,
/// `block` the part of it in a block.
double bytes_beside(const Sizes& sizes, bool along_k, Index outer, Index block, Index depth) {
  const bool whole_width = along_k ? depth >= sizes.shape.k : block >= outer;
  const Index parts_of_k = (sizes.shape.k + depth - 1) / depth, parts = (outer + block - 1) / block;
  const double runs = whole_width ? bytes_of(sizes, outer) / (1 << 20)
                      : along_k   ? real(outer) * real(parts_of_k)
                                  : real(sizes.shape.k) * real(parts);
  return runs * bytes_of_a_page;
}

/// Estimates the seconds of a product of files.
///
/// While a block is computed, the slices of the next steps are read, and the block before is written. What nothing
/// hides are the buffers' allocation, the first slices, the first block's product and the last block's way to the disk.
/// So many small blocks begin early to write and end soon after the last product; but each row of blocks reads all of B
/// again, and each column of blocks all of A. The system's cache has what is read again, where it has room for it.
double seconds_of(const Sizes& sizes, const FilePlan& plan) {
  const auto& grid = plan.grid;
  const double rows = real(grid.rows()), cols = real(grid.cols()), executors = sizes.executors();
  const double operand_a = bytes_of(sizes, grid.m), operand_b = bytes_of(sizes, grid.n);
  const double beside_a = bytes_beside(sizes, a_along_k(sizes), grid.m, grid.block_m, plan.depth_a);
  const double beside_b = bytes_beside(sizes, b_along_k(sizes), grid.n, grid.block_n, plan.depth_b);
  const double c = real(grid.m) * real(grid.n) * real(size_of(sizes.result));
  const double runs_of_c = grid.block_n < grid.n ? real(grid.m) * cols : 0;
  const double again = (cols - 1) * (operand_a + beside_a) + (rows - 1) * (operand_b + beside_b);
  const double from_disk = (sizes.files_stay_cached ? 0 : operand_a + operand_b + again) + beside_a + beside_b +
                           (sizes.reads_c ? c : 0) + c + runs_of_c * bytes_of_a_page;
  const double first_slices = real(plan.slice_a_bytes(sizes) + plan.slice_b_bytes(sizes));
  const double rounds = std::max(1.0, real((grid.count() + sizes.executors() - 1) / sizes.executors()));

  const double in_strips =
      grid.count() > 1 ? real(std::min(sizes.shape.k, sizes.segment)) / std::max(1.0, real(sizes.shape.k)) : 0;
  const double packing = sizes.on_host == 0
                             ? 0
                             : rows_for_packing * (in_strips / real(std::min(plan.strip_rows, plan.piece)) +
                                                   (1 - in_strips) / real(plan.piece));
  const double multiplying =
      real(grid.m) * real(grid.n) * real(sizes.shape.k) * (1 + packing) / (executors * sizes.multiply_adds_a_second);
  const double reading = (operand_a + operand_b + again) / cache_rate;
  const double disk = from_disk / disk_rate;
  const double disturbing = share_of_reading_again * again / (sizes.files_stay_cached ? cache_rate : disk_rate);
  const double alone = first_slices / cache_rate + real(plan.bytes(sizes)) / allocation_rate;
  return alone + std::max(multiplying, reading) / rounds +
         (rounds - 1) / rounds * std::max({multiplying, reading, disk}) + disk / rounds + rounds * seconds_of_a_block +
         disturbing;
}

/// Returns the depths to choose from.
std::vector<Index> depths(const Sizes& sizes, bool along_k) {
  const Index k = sizes.shape.k, least = std::min(std::max<Index>(k, 1), sizes.segment);
  std::vector<Index> all{least};
  for (Index segments = 2; along_k && segments <= most_segments && all.back() < k; segments *= 2)
    all.push_back(std::min(k, segments * sizes.segment));
  return all;
}

/// Returns the rows of a strip to choose from.
std::vector<Index> strips_of(const Sizes& sizes, Index block_m) {
  std::vector<Index> all{std::min(block_m, std::clamp(block_m / 8, least_strip_rows, most_of_an_eighth))};
  if (sizes.on_host > 0 && sizes.multiplies)
    for (const Index rows : {std::min(block_m / 4, most_of_a_quarter), std::min(block_m / 2, most_of_a_half)})
      if (rows > all.back()) all.push_back(rows);
  return all;
}

FilePlan plan_with(const Sizes& sizes, Index block_m, Index block_n, Index depth_a, Index depth_b, Index strip_rows,
                   Index piece) {
  return {{sizes.shape.m, sizes.shape.n, std::max<Index>(block_m, 1), std::max<Index>(block_n, 1)},
          depth_a,
          depth_b,
          strip_rows,
          piece};
}

/// Returns the largest piece whose packed operands take at most a quarter of the limit.
Index piece_for(const Sizes& sizes, std::size_t limit) {
  Index piece = most_piece;
  while (piece > least_piece &&
         plan_with(sizes, piece, piece, 1, 1, 1, piece).packed_bytes(sizes) * static_cast<std::size_t>(sizes.on_host) >
             limit / 4)
    piece /= 2;
  return piece;
}

/// The smallest blocks, which need least memory.
FilePlan smallest_plan(const Sizes& sizes) {
  const Index depth = depths(sizes, false).front();
  const auto least = [](Index size) { return std::clamp<Index>(size, 1, smallest_block); };
  const Index block_m = least(sizes.shape.m);
  return plan_with(sizes, block_m, least(sizes.shape.n), depth, depth, strips_of(sizes, block_m).front(), least_piece);
}

/// Calls visit(with) for all depths, strips and pieces to choose from; with(block_n) is the plan with such blocks.
template <class Visit>
void for_plans(const Sizes& sizes, Index block_m, Index largest_piece, Visit&& visit) {
  for (const Index depth_a : depths(sizes, a_along_k(sizes)))
    for (const Index depth_b : depths(sizes, b_along_k(sizes)))
      for (const Index strip_rows : strips_of(sizes, block_m))
        for (Index piece = largest_piece; piece >= least_piece; piece /= 2) {
          visit([&](Index block_n) { return plan_with(sizes, block_m, block_n, depth_a, depth_b, strip_rows, piece); });
          if (sizes.on_host == 0) break; // only hosts compute in pieces
        }
}

} // namespace

FilePlan plan_of_blocks(const Sizes& sizes, Index block_m, Index block_n, std::size_t limit) {
  const Index depth = depths(sizes, false).front();
  FilePlan best = plan_with(sizes, block_m, block_n, depth, depth, strips_of(sizes, block_m).front(), least_piece);
  double least = std::numeric_limits<double>::infinity();
  for_plans(sizes, block_m, piece_for(sizes, limit), [&](const auto& with) {
    const FilePlan plan = with(block_n);
    const double seconds = seconds_of(sizes, plan);
    if (plan.bytes(sizes) > limit || seconds >= least) return;
    best = plan;
    least = seconds;
  });
  return best;
}

FilePlan choose_plan(const Sizes& sizes, std::size_t limit) {
  const Index m = std::max<Index>(sizes.shape.m, 1), n = std::max<Index>(sizes.shape.n, 1);
  const Index most_m = sizes.most_m > 0 ? std::min(m, sizes.most_m) : m;
  const Index most_n = sizes.most_n > 0 ? std::min(n, sizes.most_n) : n;
  const Index least_m = std::min(most_m, smallest_block), least_n = std::min(most_n, smallest_block);
  // Several executors have blocks enough to end at about the same time.
  const Index enough = sizes.executors() > 1 ? 2 * sizes.executors() : 1;
  FilePlan best;
  std::tuple<bool, double> least{true, std::numeric_limits<double>::infinity()};
  const auto consider = [&](const FilePlan& plan) {
    const std::tuple rank{plan.grid.count() < enough, seconds_of(sizes, plan)};
    if (!(rank < least)) return;
    least = rank;
    best = plan;
  };
  for (Index parts = 1, block_m = m + 1; block_m > least_m; parts = std::max(parts + 1, parts + parts / 16)) {
    block_m = std::max(least_m, (m + parts - 1) / parts);
    if (block_m > most_m) continue;
    for_plans(sizes, block_m, piece_for(sizes, limit), [&](const auto& with) {
      const Index block_n =
          largest_side(0, most_n, [&](Index side) { return with(std::max<Index>(side, 1)).bytes(sizes) <= limit; });
      if (block_n < least_n) return;
      const Index fewest = std::max((n + block_n - 1) / block_n, (enough + parts - 1) / parts);
      for (Index columns = fewest; columns <= most_times_columns * fewest; columns *= 2)
        consider(with(std::max(least_n, (n + columns - 1) / columns)));
    });
  }
  if (best.piece == 0)
    throw OutOfMemory("memory_limit = " + std::to_string(limit) + " bytes is too small for a product of files of " +
                      std::to_string(sizes.shape.m) + "×" + std::to_string(sizes.shape.n) + "×" +
                      std::to_string(sizes.shape.k) + " " + std::string(to_string(sizes.type)) +
                      (sizes.segment != canonical_segment
                           ? " in a mode that keeps its bits in slices of " + std::to_string(sizes.segment) + " k"
                           : "") +
                      "; the smallest limit that would do is " + std::to_string(smallest_plan(sizes).bytes(sizes)) +
                      " bytes");
  return best;
}

} // namespace tessera::files
