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

} // namespace

double CeilingTable::percent(Executor& executor, const Result& result, double seconds) {
  const auto key = std::tuple(result.backend, result.type, result.math, result.threads);
  auto at = measured_.find(key);
  if (at == measured_.end()) {
    Ceilings ceilings;
    if (!executor.measure_ceilings(result.type, result.math, result.threads, ceilings).ok()) ceilings = {};
    at = measured_.emplace(key, ceilings).first;
  }
  const Ceilings& ceilings = at->second;
  double shortest = 0;
  if (ceilings.flops > 0) shortest = operations(result) / ceilings.flops;
  if (ceilings.bytes_per_second > 0) shortest = std::max(shortest, bytes_moved(result) / ceilings.bytes_per_second);
  return shortest > 0 && seconds > 0 ? 100 * shortest / seconds : unknown;
}

} // namespace tessera::compare_app
