#pragma once

/// Counts of work for the rungs whose loads tile_traffic() does not describe.
///
/// A warp's 32 loads in one step are counted as the 32-byte sectors that they touch: one sector where all lanes load
/// one element, adjacent sectors where lanes load neighbours, and a sector for each lane where they load elements of
/// different rows. Source: CUDA C++ Best Practices Guide, "Coalesced Access to Global Memory".

#include <tessera/backend/traffic.hpp>

namespace tessera::cuda {

inline constexpr double warp_lanes = 32;
inline constexpr double sector_bytes = 32;

/// Describes what the lanes of a warp access in one step.
enum class Lanes { OneElement, Neighbours, DifferentRows };

/// Bytes that one access of one lane moves: its share of the warp's sectors.
inline double lane_bytes(Lanes lanes, std::size_t element) noexcept {
  if (lanes == Lanes::OneElement) return sector_bytes / warp_lanes;
  return lanes == Lanes::Neighbours ? static_cast<double>(element) : sector_bytes;
}

/// The count of a kernel with a thread for each result, which loads k elements of A and k of B: 2·m·n·k loads. `a`, `b`
/// and `c` say what the lanes of a warp access in each matrix.
inline GemmTraffic thread_traffic(const GemmCall& call, Lanes a, Lanes b, Lanes c) noexcept {
  const double products = GemmSizes(call).a * static_cast<double>(call.n);
  const double result = result_accesses(call);
  return {product_operations(call), 2 * products + result,
          products * (lane_bytes(a, size_of(call.type)) + lane_bytes(b, size_of(call.type))) +
              result * lane_bytes(c, size_of(call.result))};
}

/// thread_traffic() where a warp computes neighbours in a row of C: coalesced unless B is transposed.
inline GemmTraffic coalesced_traffic(const GemmKernel&, const GemmCall& call) noexcept {
  return thread_traffic(call, Lanes::OneElement, call.op_b == Op::None ? Lanes::Neighbours : Lanes::DifferentRows,
                        Lanes::Neighbours);
}

/// thread_traffic() where a warp computes neighbours in a column of C: not coalesced unless A is transposed.
inline GemmTraffic strided_traffic(const GemmKernel&, const GemmCall& call) noexcept {
  return thread_traffic(call, call.op_a == Op::None ? Lanes::DifferentRows : Lanes::Neighbours, Lanes::OneElement,
                        Lanes::DifferentRows);
}

/// thread_traffic() where a warp walks down 32 rows of Bᵀ, after a transpose of B unless it is stored that way.
inline GemmTraffic transposed_b_traffic(const GemmKernel&, const GemmCall& call) noexcept {
  const GemmTraffic walk = thread_traffic(call, Lanes::OneElement, Lanes::DifferentRows, Lanes::Neighbours);
  return call.op_b == Op::None ? with_copies(walk, call, GemmSizes(call).b) : walk;
}

/// The count of a block for each row of C, with `part` elements of the row of A in shared memory at once: B is loaded
/// m times; A is loaded once, or once for each kernel.tile.n columns of C where its row does not fit.
inline GemmTraffic row_traffic(const GemmKernel& kernel, const GemmCall& call, Index part) noexcept {
  const GemmSizes sizes(call);
  const double a = sizes.a * (call.k > part ? passes(call.n, kernel.tile.n) : 1);
  const double b = sizes.b * static_cast<double>(call.m);
  const double result = result_accesses(call);
  const auto bytes = [&](Op op) {
    return lane_bytes(op == Op::None ? Lanes::Neighbours : Lanes::DifferentRows, size_of(call.type));
  };
  return {product_operations(call), a + b + result,
          a * bytes(call.op_a) + b * bytes(call.op_b) + result * static_cast<double>(size_of(call.result))};
}

/// tile_traffic() on copies of A and B that are padded to whole tiles: the padding is stored and loaded as well.
inline GemmTraffic padded_traffic(const GemmKernel& kernel, const GemmCall& call) noexcept {
  const auto whole = [](Index extent, int tile) { return (extent + tile - 1) / tile * tile; };
  GemmCall padded = call;
  padded.m = whole(call.m, kernel.tile.m);
  padded.n = whole(call.n, kernel.tile.n);
  padded.k = whole(call.k, kernel.tile.k);
  const GemmSizes from(call), to(padded);
  const double loads = to.a * passes(call.n, kernel.tile.n) + to.b * passes(call.m, kernel.tile.m);
  const double elements = from.a + from.b + to.a + to.b + loads;
  const double result = result_accesses(call);
  return {product_operations(call), elements + result,
          elements * static_cast<double>(size_of(call.type)) + result * static_cast<double>(size_of(call.result))};
}

/// tile_traffic() of a kernel that stores a sum for each result and segment of k, and loads these sums to add them.
inline GemmTraffic segments_traffic(const GemmKernel& kernel, const GemmCall& call) noexcept {
  return with_copies(tile_traffic(kernel, call), call, GemmSizes(call).c * passes(call.k, canonical_segment));
}

} // namespace tessera::cuda
