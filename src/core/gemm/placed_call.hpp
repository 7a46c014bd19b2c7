#pragma once

/// The call of a product of matrices, once its operands are in the memory of the executor that runs it.

#include <tessera/backend/kernel.hpp>
#include <tessera/gemm.hpp>

#include "core/matrix/operand.hpp"

namespace tessera::detail {

/// An operand, and where its first stored element is.
struct PlacedOperand {
  const Operand& operand;
  Placed at;
};

/// Returns the call of C := alpha·A·B + beta·C. C is not transposed, and its type is the result's. The call has no
/// epilogue.
inline GemmCall placed_call(double alpha, const PlacedOperand& a, const PlacedOperand& b, double beta,
                            const PlacedOperand& c, const GemmOptions& options) {
  return {{.type = a.operand.storage->type(),
           .math = options.math,
           .op_a = a.operand.op,
           .op_b = b.operand.op,
           .m = c.operand.rows,
           .n = c.operand.cols,
           .k = logical_cols(a.operand),
           .alpha = alpha,
           .a = a.at.data,
           .lda = a.at.ld,
           .b = b.at.data,
           .ldb = b.at.ld,
           .beta = beta,
           .c = c.at.data,
           .ldc = c.at.ld,
           .threads = options.threads},
          c.operand.storage->type()};
}

} // namespace tessera::detail
