#pragma once

/// Calls a rung of the CUDA ladder from the program that the lens makes of its file.

#include <tessera/backend/kernel.hpp>

namespace tessera::lens {

/// Runs the kernel on the product that a `tessera_kernel_call` describes. Returns why it did not take the product; null
/// if it did.
const char* run_rung(const GemmKernel& kernel, const void* call);

} // namespace tessera::lens
