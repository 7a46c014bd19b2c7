#pragma once

/// The choice of the executor for work on matrices.

#include <initializer_list>

#include <tessera/detail/storage.hpp>
#include <tessera/executor.hpp>

namespace tessera {

/// Returns the executor for element-wise work: the device of the first operand that is on a device, or else the host's:
/// the one that TESSERA_BACKEND names, else the one that the program named first, else the best one.
Executor& place_elementwise(std::initializer_list<const detail::Operand*> operands);

/// The properties of an m×n×k product that decide its executor.
struct ProductKind {
  DType type;
  Math math;
  GemmShape shape;
};

/// Returns the executor for a product. A backend that the call or else TESSERA_BACKEND names is taken, or the call
/// throws. Auto takes the device that an operand is on; if all are on the host it takes a device only where that was
/// measured to be faster with the copies (offload.hpp), or where the host has no kernel for the mode.
Executor& place_gemm(Backend backend, const ProductKind& product,
                     std::initializer_list<const detail::Operand*> operands);

} // namespace tessera
