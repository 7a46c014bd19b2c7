#pragma once

/// Products whose result is stored transposed, and the epilogue of one that is not.

#include <optional>

#include <tessera/detail/storage.hpp>
#include <tessera/epilogue.hpp>

#include "check_gemm.hpp"

namespace tessera::detail {

inline Op flipped(Op op) { return op == Op::None ? Op::Transpose : Op::None; }

/// Returns the epilogue of an untransposed C. `place(x)` brings operand x to where it is read, and returns its place.
template <class Place>
Epilogue placed_epilogue(const EpilogueOperands& operands, const Operand& c, Place&& place) {
  Epilogue epilogue{.activation = operands.activation};
  if (operands.bias) {
    epilogue.bias_per = kind_of_bias(*operands.bias, c);
    const Placed bias = place(*operands.bias);
    epilogue.bias = bias.data;
    epilogue.bias_step = operands.bias->rows == 1 ? 1 : bias.ld;
  }
  if (operands.residual) {
    const Placed residual = place(*operands.residual);
    epilogue.residual = residual.data;
    epilogue.ld_residual = residual.ld;
  }
  return epilogue;
}

/// Calls multiply(a, b, c, epilogue) with operands whose C is not transposed: Cᵀ = Bᵀ·Aᵀ has the bits of A·B.
template <class Multiply>
void with_untransposed_c(const Operand& a, const Operand& b, const Operand& c, const EpilogueOperands& epilogue,
                         Multiply&& multiply) {
  if (c.op == Op::None) return multiply(a, b, c, epilogue);
  Operand at = a, bt = b, ct = c;
  at.op = flipped(a.op);
  bt.op = flipped(b.op);
  ct.op = Op::None;
  EpilogueOperands et = epilogue;
  for (std::optional<Operand>* x : {&et.bias, &et.residual})
    if (*x) (*x)->op = flipped((*x)->op);
  multiply(bt, at, ct, et);
}

} // namespace tessera::detail
