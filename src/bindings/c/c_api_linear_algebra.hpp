#pragma once

/// What the functions of linear algebra in the C interface have in common.

#include <tessera/linear_algebra/tessera_linear_algebra.h>
#include <tessera/linear_algebra/options.hpp>

#include "c_api.hpp"

namespace tessera::c_api {

/// The type of elements as a caller names it: of real numbers, or of the parts of complex ones.
struct NumberWord {
  tessera_dtype part;
  bool is_complex = false;
};

/// Returns the type of numbers. Throws InvalidArgument for one that linear algebra does not have.
DType linear_algebra_type(tessera_dtype part);
/// Throws InvalidArgument for an option that linear algebra does not have.
SolveOptions solve_options_of(const tessera_options* words, DType type, bool refine = false);

inline Triangle triangle_of(tessera_triangle triangle) { return checked(triangle, Triangle::Upper, "triangle"); }

} // namespace tessera::c_api
