#pragma once

/// Counts of work for the rungs whose loads tile_traffic() does not describe.

#include <tessera/backend/traffic.hpp>

namespace tessera::cpu {

inline constexpr double cache_line_bytes = 64;

/// The count of the triple loop with its sum in memory: each step loads an element of A, one of B and the sum, and
/// stores the sum, which stays in the nearest cache. A walk across rows moves a cache line for each element.
inline GemmTraffic naive_traffic(const GemmKernel&, const GemmCall& call) noexcept {
  const double products = GemmSizes(call).a * static_cast<double>(call.n);
  const double result = result_accesses(call);
  const auto element = static_cast<double>(size_of(call.type));
  const double a = call.op_a == Op::None ? element : cache_line_bytes;
  const double b = call.op_b == Op::None ? cache_line_bytes : element;
  return {product_operations(call), 4 * products + result,
          products * (a + b) + result * static_cast<double>(size_of(call.result))};
}

/// The count of dot products of rows, after B and, where it is stored transposed, A were transposed: 2·k loads for each
/// result.
inline GemmTraffic transposed_traffic(const GemmKernel& kernel, const GemmCall& call) noexcept {
  const GemmSizes sizes(call);
  const double copied = (call.op_a == Op::Transpose ? sizes.a : 0) + (call.op_b == Op::None ? sizes.b : 0);
  return with_copies(tile_traffic(kernel, call), call, copied);
}

/// The count of packed operands that stay in caches: the micro-kernel loads what its tiles need, but only packing moves
/// bytes, which loads each operand once and stores its copy.
inline GemmTraffic blocked_traffic(const GemmKernel& kernel, const GemmCall& call) noexcept {
  const GemmSizes sizes(call);
  const double copies = (sizes.a + sizes.b) * static_cast<double>(size_of(call.type));
  return {product_operations(call), packed_traffic(kernel, call).accesses, compulsory_traffic(call).bytes + copies};
}

} // namespace tessera::cpu
