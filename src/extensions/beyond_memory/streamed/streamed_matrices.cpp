/// Products of matrices whose parts go through the memory of executors: one that a device cannot hold, and one on
/// several executors.

#include <tessera/beyond_memory/many_executors.hpp>
#include <tessera/detail/uncancelled.hpp>

#include <new>
#include <span>
#include <string>

#include <tessera/backend/out_of_memory.hpp>
#include <tessera/detail/floating_point.hpp>

#include "core/gemm/beyond_memory.hpp"
#include "core/gemm/check_gemm.hpp"
#include "core/gemm/placed_call.hpp"
#include "core/gemm/transposed_result.hpp"
#include "core/matrix/operand.hpp"
#include "core/placement/placement.hpp"
#include "streamed_gemm.hpp"

namespace tessera::detail {
namespace {

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

} // namespace

void gemm_beyond_memory(std::span<Executor* const> executors, double alpha, const Operand& a, const Operand& b,
                        double beta, const Operand& c, const GemmOptions& options, const EpilogueOperands& epilogue) {
  c.storage->host_write(); // views of C have no elements any more
  c.storage->leave_device();
  const DType result = c.storage->type();
  Executor& host = place_elementwise({});
  const bool has_epilogue = epilogue.bias || epilogue.residual || epilogue.activation != Activation::None;
  if (is_16_bit(result) && has_epilogue) { // C is rounded once, at the end
    const Operand wide{create_storage(c.rows, c.cols, DType::F32), 0, 0, c.rows, c.cols, Op::None};
    if (beta != 0.0) copy(c, wide);
    gemm_beyond_memory(executors, alpha, a, b, beta, wide, options, {});
    return apply_epilogue_at_home(host, wide, epilogue, c, options.threads);
  }
  if (has_epilogue) {
    gemm_beyond_memory(executors, alpha, a, b, beta, c, options, {});
    return apply_epilogue_at_home(host, c, epilogue, c, options.threads);
  }
  const Placed home_a = at_home(a), home_b = at_home(b), home_c = at_home(c);
  const GemmCall call = placed_call(alpha, {a, home_a}, {b, home_b}, beta, {c, home_c}, options);
  throw_if_failed(streamed_gemm(executors, call, options.kernel));
}

void gemm(std::span<Executor* const> executors, double alpha, const Operand& a, const Operand& b, double beta,
          const Operand& c, const GemmOptions& options) try {
  const Uncancelled whole;
  const ContractArithmetic contract;
  check_no_backend(options);
  check_executors(executors);
  if (const std::string why = product_mismatch(a, b, c); !why.empty()) throw InvalidArgument("gemm: " + why);
  if (c.rows == 0 || c.cols == 0) return;
  with_untransposed_c(a, b, c, {}, [&](const auto& x, const auto& y, const auto& z, const auto& none) {
    gemm_beyond_memory(executors, alpha, x, y, beta, z, options, none);
  });
} catch (const std::bad_alloc& error) {
  throw_out_of_memory(error);
}

} // namespace tessera::detail
