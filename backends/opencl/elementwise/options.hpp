#pragma once

/// What element-wise kernels are compiled and launched with.

#include <string>

#include "opencl/queue/launch.hpp"

namespace tessera::opencl {

/// Work-items of a group: along a row, and rows.
inline constexpr std::array<std::size_t, 2> element_group{64, 4};

/// Returns the options that make `letter` a type of stored elements: "-D X=ushort -D LOAD_X=load_f16 -D
/// STORE_X=store_f16".
inline std::string stored_option(const char* letter, DType type) {
  const std::string name(element_type(type).name);
  const char* const stored = type == DType::F64 ? "double" : type == DType::F32 ? "float" : "ushort";
  const std::string of(letter);
  return " -D " + of + "=" + stored + " -D LOAD_" + of + "=load_" + name + " -D STORE_" + of + "=store_" + name;
}

/// Returns the option that makes REAL the type in which elements of `type` are computed with.
inline std::string scalar_option(DType type) {
  return scalar_of(type) == DType::F64 ? "-D REAL=double" : "-D REAL=float";
}

/// Adds a number of the type that elements of `type` are computed with.
inline Launch& scalar_value(Launch& launch, DType type, double number) {
  return scalar_of(type) == DType::F64 ? launch.value<cl_double>(number) : launch.value(static_cast<cl_float>(number));
}

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
