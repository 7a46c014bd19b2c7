#pragma once

/// Whether a device keeps the contract of strict products.

#include <tessera/executor.hpp>

namespace tessera::opencl {

/// Says whether strict products of this type have the contract's bits on the queue's device. At the first call for a
/// type a product whose bits are known is computed; a device that lacks what its description must have, or computes
/// other bits, is refused with the reason (Unavailable). Every strict kernel's `run` calls it first.
Status keeps_contract(Queue& queue, DType type) noexcept;

} // namespace tessera::opencl
