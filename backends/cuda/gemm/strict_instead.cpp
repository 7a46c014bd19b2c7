#include <string>

#include <tessera/log.hpp>

#include "strict_fallback.hpp"

namespace tessera::cuda {

Status run_strict_instead(const GemmKernel& row, Executor& executor, Queue& queue, const GemmCall& call) noexcept {
  if (log_dispatch())
    log_line(std::string(row.name) + ": strict takes less time for " + std::to_string(call.m) + "×" +
             std::to_string(call.n) + "×" + std::to_string(call.k));
  GemmCall strict = call;
  strict.math = Math::Strict;
  return executor.gemm(queue, strict);
}

} // namespace tessera::cuda
