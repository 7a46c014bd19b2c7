#pragma once

/// What element-wise kernels are launched with.

#include "opencl/queue/element_options.hpp"

namespace tessera::opencl {

/// Work-items of a group: along a row, and rows.
inline constexpr std::array<std::size_t, 2> element_group{64, 4};

/// Returns why a device cannot compute with `type`, as Unavailable; Ok if it can.
inline Status has_type(Queue& queue, DType type) {
  const Device& device = command_queue(queue).context().device();
  if (scalar_of(type) != DType::F64 || device.has_f64) return {};
  return {StatusCode::Unavailable, device.name + " (" + device.platform_name +
                                       ") has no f64 (cl_khr_fp64); use f32, or another device or backend"};
}

/// The work-items of a kernel with one for each element of a row, and for each of at most 2¹⁶ rows.
inline std::array<std::size_t, 2> elements(Index rows, Index cols) {
  constexpr Index most_rows = 1 << 16;
  return {static_cast<std::size_t>(cols), static_cast<std::size_t>(rows < most_rows ? rows : most_rows)};
}

} // namespace tessera::opencl
