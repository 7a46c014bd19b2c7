#include "transfers.hpp"

#include <fmt/format.h>

#include <tessera/status.hpp>

#include "core/measure/repeat.hpp"

namespace tessera::compare_app {

Result pending_transfer(const Result& kernel, Direction direction) {
  Result result = kernel;
  result.kernel = direction == Direction::In ? "copy_in" : "copy_out";
  result.math = Math::Strict;
  result.canonical = false;
  result.transfer = true;
  return result;
}

void time_transfer(Direction direction, const Problem& problem, const Operands& host, const Operands& device,
                   Executor& executor, int repeat, Result& result) {
  const bool in = direction == Direction::In;
  std::vector<std::byte> c(problem.c.bytes());
  measure::Stopwatch watch(executor);
  throw_if_failed(measure::sample(watch, repeat, result.samples, [&](int run) {
    const std::size_t set = static_cast<std::size_t>(run) % device.count();
    in ? device.copy_in(set, host, executor) : device.copy_out(set, executor, c.data());
  }));
  const double bytes =
      static_cast<double>(in ? problem.bytes() - (problem.beta == 0 ? problem.c.bytes() : 0) : problem.c.bytes());
  result.reason = fmt::format("{:.1f} GB/s", bytes / summarize(result.samples).median * 1e-9);
  result.verdict = Verdict::Timed;
}

} // namespace tessera::compare_app
