#pragma once

/// One row of a ladder, and the call it runs. A rung is one file that ends in one row.
///
/// Idea: oneDNN's ordered implementation lists, where each entry has a name and can say why it declined.

#include <string>

#include <tessera/epilogue.hpp>
#include <tessera/status.hpp>
#include <tessera/types.hpp>

namespace tessera {

class Executor;
class Queue;
struct Capabilities;

/// C := alpha · op(A) · op(B) + beta · C, row-major.
///
/// op(A) is m×k, op(B) is k×n, C is m×n. `lda` is the distance in elements between rows of A as it is
/// stored: at least k, or at least m if A is transposed; likewise ldb and ldc. Pointers are memory of the
/// executor that runs the call, which owns none of them. alpha and beta are exact in `type`; in f32 if that is a
/// 16-bit type, for then all is computed in f32 and rounded to `result` once, at the end.
struct GemmCall {
  DType type = DType::F32;
  Math math = Math::Strict;
  Op op_a = Op::None;
  Op op_b = Op::None;
  Index m = 0;
  Index n = 0;
  Index k = 0;
  double alpha = 1.0;
  const void* a = nullptr;
  Index lda = 0;
  const void* b = nullptr;
  Index ldb = 0;
  double beta = 0.0;
  void* c = nullptr;
  Index ldc = 0;
  int threads = 0;        ///< threads that this call may use; 0: as many as the executor was made with
  DType result = type;    ///< of C: `type`; f32 where that is a 16-bit type; a 16-bit type where that is f32
  Epilogue epilogue = {}; ///< what is done with the elements before they are stored
};

/// Nothing comes after alpha and beta but rounding to the operands' own precision: no epilogue, no 16-bit result of
/// f32.
inline bool is_plain_product(const GemmCall& call) noexcept {
  return call.epilogue.empty() && !(call.type == DType::F32 && is_16_bit(call.result));
}

/// In which order a kernel adds.
enum class Summation : int {
  Canonical = 0, ///< design: segments of 1024 k, one FMA chain each, added in ascending order
  Other = 1,
};

/// What the products are added in: with the math mode it decides the error bound.
enum class Accumulator : int {
  Native = 0,     ///< the element type (f32 for 16-bit ones), rounded to nearest
  Wider = 1,      ///< at least twice the element type's precision, rounded once at the end
  Truncating = 2, ///< tensor cores: as Native, rounded towards zero
};

/// k per segment of the canonical summation. Part of the numerical contract: changing it changes bits.
inline constexpr Index canonical_segment = 1024;

struct Tile {
  int m = 0;
  int n = 0;
  int k = 0;
};

/// The work of one product by a kernel's own count, which follows from its algorithm and its tile sizes. Caches do not
/// enter into it. traffic.hpp has the counts that kernels share.
struct GemmTraffic {
  /// Floating-point operations at the pace of multiply-adds, which are two each. An instruction that only adds takes
  /// the place of a multiply-add and counts as two.
  double operations = 0;
  double accesses = 0; ///< elements that the kernel loads from global memory and stores there
  double bytes = 0;    ///< moved by the accesses, where nothing that one of them brought serves another
};

/// One GEMM kernel for one element type, that of the operands, and math mode. A row of a 16-bit type takes results of
/// that type and of f32, or rejects one of them with a reason.
///
/// `reject` returns nullptr, or a constant string saying why this row cannot take the call. `run` may assume
/// that the call was validated, that reject returned nullptr, that m, n, k > 0 and alpha ≠ 0 (the executor
/// answers the other cases itself), and must handle every m, n, k, ld and beta left. With beta = 0 it never
/// reads C. It returns when the work is enqueued (CUDA) or done (CPU) and throws nothing.
struct GemmKernel {
  const char* name = "";
  const char* summary = "";
  const char* source = "";
  DType type = DType::F32;
  Math math = Math::Strict;
  Tile tile = {};
  Summation summation = Summation::Other;
  Accumulator accumulator = Accumulator::Native;
  const char* (*reject)(const GemmKernel& row, const GemmCall& call, const Capabilities& machine) noexcept = nullptr;
  Status (*run)(const GemmKernel& row, Executor& executor, Queue& queue, const GemmCall& call) noexcept = nullptr;
  const void* context = nullptr; ///< for rows made at run time (a library opened with dlopen)
  bool yardstick = false;        ///< what the ladder is measured against: never chosen, only run by name
  bool epilogue = false;         ///< applies the call's epilogue itself; else the executor does, in a pass over C
  bool narrows = false;          ///< of f32: also gives results of 16 bits
  /// Counts the work of a call. nullptr: the kernel has no count of its own.
  GemmTraffic (*traffic)(const GemmKernel& row, const GemmCall& call) noexcept = nullptr;
};

/// Typed look at a call's operands, for kernels: op(A) and op(B) of T, C of R.
template <class T, class R = T>
struct GemmOperands {
  Index m, n, k;
  const T* a;
  Index lda;
  Op op_a;
  const T* b;
  Index ldb;
  Op op_b;
  R* c;
  Index ldc;
  Scalar<T> alpha, beta;

  explicit GemmOperands(const GemmCall& call)
      : m(call.m),
        n(call.n),
        k(call.k),
        a(static_cast<const T*>(call.a)),
        lda(call.lda),
        op_a(call.op_a),
        b(static_cast<const T*>(call.b)),
        ldb(call.ldb),
        op_b(call.op_b),
        c(static_cast<R*>(call.c)),
        ldc(call.ldc),
        alpha(static_cast<Scalar<T>>(call.alpha)),
        beta(static_cast<Scalar<T>>(call.beta)) {}

  /// Element (i, p) of op(A) and (p, j) of op(B).
  const T& at_a(Index i, Index p) const { return op_a == Op::None ? a[i * lda + p] : a[p * lda + i]; }
  const T& at_b(Index p, Index j) const { return op_b == Op::None ? b[p * ldb + j] : b[j * ldb + p]; }
};

enum class ReduceOp : int { SumOfSquares = 0, SumAbs = 1, MaxAbs = 2 };

/// A reduction over all elements of a row-major matrix in the executor's memory, in double precision.
struct ReduceCall {
  ReduceOp op = ReduceOp::SumOfSquares;
  DType type = DType::F32;
  Index rows = 0;
  Index cols = 0;
  const void* x = nullptr;
  Index ldx = 0;
  int threads = 0;
};

/// What a reduction kernel returns; `device_seconds` is its own clock, 0 where it has none.
struct ReduceResult {
  double value = 0.0;
  double device_seconds = 0.0;
};

/// One reduction kernel. `reject` and `run` as in GemmKernel; `run` returns when `result` is complete.
struct ReduceKernel {
  const char* name = "";
  const char* summary = "";
  const char* source = "";
  ReduceOp op = ReduceOp::SumOfSquares;
  DType type = DType::F32;
  Summation summation = Summation::Other;
  const char* (*reject)(const ReduceKernel& row, const ReduceCall& call,
                        const Capabilities& machine) noexcept = nullptr;
  Status (*run)(const ReduceKernel& row, Executor& executor, Queue& queue, const ReduceCall& call,
                ReduceResult& result) noexcept = nullptr;
};

} // namespace tessera
