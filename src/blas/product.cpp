#include "product.hpp"

#include <cstdio>
#include <cstdlib>

#include <tessera/detail/printable.hpp>

namespace tessera::blas {
namespace {

/// Reads TESSERA_BACKEND; the backend is auto if it is unset or empty.
GemmOptions options_of_environment() {
  GemmOptions options;
  if (const char* word = std::getenv("TESSERA_BACKEND"); word != nullptr && *word != '\0')
    options.backend = parse_backend(word);
  return options;
}

/// Calls run(options). Prints the reason of a failure and aborts.
template <class Run>
void run_or_abort(const char* routine, Run run) noexcept try {
  static const GemmOptions options = options_of_environment();
  run(options);
} catch (const std::exception& error) {
  std::fprintf(stderr, "tessera: %s: %s\n", routine, detail::printable(error.what(), true).c_str());
  std::abort();
}

} // namespace

void multiply(const char* routine, const GemmCall& call) noexcept {
  run_or_abort(routine, [&](const GemmOptions& options) { detail::gemm_raw(call, options); });
}
void multiply(const char* routine, const ComplexGemmCall& call) noexcept {
  run_or_abort(routine, [&](const GemmOptions& options) { detail::gemm_raw(call, options); });
}
void multiply(const char* routine, std::span<const GemmBatch> groups) noexcept {
  run_or_abort(routine, [&](const GemmOptions& options) { detail::gemm_batch_raw(groups, options); });
}

} // namespace tessera::blas
