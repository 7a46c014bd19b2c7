#include "product.hpp"

#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <memory>

#include "dispatch/threads.hpp"

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

/// Returns the options, which are read once. They are not a static variable's initializer: it may load a plug-in, and
/// the child of a fork in another thread would wait for ever for its end.
const GemmOptions& known_options() {
  static constinit std::atomic<const GemmOptions*> known = nullptr;
  if (const GemmOptions* kept = known.load(std::memory_order_acquire)) return *kept;
  detail::pass_over_wrong_thread_variables();
  auto read = std::make_unique<const GemmOptions>(options_of_environment());
  const GemmOptions* kept = nullptr;
  return known.compare_exchange_strong(kept, read.get(), std::memory_order_acq_rel) ? *read.release() : *kept;
}

/// Calls run(options). Prints the reason of a failure and aborts.
template <class Run>
void run_or_abort(const char* routine, Run run) noexcept try {
  run(known_options());
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
