#pragma once

/// Strict products of f32 and f64 that allocate nothing: the last resort where the host's memory is short and a call
/// must not fail, because a part of its results is written or because its interface reports no errors.

#include <tessera/complex.hpp>
#include <tessera/detail/export.hpp>
#include <tessera/executor.hpp>

namespace tessera::host {

/// Does the function below compute such a product? It has no epilogue and no 16-bit operands.
TESSERA_API bool can_multiply_without_memory(const GemmCall& call) noexcept;

/// Compute a product of operands in host memory on the calling thread, with the bits of the numerical contract and
/// complex.hpp. The caller has checked the call. Every element of A and B is read for each element of C, so this is
/// slow.
TESSERA_API void multiply_without_memory(const GemmCall& call) noexcept;
TESSERA_API void multiply_without_memory(const ComplexGemmCall& call) noexcept;

} // namespace tessera::host
