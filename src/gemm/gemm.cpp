/// The whole path of a product: it is checked, an executor is chosen, stale operands are brought to its memory, and a
/// row of its ladder runs. A product that a device cannot hold goes through it in parts, as does one on several
/// executors.

#include <tessera/detail/uncancelled.hpp>
#include <tessera/many_executors.hpp>

#include <span>
#include <vector>

#include <tessera/backend.hpp>
#include <tessera/backend/out_of_memory.hpp>
#include <tessera/detail/floating_point.hpp>

#include "check_gemm.hpp"
#include "dispatch/placement.hpp"
#include "matrix/operand.hpp"
#include "streamed_gemm.hpp"

namespace tessera::detail {
namespace {

Op flipped(Op op) { return op == Op::None ? Op::Transpose : Op::None; }

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

/// Replaces a transposed residual by a copy, because kernels read it along C's rows.
void straighten_residual(EpilogueOperands& epilogue) {
  if (!epilogue.residual || epilogue.residual->op == Op::None) return;
  const Operand& x = *epilogue.residual;
  const Operand straight{create_storage(x.cols, x.rows, x.storage->type()), 0, 0, x.cols, x.rows, Op::None};
  copy(x, straight);
  epilogue.residual = straight;
}

/// Multiplies with all operands in the executor's memory, where C stays.
void multiply_on(Executor& executor, double alpha, const Operand& a, const Operand& b, double beta, const Operand& c,
                 const GemmOptions& options, const EpilogueOperands& epilogue) {
  const Placed on_a = read_on(a, executor);
  const Placed on_b = read_on(b, executor);
  const Placed on_c = write_on(c, executor, beta == 0.0);
  const GemmCall call{a.storage->type(),
                      options.math,
                      a.op,
                      b.op,
                      c.rows,
                      c.cols,
                      logical_cols(a),
                      alpha,
                      on_a.data,
                      on_a.ld,
                      on_b.data,
                      on_b.ld,
                      beta,
                      on_c.data,
                      on_c.ld,
                      options.threads,
                      c.storage->type(),
                      placed_epilogue(epilogue, c, [&](const Operand& x) { return read_on(x, executor); })};
  throw_if_failed(executor.gemm(executor.default_queue(), call, options.kernel));
  written_on(c, executor);
}

Placed at_home(const Operand& x) {
  const Index offset = x.row * x.storage->ld() + x.col;
  return {static_cast<char*>(const_cast<void*>(x.storage->host_read())) +
              offset * static_cast<Index>(size_of(x.storage->type())),
          x.storage->ld()};
}

/// Computes z := epilogue(x) on the host. The caller has chosen the executor before it wrote C, since a choice may
/// fail.
void apply_epilogue_at_home(Executor& host, const Operand& x, const EpilogueOperands& epilogue, const Operand& z,
                            int threads) {
  const Placed from = at_home(x);
  const Epilogue placed = placed_epilogue(epilogue, z, at_home);
  const Placed to{static_cast<char*>(z.storage->host_write()) +
                      (z.row * z.storage->ld() + z.col) * static_cast<Index>(size_of(z.storage->type())),
                  z.storage->ld()};
  throw_if_failed(host.finish(host.default_queue(), {.type = scalar_of(x.storage->type()),
                                                     .rows = z.rows,
                                                     .cols = z.cols,
                                                     .x_type = x.storage->type(),
                                                     .x = from.data,
                                                     .ldx = from.ld,
                                                     .z_type = z.storage->type(),
                                                     .z = to.data,
                                                     .ldz = to.ld,
                                                     .epilogue = placed,
                                                     .threads = threads}));
}

/// Multiplies operands that are in host memory; parts of them go through the memory of the executors.
void multiply_streamed(std::span<Executor* const> executors, double alpha, const Operand& a, const Operand& b,
                       double beta, const Operand& c, const GemmOptions& options, const EpilogueOperands& epilogue) {
  c.storage->leave_device();
  const DType result = c.storage->type();
  Executor& host = place_elementwise({});
  const bool has_epilogue = epilogue.bias || epilogue.residual || epilogue.activation != Activation::None;
  if (is_16_bit(result) && has_epilogue) { // C is rounded once, at the end
    const Operand wide{create_storage(c.rows, c.cols, DType::F32), 0, 0, c.rows, c.cols, Op::None};
    if (beta != 0.0) copy(c, wide);
    multiply_streamed(executors, alpha, a, b, beta, wide, options, {});
    return apply_epilogue_at_home(host, wide, epilogue, c, options.threads);
  }
  if (has_epilogue) {
    multiply_streamed(executors, alpha, a, b, beta, c, options, {});
    return apply_epilogue_at_home(host, c, epilogue, c, options.threads);
  }
  const Placed home_a = at_home(a), home_b = at_home(b), home_c = at_home(c);
  const GemmCall call{
      a.storage->type(), options.math, a.op,      b.op, c.rows,      c.cols,    logical_cols(a), alpha, home_a.data,
      home_a.ld,         home_b.data,  home_b.ld, beta, home_c.data, home_c.ld, options.threads, result};
  throw_if_failed(streamed_gemm(executors, call, options.kernel));
}

/// Multiplies with all operands on the device. If not all of them fit, the ones that were not there before leave it
/// again, and the product is streamed.
void multiply_on_device(Executor& device, double alpha, const Operand& a, const Operand& b, double beta,
                        const Operand& c, const GemmOptions& options, const EpilogueOperands& epilogue) {
  std::vector<Operand> brought{a, b};
  for (const std::optional<Operand>* x : {&epilogue.bias, &epilogue.residual})
    if (*x) brought.push_back(**x);
  std::erase_if(brought, [&](const Operand& x) { return x.storage->resident_on() == &device; });
  try {
    multiply_on(device, alpha, a, b, beta, c, options, epilogue);
  } catch (const OutOfMemory&) {
    for (const Operand& x : brought) x.storage->leave_device();
    Executor* const only[]{&device};
    multiply_streamed(only, alpha, a, b, beta, c, options, epilogue);
  }
}

/// Calls multiply(a, b, c, epilogue) with operands whose C is not transposed: Cᵀ = Bᵀ·Aᵀ has the bits of A·B.
template <class Multiply>
void with_straight_c(const Operand& a, const Operand& b, const Operand& c, const EpilogueOperands& epilogue,
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

} // namespace

void gemm(double alpha, const Operand& a, const Operand& b, double beta, const Operand& c, const GemmOptions& options,
          const EpilogueOperands& epilogue) try {
  const Uncancelled whole;
  const ContractArithmetic contract;
  if (const std::string why = product_mismatch(a, b, c); !why.empty()) throw InvalidArgument("gemm: " + why);
  check_epilogue(epilogue, c);
  if (c.op == Op::Transpose)
    return with_straight_c(a, b, c, epilogue, [&](const auto& x, const auto& y, const auto& z, const auto& end) {
      gemm(alpha, x, y, beta, z, options, end);
    });
  EpilogueOperands end = epilogue;
  straighten_residual(end);
  Executor& executor =
      place_gemm(options.backend, {a.storage->type(), options.math, c.rows, c.cols, logical_cols(a)}, {&a, &b, &c});
  if (executor.capabilities().host_memory) return multiply_on(executor, alpha, a, b, beta, c, options, end);
  multiply_on_device(executor, alpha, a, b, beta, c, options, end);
  if (c.storage->borrowed()) c.storage->host_read(); // the owner reads the memory, not the view
} catch (const std::bad_alloc& error) {
  throw_out_of_memory(error);
}

void gemm(std::span<Executor* const> executors, double alpha, const Operand& a, const Operand& b, double beta,
          const Operand& c, const GemmOptions& options) try {
  const Uncancelled whole;
  const ContractArithmetic contract;
  check_no_backend(options);
  check_executors(executors);
  if (const std::string why = product_mismatch(a, b, c); !why.empty()) throw InvalidArgument("gemm: " + why);
  if (c.rows == 0 || c.cols == 0) return;
  with_straight_c(a, b, c, {}, [&](const auto& x, const auto& y, const auto& z, const auto& none) {
    multiply_streamed(executors, alpha, x, y, beta, z, options, none);
  });
} catch (const std::bad_alloc& error) {
  throw_out_of_memory(error);
}

void gemm_raw(const GemmCall& call, const GemmOptions& options) try {
  Executor& executor = place_gemm(options.backend, {call.type, options.math, call.m, call.n, call.k}, {});
  if (executor.capabilities().host_memory) // the operands are in its memory; it checks the call
    return throw_if_failed(executor.gemm(executor.default_queue(), call, options.kernel));
  const Uncancelled whole;
  const ContractArithmetic contract;
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
  EpilogueOperands end{.activation = call.epilogue.activation};
  if (call.epilogue.bias_per != BiasPer::None) {
    end.bias =
        wrap_host(const_cast<void*>(call.epilogue.bias), call.epilogue.bias_per == BiasPer::Row ? call.m : call.n, 1,
                  call.epilogue.bias_step, call.result);
    if (call.epilogue.bias_per == BiasPer::Column) end.bias->op = Op::Transpose;
  }
  if (call.epilogue.residual != nullptr)
    end.residual =
        wrap_host(const_cast<void*>(call.epilogue.residual), call.m, call.n, call.epilogue.ld_residual, call.result);
  gemm(call.alpha, a, b, call.beta, c, options, end);
} catch (const std::bad_alloc& error) {
  throw_out_of_memory(error);
}

} // namespace tessera::detail
