#pragma once

#include <tessera/linear_algebra/options.hpp>

#include "steps.hpp"

namespace tessera::linear_algebra::device {

/// Copies one triangle of X, n×n, with its diagonal, to Z, whose other triangle stays as it is.
void copy_triangle(const Steps& steps, Triangle triangle, Index n, Place x, Place z);

} // namespace tessera::linear_algebra::device
