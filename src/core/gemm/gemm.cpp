/// The whole path of a product: it is checked, an executor is chosen, stale operands are brought to its memory, and a
/// kernel of its ladder runs. A product that a device cannot hold goes through it in parts (beyond_memory.hpp).

#include <tessera/detail/uncancelled.hpp>
#include <tessera/gemm.hpp>

#include <list>
#include <optional>
#include <span>
#include <vector>

#include <tessera/backend.hpp>
#include <tessera/backend/out_of_memory.hpp>
#include <tessera/detail/floating_point.hpp>

#include "beyond_memory.hpp"
#include "check_gemm.hpp"
#include "core/backends/default_backend.hpp"
#include "core/matrix/operand.hpp"
#include "core/placement/placement.hpp"
#include "placed_call.hpp"
#include "transposed_result.hpp"
#include "verified.hpp"

namespace tessera::detail {
namespace {

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
  DeviceHold holds_a(a, executor), holds_b(b, executor);
  std::list<DeviceHold> of_epilogue; // allocates nothing where there is no epilogue
  const Placed on_a = holds_a.read();
  const Placed on_b = holds_b.read();
  const Placed on_c = write_on(c, executor, beta == 0.0);
  GemmCall call = placed_call(alpha, {a, on_a}, {b, on_b}, beta, {c, on_c}, options);
  call.epilogue =
      placed_epilogue(epilogue, c, [&](const Operand& x) { return of_epilogue.emplace_back(x, executor).read(); });
  if (options.verify == Verify::None)
    throw_if_failed(executor.gemm(executor.default_queue(), call, options.kernel));
  else
    gemm_verified(executor, call, options);
  written_on(c, executor);
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
    gemm_beyond_memory(only, alpha, a, b, beta, c, options, epilogue);
  }
}

} // namespace

Executor& place_verified(const GemmOptions& options) {
  const bool named = options.backend != Backend::Auto || backend_of_environment() != Backend::Auto;
  Executor& chosen = named ? executor(options.backend) : place_elementwise({});
  if (!chosen.capabilities().host_memory)
    throw KernelRejected("gemm: options.verify is " + std::string(to_string(options.verify)) + ", but backend " +
                         std::string(to_string(chosen.capabilities().backend)) +
                         " computes in a device's memory, where products cannot verify themselves yet; name a backend "
                         "of the host, or check() the result");
  return chosen;
}

void gemm(double alpha, const Operand& a, const Operand& b, double beta, const Operand& c, const GemmOptions& options,
          const EpilogueOperands& epilogue) try {
  const Uncancelled whole;
  const ContractArithmetic contract;
  if (const std::string why = product_mismatch(a, b, c); !why.empty()) throw InvalidArgument("gemm: " + why);
  check_epilogue(epilogue, c);
  if (c.op == Op::Transpose)
    return with_untransposed_c(a, b, c, epilogue, [&](const auto& x, const auto& y, const auto& z, const auto& end) {
      gemm(alpha, x, y, beta, z, options, end);
    });
  EpilogueOperands end = epilogue;
  straighten_residual(end);
  Executor& executor =
      options.verify != Verify::None
          ? place_verified(options)
          : place_gemm(options.backend,
                       {a.storage->type(), options.math, {.m = c.rows, .n = c.cols, .k = logical_cols(a)}},
                       {&a, &b, &c});
  if (executor.capabilities().host_memory) return multiply_on(executor, alpha, a, b, beta, c, options, end);
  multiply_on_device(executor, alpha, a, b, beta, c, options, end);
  if (c.storage->borrowed()) c.storage->host_read(); // the owner reads the memory, not the view
} catch (const std::bad_alloc& error) {
  throw_out_of_memory(error);
}

void gemm_raw(const GemmCall& call, const GemmOptions& options) try {
  if (options.verify != Verify::None) {
    const Uncancelled whole;
    const ContractArithmetic contract;
    return gemm_verified(place_verified(options), call, options);
  }
  Executor& executor = place_gemm(options.backend, {call.type, options.math, call.shape()}, {});
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
