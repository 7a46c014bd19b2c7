#include "blas/product.hpp"

#include <cstdio>
#include <cstdlib>

namespace tessera::blas {
namespace {

/// TESSERA_BACKEND; auto if it is unset or empty.
GemmOptions options_of_environment() {
  GemmOptions options;
  if (const char* word = std::getenv("TESSERA_BACKEND"); word != nullptr && *word != '\0')
    options.backend = parse_backend(word);
  return options;
}

template <class Call>
void multiply_or_abort(const char* routine, const Call& call) noexcept try {
  static const GemmOptions options = options_of_environment();
  detail::gemm_raw(call, options);
} catch (const std::exception& error) {
  std::fprintf(stderr, "tessera: %s: %s\n", routine, error.what());
  std::abort();
}

} // namespace

void multiply(const char* routine, const GemmCall& call) noexcept { multiply_or_abort(routine, call); }
void multiply(const char* routine, const ComplexGemmCall& call) noexcept { multiply_or_abort(routine, call); }

} // namespace tessera::blas
