#include "plan.hpp"

#include <algorithm>

#include "core/base/host_memory.hpp"

namespace tessera::files {
namespace {

/// Slices of A and B that an executor has: one is multiplied, one is read.
constexpr std::size_t slices = 2;
/// Strips of sums that an executor has: one is written, one is filled.
constexpr std::size_t strips = 2;

std::size_t rectangle_bytes(Index rows, Index cols, DType type) {
  return allocated_host_bytes(static_cast<std::size_t>(rows * cols) * size_of(type));
}

std::size_t slice_bytes(Index rows, Index cols, DType type) {
  return rectangle_bytes(rows, slice_ld(cols, type), type);
}

} // namespace

Index slice_ld(Index cols, DType type) {
  const auto element = static_cast<Index>(size_of(type));
  const Index line = 64 / element;
  const Index ld = (std::max<Index>(cols, 1) + line - 1) / line * line;
  return ld * element % 4096 == 0 ? ld + line : ld;
}

std::size_t FilePlan::slice_a_bytes(const Sizes& sizes) const {
  return sizes.op_a == Op::None ? slice_bytes(grid.block_m, depth_a, sizes.type)
                                : slice_bytes(depth_a, grid.block_m, sizes.type);
}
std::size_t FilePlan::slice_b_bytes(const Sizes& sizes) const {
  return sizes.op_b == Op::None ? slice_bytes(depth_b, grid.block_n, sizes.type)
                                : slice_bytes(grid.block_n, depth_b, sizes.type);
}
std::size_t FilePlan::sums_bytes(const Sizes& sizes) const {
  return slice_bytes(grid.block_m, grid.block_n, sizes.sums());
}
std::size_t FilePlan::strip_bytes(const Sizes& sizes) const {
  return rectangle_bytes(strip_rows, grid.block_n, sizes.sums());
}
std::size_t FilePlan::old_bytes(const Sizes& sizes) const {
  return sizes.reads_c ? rectangle_bytes(strip_rows, grid.block_n, sizes.result) : 0;
}
std::size_t FilePlan::straight_bytes(const Sizes& sizes) const { return sizes.c_in_columns ? old_bytes(sizes) : 0; }
std::size_t FilePlan::wide_bytes(const Sizes& sizes) const {
  return sizes.reads_c && sizes.result != sizes.sums() ? strip_bytes(sizes) : 0;
}
std::size_t FilePlan::result_bytes(const Sizes& sizes) const {
  return sizes.result != sizes.sums() ? rectangle_bytes(strip_rows, grid.block_n, sizes.result) : 0;
}

/// A kernel packs A and B of a piece, and a second part of each ahead. 16-bit operands are widened first. Kernels keep
/// both on huge pages, from 2 MiB on.
std::size_t FilePlan::packed_bytes(const Sizes& sizes) const {
  const Index sides = std::min(piece, grid.block_m) + std::min(piece, grid.block_n) + 64; // tiles are rounded up
  const Index depth = std::min(std::max<Index>(sizes.shape.k, 1), canonical_segment) + 16;
  const std::size_t operands = static_cast<std::size_t>(sides * depth) * size_of(sizes.sums());
  const auto kept = [](std::size_t bytes) {
    constexpr std::size_t huge_page = std::size_t{2} << 20;
    return bytes >= huge_page ? (bytes + huge_page - 1) / huge_page * huge_page : allocated_host_bytes(bytes);
  };
  return kept(2 * operands) + (is_16_bit(sizes.type) ? kept(operands) : 0);
}

/// Each executor has a thread, and threads that read for it; the writer is one more.
std::size_t FilePlan::thread_bytes(const Sizes& sizes) const {
  constexpr std::size_t of_a_thread = std::size_t{48} << 10;
  return of_a_thread * static_cast<std::size_t>(1 + sizes.executors() * (1 + sizes.reading_threads()));
}

std::size_t FilePlan::bytes(const Sizes& sizes) const {
  const auto on_host = static_cast<std::size_t>(sizes.on_host), executors = static_cast<std::size_t>(sizes.executors());
  const std::size_t writer = old_bytes(sizes) + straight_bytes(sizes) + wide_bytes(sizes) + result_bytes(sizes);
  if (!sizes.multiplies) return strips * strip_bytes(sizes) + writer + thread_bytes(sizes);
  return thread_bytes(sizes) +
         executors * (slices * (slice_a_bytes(sizes) + slice_b_bytes(sizes)) + strips * strip_bytes(sizes)) +
         on_host * (sums_bytes(sizes) + packed_bytes(sizes)) + writer;
}

std::uint64_t bytes_to_read(const Sizes& sizes, const tessera::detail::BlockGrid& grid, const std::vector<bool>& done) {
  std::uint64_t bytes = 0;
  for (Index number = 0; number < grid.count(); ++number) {
    if (done[static_cast<std::size_t>(number)]) continue;
    const tessera::detail::BlockOfC block = grid.at(number);
    if (sizes.multiplies)
      bytes += static_cast<std::uint64_t>((block.rows + block.cols) * sizes.shape.k) * size_of(sizes.type);
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

} // namespace tessera::files
