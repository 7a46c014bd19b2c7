#pragma once

/// What the forms of the tiled product share.

#include <string>

#include "opencl/queue/launch.hpp"

namespace tessera::opencl {

/// A matrix in the executor's memory and its strides in elements.
struct Operand {
  const void* data = nullptr;
  Index row = 0, column = 0;

  /// Returns op(X) of a stored matrix.
  static Operand of(const void* data, Op op, Index ld) {
    return op == Op::None ? Operand{data, ld, 1} : Operand{data, 1, ld};
  }
};

/// The sums of all segments of k, each a matrix without gaps, and the C that they belong to.
struct SegmentSums {
  Index rows, columns, segments;
  const void* data;
  Operand c;
};

/// Returns the compiler's option that gives a macro a number.
inline std::string defined(const char* name, Index value) {
  return std::string(" -D ") + name + "=" + std::to_string(value);
}

inline Index rounded_up(Index value, Index step) { return (value + step - 1) / step * step; }
/// Returns how many tiles cover an extent.
inline std::size_t tiles_over(Index extent, Index tile) { return static_cast<std::size_t>((extent + tile - 1) / tile); }

/// Enqueues add_segments.cl: C := alpha · the sum of all segments + beta · C.
Status add_segments(Queue& queue, const GemmCall& call, const SegmentSums& sums);

} // namespace tessera::opencl
