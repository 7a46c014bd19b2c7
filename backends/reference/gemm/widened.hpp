#pragma once

/// widened: 16-bit operands converted to f32, the product by the executor's own strict f32 choice, the result rounded.
/// The same on every backend but for where the copies lie, which is the caller's to say.

#include <tessera/executor.hpp>
#include <tessera/half.hpp>

namespace tessera::host {

/// The f32 copies, one after the other in one block of memory. C has one if its own elements have 16 bits.
class WidenedProduct {
 public:
  WidenedProduct(Executor& executor, Queue& queue, const GemmCall& call)
      : executor_(executor),
        queue_(queue),
        call_(call),
        a_(stored(call.op_a, call.m, call.k)),
        b_(stored(call.op_b, call.k, call.n)),
        c_(call.result == DType::F32 ? Copy{} : stored(Op::None, call.m, call.n)) {}

  std::size_t bytes() const { return static_cast<std::size_t>(a_.elements() + b_.elements() + c_.elements()) * 4; }

  /// `memory`: bytes() of the executor's, aligned to 64 bytes.
  Status run(void* memory) const {
    auto* a = static_cast<float*>(memory);
    float* b = a + a_.elements();
    float* c = b + b_.elements();
    const bool narrow = call_.result != DType::F32;
    if (Status s = convert(a_, call_.type, call_.a, call_.lda, DType::F32, a, a_.ld); !s.ok()) return s;
    if (Status s = convert(b_, call_.type, call_.b, call_.ldb, DType::F32, b, b_.ld); !s.ok()) return s;
    if (narrow && call_.beta != 0.0)
      if (Status s = convert(c_, call_.result, call_.c, call_.ldc, DType::F32, c, c_.ld); !s.ok()) return s;
    GemmCall wide = call_;
    wide.type = wide.result = DType::F32;
    wide.a = a;
    wide.lda = a_.ld;
    wide.b = b;
    wide.ldb = b_.ld;
    if (narrow) {
      wide.c = c;
      wide.ldc = c_.ld;
      wide.epilogue = {};
    }
    if (Status s = executor_.gemm(queue_, wide); !s.ok() || !narrow) return s;
    return executor_.finish(queue_, {.rows = call_.m,
                                     .cols = call_.n,
                                     .x_type = DType::F32,
                                     .x = c,
                                     .ldx = c_.ld,
                                     .z_type = call_.result,
                                     .z = call_.c,
                                     .ldz = call_.ldc,
                                     .epilogue = call_.epilogue,
                                     .threads = call_.threads});
  }

 private:
  struct Copy {
    Index rows = 0, cols = 0, ld = 0;
    Index elements() const { return rows * ld; }
  };

  /// As the operand is stored; rows start on whole cache lines.
  static Copy stored(Op op, Index rows, Index cols) {
    const Index height = op == Op::None ? rows : cols;
    const Index width = op == Op::None ? cols : rows;
    return {height, width, (width + 15) / 16 * 16};
  }

  Status convert(const Copy& shape, DType x_type, const void* x, Index ldx, DType z_type, void* z, Index ldz) const {
    MapCall call{.op = MapOp::Convert, .type = z_type, .rows = shape.rows, .cols = shape.cols};
    call.x_type = x_type;
    call.x = x;
    call.ldx = ldx;
    call.z = z;
    call.ldz = ldz;
    call.threads = call_.threads;
    return executor_.map(queue_, call);
  }

  Executor& executor_;
  Queue& queue_;
  const GemmCall& call_;
  Copy a_, b_, c_;
};

} // namespace tessera::host
