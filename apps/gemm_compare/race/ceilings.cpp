#include "ceilings.hpp"

#include <algorithm>

namespace tessera::compare_app {
namespace {

double elements(const Result& result, double times_c) {
  const double m = static_cast<double>(result.shape.m);
  const double n = static_cast<double>(result.shape.n);
  const double k = static_cast<double>(result.shape.k);
  return result.operation == Operation::Gemm ? m * k + k * n + times_c * m * n : n;
}

/// Bandwidth of the nearest cache that holds all operands, or of memory.
double bandwidth_for(const apps::CeilingRow& ceiling, const Result& result) {
  return ceiling.bandwidth_of(elements(result, 1) * static_cast<double>(size_of(result.type)));
}

double percent(const apps::CeilingRow& ceiling, const Result& result, double seconds) {
  const double size = static_cast<double>(size_of(result.type));
  const double bandwidth = bandwidth_for(ceiling, result);
  double shortest = 0;
  if (ceiling.flops > 0 && is_element_type(result.type)) shortest = operations(result) / ceiling.flops;
  if (bandwidth > 0) shortest = std::max(shortest, elements(result, result.beta != 0 ? 2 : 1) * size / bandwidth);
  return shortest > 0 && seconds > 0 ? 100 * shortest / seconds : unknown;
}

} // namespace

double ceiling_percent(apps::CeilingTable& ceilings, const Result& result, double seconds) {
  if (result.backend == Backend::Reference) return unknown; // a yardstick for errors, not for speed
  // Ceilings are of element types. Whole numbers move as many bytes as f32, and only the bandwidth counts for them.
  const DType type = is_element_type(result.type) ? result.type : DType::F32;
  const double first = percent(ceilings.find(result.backend, type, result.math, result.threads), result, seconds);
  if (!(first > 100)) return first;
  return percent(ceilings.find_again(result.backend, type, result.math, result.threads), result, seconds);
}

double model_seconds(apps::CeilingTable& ceilings, const Result& result, const GemmTraffic& traffic) {
  if (result.backend == Backend::Reference) return unknown;
  const apps::CeilingRow ceiling = ceilings.find(result.backend, result.type, result.math, result.threads);
  const double bandwidth = bandwidth_for(ceiling, result);
  if (!(ceiling.flops > 0) || !(bandwidth > 0)) return unknown;
  return std::max(traffic.operations / ceiling.flops, traffic.bytes / bandwidth);
}

} // namespace tessera::compare_app
