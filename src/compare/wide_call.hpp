#pragma once

/// Products with 16-bit operands or results are compared as f32 products. Widening 16-bit elements is exact.

#include <vector>

#include <tessera/backend/kernel.hpp>
#include <tessera/half.hpp>

namespace tessera::compare {

/// Returns the elements of a 16-bit or f32 matrix in host memory as a compact f32 matrix.
inline std::vector<float> widened(const void* data, DType type, Index rows, Index cols, Index ld) {
  std::vector<float> wide(static_cast<std::size_t>(rows * cols));
  visit(type, [&]<class T>(std::type_identity<T>) {
    const auto* x = static_cast<const T*>(data);
    for (Index i = 0; i < rows; ++i)
      for (Index j = 0; j < cols; ++j) wide[static_cast<std::size_t>(i * cols + j)] = static_cast<float>(x[i * ld + j]);
  });
  return wide;
}

/// Returns `x` rounded to f32 or to a 16-bit type, and widened again.
template <class X>
float rounded(X x, DType type) {
  return visit(type, [x]<class T>(std::type_identity<T>) { return static_cast<float>(static_cast<T>(x)); });
}

/// An f32 call that stands for a call with 16-bit operands or result. Its operands are widened copies.
class WideCall {
 public:
  explicit WideCall(const GemmCall& call) : call_(call) {
    const bool reads_inputs = call.alpha != 0; // by the contract, alpha = 0 means that A and B are not read
    const Index rows_a = call.op_a == Op::None ? call.m : call.k, cols_a = call.op_a == Op::None ? call.k : call.m;
    const Index rows_b = call.op_b == Op::None ? call.k : call.n, cols_b = call.op_b == Op::None ? call.n : call.k;
    if (reads_inputs) {
      a_ = widened(call.a, call.type, rows_a, cols_a, call.lda);
      b_ = widened(call.b, call.type, rows_b, cols_b, call.ldb);
    }
    if (call.beta != 0) c_ = widened(call.c, call.result, call.m, call.n, call.ldc);
    call_.type = call_.result = DType::F32;
    call_.a = a_.data();
    call_.b = b_.data();
    call_.c = c_.data();
    call_.lda = cols_a;
    call_.ldb = cols_b;
    call_.ldc = call.n;
  }
  const GemmCall& call() const { return call_; }

 private:
  GemmCall call_;
  std::vector<float> a_, b_, c_;
};

} // namespace tessera::compare
