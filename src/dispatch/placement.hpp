#pragma once

/// Which executor does a piece of work on matrices.

#include <initializer_list>

#include <tessera/detail/storage.hpp>
#include <tessera/executor.hpp>

namespace tessera {

/// Element-wise work: where the first operand that is on a device is; otherwise the best host executor.
Executor& place_elementwise(std::initializer_list<const detail::Operand*> operands);

struct ProductKind {
  DType type;
  Math math;
  Index m, n, k;
};

/// A product. A named backend is taken or throws; Auto stays where the operands are, and takes a device only
/// where that was measured to outweigh the copies (offload.hpp), or where the host lacks the mode.
Executor& place_gemm(Backend backend, const ProductKind& product,
                     std::initializer_list<const detail::Operand*> operands);

} // namespace tessera
