/// The whole path of a product: check, choose an executor, bring stale operands over, run its ladder. What a device
/// cannot hold goes through it in parts.

#include <tessera/gemm.hpp>

#include <tessera/backend.hpp>

#include "operand.hpp"
#include "placement.hpp"
#include "streamed_gemm.hpp"

namespace tessera::detail {
namespace {

Op flipped(Op op) { return op == Op::None ? Op::Transpose : Op::None; }

void check(const Operand& a, const Operand& b, const Operand& c) {
  check_inner(logical_rows(a), logical_cols(a), logical_rows(b), logical_cols(b));
  if (logical_rows(c) != logical_rows(a) || logical_cols(c) != logical_cols(b))
    throw InvalidArgument("gemm: c is " + shape(c) + ", but a·b is " + shape(logical_rows(a), logical_cols(b)));
  if (overlap(a, c) || overlap(b, c))
    throw InvalidArgument(std::string("gemm: c overlaps ") + (overlap(a, c) ? "a" : "b") +
                          " in memory; the product needs a separate result");
}

/// All operands in the executor's memory, where C stays.
void multiply_on(Executor& executor, double alpha, const Operand& a, const Operand& b, double beta, const Operand& c,
                 const GemmOptions& options) {
  const Placed on_a = read_on(a, executor);
  const Placed on_b = read_on(b, executor);
  const Placed on_c = write_on(c, executor, beta == 0.0);
  const GemmCall call{
      a.storage->type(), options.math, a.op,      b.op,    c.rows, c.cols,    logical_cols(a), alpha,
      on_a.data,         on_a.ld,      on_b.data, on_b.ld, beta,   on_c.data, on_c.ld,         options.threads,
      c.storage->type()};
  throw_if_failed(executor.gemm(executor.default_queue(), call, options.kernel));
  written_on(c, executor);
}

Placed at_home(const Operand& x) {
  const Index offset = x.row * x.storage->ld() + x.col;
  return {static_cast<char*>(const_cast<void*>(x.storage->host_read())) +
              offset * static_cast<Index>(size_of(x.storage->type())),
          x.storage->ld()};
}

/// Operands in host memory, in parts through the executor's.
void multiply_streamed(Executor& executor, double alpha, const Operand& a, const Operand& b, double beta,
                       const Operand& c, const GemmOptions& options) {
  c.storage->leave_device();
  const DType result = c.storage->type();
  if (is_16_bit(result) && logical_cols(a) > canonical_segment) { // sums of slices are not rounded before the last
    const Operand wide{create_storage(c.rows, c.cols, DType::F32), 0, 0, c.rows, c.cols, Op::None};
    if (beta != 0.0) copy(c, wide);
    multiply_streamed(executor, alpha, a, b, beta, wide, options);
    return copy(wide, c);
  }
  const Placed home_a = at_home(a), home_b = at_home(b), home_c = at_home(c);
  const GemmCall call{
      a.storage->type(), options.math, a.op,      b.op, c.rows,      c.cols,    logical_cols(a), alpha, home_a.data,
      home_a.ld,         home_b.data,  home_b.ld, beta, home_c.data, home_c.ld, options.threads, result};
  throw_if_failed(streamed_gemm(executor, call, options.kernel));
}

} // namespace

void check_inner(Index a_rows, Index a_cols, Index b_rows, Index b_cols) {
  if (a_cols != b_rows)
    throw InvalidArgument("gemm: a is " + shape(a_rows, a_cols) + " and b is " + shape(b_rows, b_cols) +
                          "; the columns of a must be as many as the rows of b, but " + std::to_string(a_cols) + " ≠ " +
                          std::to_string(b_rows));
}

void gemm(double alpha, const Operand& a, const Operand& b, double beta, const Operand& c, const GemmOptions& options) {
  check(a, b, c);
  if (c.op == Op::Transpose) { // Cᵀ = Bᵀ·Aᵀ, with the same bits
    Operand at = a, bt = b, ct = c;
    at.op = flipped(a.op);
    bt.op = flipped(b.op);
    ct.op = Op::None;
    return gemm(alpha, bt, at, beta, ct, options);
  }
  Executor& executor = place_gemm(options.backend, c.rows, c.cols, logical_cols(a), {&a, &b, &c});
  const bool a_was_there = a.storage->resident_on() == &executor;
  const bool b_was_there = b.storage->resident_on() == &executor;
  try {
    multiply_on(executor, alpha, a, b, beta, c, options);
  } catch (const OutOfMemory&) {
    if (executor.capabilities().host_memory) throw;
    if (!a_was_there) a.storage->leave_device();
    if (!b_was_there) b.storage->leave_device();
    multiply_streamed(executor, alpha, a, b, beta, c, options);
  }
  if (c.storage->borrowed()) c.storage->host_read(); // its owner looks at the memory, not at the view
}

void gemm_raw(const GemmCall& call, const GemmOptions& options) {
  Executor& executor = place_gemm(options.backend, call.m, call.n, call.k, {});
  if (executor.capabilities().host_memory) // the operands are where they have to be; the executor checks the call
    return throw_if_failed(executor.gemm(executor.default_queue(), call, options.kernel));
  throw_if_failed(check_gemm(call));
  const bool flip_a = call.op_a == Op::Transpose;
  const bool flip_b = call.op_b == Op::Transpose;
  Operand a =
      wrap_host(const_cast<void*>(call.a), flip_a ? call.k : call.m, flip_a ? call.m : call.k, call.lda, call.type);
  Operand b =
      wrap_host(const_cast<void*>(call.b), flip_b ? call.n : call.k, flip_b ? call.k : call.n, call.ldb, call.type);
  const Operand c = wrap_host(call.c, call.m, call.n, call.ldc, call.result);
  a.op = call.op_a;
  b.op = call.op_b;
  gemm(call.alpha, a, b, call.beta, c, options);
}

} // namespace tessera::detail
