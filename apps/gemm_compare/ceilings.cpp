#include "ceilings.hpp"

#include <algorithm>

#include <tessera/status.hpp>

namespace tessera::compare_app {
namespace {

double bytes_moved(const Result& result) {
  const double m = static_cast<double>(result.shape.m);
  const double n = static_cast<double>(result.shape.n);
  const double k = static_cast<double>(result.shape.k);
  const double elements = result.operation == Operation::Gemm ? m * k + k * n + (result.beta != 0 ? 2 : 1) * m * n : n;
  return elements * static_cast<double>(size_of(result.type));
}

/// The better of two measurements: whatever disturbs one only makes it smaller.
Ceilings measure(Executor& executor, const Result& result) {
  Ceilings best;
  for (int i = 0; i < 2; ++i) {
    Ceilings once;
    if (!executor.measure_ceilings(result.type, result.math, result.threads, once).ok()) return {};
    best.flops = std::max(best.flops, once.flops);
    best.bytes_per_second = std::max(best.bytes_per_second, once.bytes_per_second);
  }
  return best;
}

} // namespace

double CeilingTable::percent(Executor& executor, const Result& result, double seconds) {
  const auto key = std::tuple(result.backend, result.type, result.math, result.threads);
  auto at = measured_.find(key);
  if (at == measured_.end()) {
    at = measured_.emplace(key, measure(executor, result)).first;
  }
  const Ceilings& ceilings = at->second;
  double shortest = 0;
  if (ceilings.flops > 0) shortest = operations(result) / ceilings.flops;
  if (ceilings.bytes_per_second > 0) shortest = std::max(shortest, bytes_moved(result) / ceilings.bytes_per_second);
  return shortest > 0 && seconds > 0 ? 100 * shortest / seconds : unknown;
}

} // namespace tessera::compare_app
