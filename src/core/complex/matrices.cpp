/// Transposes and products of complex matrices where their newest elements are.

#include <new>

#include <tessera/backend/out_of_memory.hpp>
#include <tessera/complex.hpp>
#include <tessera/detail/floating_point.hpp>
#include <tessera/linear_algebra/complex_matrix.hpp>
#include <tessera/status.hpp>

#include "core/gemm/verified.hpp"
#include "core/matrix/operand.hpp"
#include "core/placement/placement.hpp"

namespace tessera::detail {
namespace {

constexpr Index parts_of_complex = 2; ///< that an operand has as columns for each number

/// Returns a place of parts as one of numbers.
Placed in_complex_numbers(Placed of_parts) { return {of_parts.data, of_parts.ld / parts_of_complex}; }

void turn_complex_on(Executor& executor, const Operand& x, const Operand& z, bool conjugates) {
  const ContractArithmetic contract;
  DeviceHold holds_x(x, executor);
  const Placed from = in_complex_numbers(holds_x.read()), to = in_complex_numbers(write_on(z, executor, true));
  MapCall call;
  call.op = MapOp::CopyComplex;
  call.type = call.x_type = z.storage->type();
  call.rows = z.rows;
  call.cols = z.cols / parts_of_complex;
  call.x = from.data;
  call.ldx = from.ld;
  call.z = to.data;
  call.ldz = to.ld;
  call.op_x = conjugates ? Op::ConjugateTranspose : Op::Transpose;
  throw_if_failed(executor.map(executor.default_queue(), call));
  written_on(z, executor);
}

void multiply_complex_on(Executor& device, const Operand& a, const Operand& b, const Operand& c, ComplexGemmCall call,
                         const GemmOptions& options) {
  DeviceHold holds_a(a, device), holds_b(b, device);
  const Placed on_a = in_complex_numbers(holds_a.read()), on_b = in_complex_numbers(holds_b.read()),
               on_c = in_complex_numbers(write_on(c, device, true));
  call.a = on_a.data;
  call.lda = on_a.ld;
  call.b = on_b.data;
  call.ldb = on_b.ld;
  call.c = on_c.data;
  call.ldc = on_c.ld;
  throw_if_failed(tessera::gemm(device, device.default_queue(), call, options.kernel));
  written_on(c, device);
}

/// Returns the operand's first number in host memory.
const char* complex_numbers_at_home(const Operand& x) {
  const auto* const all = static_cast<const char*>(x.storage->host_read());
  return all + (x.row * x.storage->ld() + x.col) * static_cast<Index>(size_of(x.storage->type()));
}

} // namespace

void turn_complex(const Operand& x, const Operand& z, bool conjugates) try {
  if (!has_elements(z)) return;
  Executor& executor = place_elementwise({&x});
  try {
    return turn_complex_on(executor, x, z, conjugates);
  } catch (const OutOfMemory&) {
    if (executor.capabilities().host_memory) throw;
  }
  x.storage->leave_device();
  turn_complex_on(place_elementwise({}), x, z, conjugates);
} catch (const std::bad_alloc& error) {
  throw_out_of_memory(error);
}

void gemm_complex(const Operand& a, const Operand& b, const Operand& c, const GemmOptions& options) try {
  const ContractArithmetic contract;
  const Index k = a.op == Op::None ? a.cols / parts_of_complex : a.rows;
  ComplexGemmCall call{{.type = c.storage->type(),
                        .math = options.math,
                        .op_a = a.op,
                        .op_b = b.op,
                        .m = c.rows,
                        .n = c.cols / parts_of_complex,
                        .k = k,
                        .alpha = 1.0,
                        .beta = 0.0,
                        .threads = options.threads}};
  Executor& executor =
      options.verify != Verify::None
          ? place_verified(options)
          : place_gemm(
                options.backend,
                {call.type, options.math, {.m = call.m, .n = parts_of_complex * call.n, .k = parts_of_complex * k}},
                {&a, &b});
  if (!executor.capabilities().host_memory) {
    try {
      return multiply_complex_on(executor, a, b, c, call, options);
    } catch (const OutOfMemory&) { // then the product goes there in blocks
      for (const Operand* x : {&a, &b, &c}) x->storage->leave_device();
    }
  }
  call.a = complex_numbers_at_home(a);
  call.lda = a.storage->ld() / parts_of_complex;
  call.b = complex_numbers_at_home(b);
  call.ldb = b.storage->ld() / parts_of_complex;
  call.c = c.storage->host_write();
  call.ldc = c.storage->ld() / parts_of_complex;
  gemm_raw(call, options);
} catch (const std::bad_alloc& error) {
  throw_out_of_memory(error);
}

} // namespace tessera::detail
