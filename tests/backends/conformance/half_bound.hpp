#pragma once

/// Bounds of kernels with 16-bit operands. Their exact reference is the extension `checking`; in a build of the core
/// alone only the bits of these kernels are compared.

#include <string>

#include <tessera/backend/kernel.hpp>

namespace tessera::conformance {

/// Returns what is wrong with the result at `c`, whose rows are ldc elements apart: what leaves the bound of its
/// kernel, or, for whole numbers, any difference. `call` has operands in host memory, and C as it was before. Empty if
/// all is right.
std::string outside_bound(const GemmKernel& kernel, const GemmCall& call, const void* c, Index ldc, bool whole_numbers);

} // namespace tessera::conformance
