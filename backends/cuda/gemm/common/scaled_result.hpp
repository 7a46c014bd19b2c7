#pragma once

/// Where the sums of a product go: C := alpha·sum + beta·C.

#include <tessera/backend/kernel.hpp>

namespace tessera::cuda {

/// C and its scalars, among a kernel's parameters. S is the type of the sums; R is the type of C, or void where the
/// kernel learns it elsewhere. Its bytes have no gaps, and their order is part of each kernel's parameters.
template <class S, class R = S>
struct ScaledResult {
  R* c;
  Index ldc;
  S alpha, beta; ///< if beta is 0, C is not read

  /// Returns the call's C, and its scalars as the kernel computes with them.
  static ScaledResult of(const GemmCall& call) noexcept {
    return {static_cast<R*>(call.c), call.ldc, static_cast<S>(call.alpha), static_cast<S>(call.beta)};
  }
};

} // namespace tessera::cuda
