/// The product of matrices in a queue.

#include <new>
#include <string>

#include <tessera/backend/out_of_memory.hpp>
#include <tessera/detail/floating_point.hpp>
#include <tessera/detail/uncancelled.hpp>
#include <tessera/queue.hpp>
#include <tessera/status.hpp>

#include "check_gemm.hpp"
#include "core/matrix/operand.hpp"
#include "core/matrix/queued_work.hpp"
#include "placed_call.hpp"

namespace tessera::detail {

void gemm(ExecutionQueue& queue, double alpha, const Operand& a, const Operand& b, double beta, const Operand& c,
          const GemmOptions& options) try {
  const Uncancelled whole;
  const ContractArithmetic contract;
  check_unverified(options, "a product in a queue");
  Executor& executor = queue.executor();
  const Backend own = executor.capabilities().backend;
  if (options.backend != Backend::Auto && options.backend != own)
    throw InvalidArgument("gemm: options name backend " + std::string(to_string(options.backend)) +
                          ", but the queue is of backend " + std::string(to_string(own)) +
                          "; name no backend, or make a queue of that one");
  if (const std::string why = product_mismatch(a, b, c); !why.empty()) throw InvalidArgument("gemm: " + why);
  if (c.op == Op::Transpose) { // Cᵀ = Bᵀ·Aᵀ has the bits of A·B
    const auto flipped = [](Operand x) {
      x.op = x.op == Op::None ? Op::Transpose : Op::None;
      return x;
    };
    return gemm(queue, alpha, flipped(b), flipped(a), beta, flipped(c), options);
  }
  QueuedWork work(queue);
  const Placed on_a = work.read(a), on_b = work.read(b), on_c = work.write(c, beta == 0.0);
  const GemmCall call = placed_call(alpha, {a, on_a}, {b, on_b}, beta, {c, on_c}, options);
  throw_if_failed(executor.gemm(queue.queue(), call, options.kernel));
  work.done();
} catch (const std::bad_alloc& error) {
  throw_out_of_memory(error);
}

} // namespace tessera::detail
