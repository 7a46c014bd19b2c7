#pragma once

/// Counts of operations, memory accesses and bytes for GemmKernel::traffic.
///
/// The counts follow the usual textbook analysis: a kernel whose block computes m×n results loads m elements of A and n
/// of B for each step of k, so that a larger block loads less. Source: CUDA C++ Programming Guide, "Shared Memory";
/// S. Williams et al., "Roofline", CACM 52 (2009), for the time that follows from them.

#include <tessera/backend/kernel.hpp>

#include <tessera/detail/macros_off.hpp>

namespace tessera {

/// Elements of op(A), op(B) and C, as numbers that do not overflow.
struct GemmSizes {
  double a; ///< elements of op(A)
  double b; ///< elements of op(B)
  double c; ///< elements of C
  /// Counts the elements of a call's operands.
  explicit GemmSizes(const GemmCall& call) noexcept
      : a(static_cast<double>(call.m) * static_cast<double>(call.k)),
        b(static_cast<double>(call.k) * static_cast<double>(call.n)),
        c(static_cast<double>(call.m) * static_cast<double>(call.n)) {}
};

/// Elements of C that are stored, and loaded too where beta is not zero.
inline double result_accesses(const GemmCall& call) noexcept { return GemmSizes(call).c * (call.beta != 0 ? 2 : 1); }

/// Operations of a product: 2·m·n·k. Kahan's summation, the compensated mode, takes four instructions for a
/// multiply-add.
inline double product_operations(const GemmCall& call) noexcept {
  return 2 * GemmSizes(call).a * static_cast<double>(call.n) * (call.math == Math::Compensated ? 4 : 1);
}

/// The least that any kernel must move: each operand once. It stands for kernels without a count of their own.
inline GemmTraffic compulsory_traffic(const GemmCall& call) noexcept {
  const GemmSizes sizes(call);
  const double result = result_accesses(call);
  return {product_operations(call), sizes.a + sizes.b + result,
          (sizes.a + sizes.b) * static_cast<double>(size_of(call.type)) +
              result * static_cast<double>(size_of(call.result))};
}

/// The kernel's own count, or the compulsory traffic where it has none.
inline GemmTraffic traffic_of(const GemmKernel& kernel, const GemmCall& call) noexcept {
  return kernel.traffic != nullptr ? kernel.traffic(kernel, call) : compulsory_traffic(call);
}

/// Times that an operand is loaded whole when `extent` rows or columns of C are cut into tiles. A tile of 0 is one
/// of 1.
inline double passes(Index extent, int tile) noexcept {
  const Index step = tile > 0 ? tile : 1;
  const Index tiles = (extent + step - 1) / step;
  return static_cast<double>(tiles);
}

/// The count of a kernel that computes C in tiles of kernel.tile: A is loaded once for each tile in a row of C, B once
/// for each tile in a column, elements beyond the edges are not loaded, and C is stored once. With tiles of 1×1 that is
/// 2·k loads for each result; with square ones that divide C it is 2·m·n·k/tile. Neighbours are loaded together.
inline GemmTraffic tile_traffic(const GemmKernel& kernel, const GemmCall& call) noexcept {
  const GemmSizes sizes(call);
  const double loads = sizes.a * passes(call.n, kernel.tile.n) + sizes.b * passes(call.m, kernel.tile.m);
  const double result = result_accesses(call);
  return {product_operations(call), loads + result,
          loads * static_cast<double>(size_of(call.type)) + result * static_cast<double>(size_of(call.result))};
}

/// Adds the loads and stores of `elements` elements of the operands' type that are copied or kept in between.
inline GemmTraffic with_copies(GemmTraffic traffic, const GemmCall& call, double elements) noexcept {
  traffic.accesses += 2 * elements;
  traffic.bytes += 2 * elements * static_cast<double>(size_of(call.type));
  return traffic;
}

/// tile_traffic() of a kernel that first copies op(B) into packed strips.
inline GemmTraffic packed_b_traffic(const GemmKernel& kernel, const GemmCall& call) noexcept {
  return with_copies(tile_traffic(kernel, call), call, GemmSizes(call).b);
}

/// tile_traffic() of a kernel that first copies op(A) and op(B) into packed strips.
inline GemmTraffic packed_traffic(const GemmKernel& kernel, const GemmCall& call) noexcept {
  return with_copies(tile_traffic(kernel, call), call, GemmSizes(call).a + GemmSizes(call).b);
}

} // namespace tessera

#include <tessera/detail/macros_on.hpp>
