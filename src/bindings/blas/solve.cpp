#include "solve.hpp"

#include <cinttypes>
#include <cstdio>

#include <tessera/backend/log.hpp>

#include "core/executor/threads.hpp"
#include "product.hpp"

namespace tessera::blas {

void begin_loudly(const Routine& routine, Sizes sizes) noexcept {
  detail::pass_over_wrong_thread_variables();
  say_unverified(routine.word);
  if (log_dispatch())
    std::fprintf(stderr, "tessera: BLAS: %s n=%" PRId64 " count=%" PRId64 " runs\n", routine.symbol,
                 static_cast<std::int64_t>(sizes.n), static_cast<std::int64_t>(sizes.count));
  else
    calls_are_quiet.store(true, std::memory_order_relaxed);
}

} // namespace tessera::blas
