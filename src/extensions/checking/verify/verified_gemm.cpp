/// The core's entry for products that verify themselves: refusals, and what tools and counters hear.

#include "core/gemm/verified.hpp"

#include <new>
#include <string>

#include <tessera/backend/out_of_memory.hpp>

#include "core/tools/describe.hpp"
#include "core/tools/listeners.hpp"
#include "verified_product.hpp"

namespace tessera::detail {
namespace {

VerifyCounts verify_and_multiply(Executor& executor, const GemmCall& call, const GemmOptions& options,
                                 const GemmKernel& kernel, const ResultPlace& place) {
  return visit_scalar(call.type, [&]<class T>(std::type_identity<T>) {
    return verify::VerifiedProduct<T>(executor, call, options, kernel, place).run();
  });
}

} // namespace

void gemm_verified(Executor& executor, const GemmCall& call, const GemmOptions& options, const ResultPlace& place) try {
  throw_if_failed(check_gemm(call));
  const GemmKernel* kernel = nullptr;
  throw_if_failed(executor.choose_kernel(call, options.kernel, kernel));
  if (!call.epilogue.empty())
    throw InvalidArgument("gemm: options.verify is " + std::string(to_string(options.verify)) +
                          ", but the product has an epilogue, which is not verified; multiply without it, or check() "
                          "the result");
  if (call.m == 0 || call.n == 0) return;
  if (!tools::anyone_listens()) return count_verified(verify_and_multiply(executor, call, options, *kernel, place));
  tools::Observation observation(
      tools::describe_verified(executor, executor.default_queue(), call, tools::Kind::Verify));
  try {
    count_verified(verify_and_multiply(executor, call, options, *kernel, place));
  } catch (const Error& error) {
    observation.end(error.code());
    throw;
  }
  observation.end(StatusCode::Ok);
} catch (const std::bad_alloc& error) {
  throw_out_of_memory(error);
}

} // namespace tessera::detail
