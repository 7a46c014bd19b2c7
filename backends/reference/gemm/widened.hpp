#pragma once

/// widened: converts 16-bit operands to f32 and lets the executor choose a strict f32 kernel for the product, which
/// rounds the result. All backends use this code. They differ in where the copies lie, so the caller gives the memory.

#include <tessera/executor.hpp>
#include <tessera/half.hpp>

namespace tessera::host {

/// A product by f32 copies of A and B. The copies lie one after the other in one block of memory.
class WidenedProduct {
 public:
  WidenedProduct(Executor& executor, Queue& queue, const GemmCall& call)
      : executor_(executor),
        queue_(queue),
        call_(call),
        a_(stored(call.op_a, call.m, call.k)),
        b_(stored(call.op_b, call.k, call.n)) {}

  /// Returns the size of that block.
  std::size_t bytes() const { return static_cast<std::size_t>(a_.elements() + b_.elements()) * 4; }

  /// Computes the product. `memory` is a block of bytes() bytes in the executor's memory, aligned to 64 bytes.
  Status run(void* memory) const {
    auto* a = static_cast<float*>(memory);
    float* b = a + a_.elements();
    if (Status s = convert(a_, call_.a, call_.lda, a); !s.ok()) return s;
    if (Status s = convert(b_, call_.b, call_.ldb, b); !s.ok()) return s;
    GemmCall wide = call_;
    wide.type = DType::F32;
    wide.a = a;
    wide.lda = a_.ld;
    wide.b = b;
    wide.ldb = b_.ld;
    return executor_.gemm(queue_, wide);
  }

 private:
  struct Copy {
    Index rows = 0, cols = 0, ld = 0;
    Index elements() const { return rows * ld; }
  };

  /// Returns the copy's shape for an operand whose op is rows×cols. The copy is transposed if the operand is. Its rows
  /// begin on cache lines.
  static Copy stored(Op op, Index rows, Index cols) {
    const Index height = op == Op::None ? rows : cols;
    const Index width = op == Op::None ? cols : rows;
    return {height, width, (width + 15) / 16 * 16};
  }

  Status convert(const Copy& shape, const void* x, Index ldx, float* z) const {
    MapCall call{.op = MapOp::Convert, .type = DType::F32, .rows = shape.rows, .cols = shape.cols};
    call.x_type = call_.type;
    call.x = x;
    call.ldx = ldx;
    call.z = z;
    call.ldz = shape.ld;
    call.threads = call_.threads;
    return executor_.map(queue_, call);
  }

  Executor& executor_;
  Queue& queue_;
  const GemmCall& call_;
  Copy a_, b_;
};

} // namespace tessera::host
