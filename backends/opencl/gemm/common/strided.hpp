#pragma once

/// How a rung gives its kernel the operands of a product: op(A) and op(B) with a stride for each direction, so that a
/// transposed operand differs in its strides alone. STRIDED_OPERANDS in device/element.cl is the kernel's side.

#include <string>

#include "opencl/queue/launch.hpp"

namespace tessera::opencl {

/// "-D REAL=float", or double.
inline std::string real_option(DType type) { return type == DType::F64 ? "-D REAL=double" : "-D REAL=float"; }

/// Adds a number of the type that `type` names.
inline Launch& real_value(Launch& launch, DType type, double number) {
  return type == DType::F64 ? launch.value<cl_double>(number) : launch.value(static_cast<cl_float>(number));
}

/// Adds all operands of STRIDED_OPERANDS.
inline Launch& strided_operands(Launch& launch, const GemmCall& call) {
  const std::size_t element = size_of(call.type);
  const auto stride = [](Op op, Index ld, bool down) { return (op == Op::None) == down ? ld : Index{1}; };
  launch.value<cl_long>(call.m).value<cl_long>(call.n).value<cl_long>(call.k);
  launch.operand(call.a, element);
  launch.value<cl_long>(stride(call.op_a, call.lda, true)).value<cl_long>(stride(call.op_a, call.lda, false));
  launch.operand(call.b, element);
  launch.value<cl_long>(stride(call.op_b, call.ldb, true)).value<cl_long>(stride(call.op_b, call.ldb, false));
  launch.operand(call.c, element).value<cl_long>(call.ldc);
  return real_value(real_value(launch, call.type, call.alpha), call.type, call.beta);
}

/// Enqueues a kernel with STRIDED_OPERANDS that has a work-item for each element of C, the columns in dimension 0.
inline Status launch_elements(Queue& queue, const Source& source, const char* name, const GemmCall& call) {
  Launch launch(queue, source, real_option(call.type), name);
  return strided_operands(launch, call)
      .run({static_cast<std::size_t>(call.n), static_cast<std::size_t>(call.m)}, {32, 4});
}

} // namespace tessera::opencl
