#pragma once

/// The types of elements that kernels are compiled for, and numbers of these types.

#include <string>

#include "launch.hpp"

namespace tessera::opencl {

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

} // namespace tessera::opencl
