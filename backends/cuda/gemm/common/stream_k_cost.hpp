#pragma once

/// What a product costs with stream_k, for kernels that have to know whether stream_k is faster.

#include <tessera/backend/kernel.hpp>

namespace tessera::cuda {

/// Estimates the clock cycles of an f32 product with stream_k's best tile (stream_k/tile_model.hpp). Precondition: the
/// device is a Hopper.
Index stream_k_cost_f32(const GemmCall& call, Index multiprocessors) noexcept;

} // namespace tessera::cuda
