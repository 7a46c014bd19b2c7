#pragma once

/// For rows of other math modes whose promise strict f32 products keep as well.

#include <tessera/executor.hpp>
#include <tessera/kernel.hpp>

namespace tessera::cuda {

/// Enqueues the strict f32 product, which does nothing if *condition is 0 when its turn comes: no wait on the host. For
/// rows that find out on the device that they cannot keep their promise.
Status run_strict_if(const int* condition, Queue& queue, const GemmCall& call) noexcept;

/// The strict product by whichever row is for it, where that takes less time than `row`; the log says so.
Status run_strict_instead(const GemmKernel& row, Executor& executor, Queue& queue, const GemmCall& call) noexcept;

} // namespace tessera::cuda
