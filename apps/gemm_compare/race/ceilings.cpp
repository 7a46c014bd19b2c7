#include "ceilings.hpp"

#include <algorithm>

namespace tessera::compare_app {
namespace {

double elements(const Result& result, double times_c) {
  const double m = static_cast<double>(result.m);
  const double n = static_cast<double>(result.n);
  const double k = static_cast<double>(result.k);
  return result.operation == Operation::Gemm ? m * k + k * n + times_c * m * n : n;
}

/// Bytes of all operands.
double stored_bytes(const Result& result) {
  if (result.stored_bytes > 0) return result.stored_bytes;
  return elements(result, 1) * static_cast<double>(size_of(result.type));
}

/// Bytes that have to be moved if each operand is moved once.
double moved_bytes(const Result& result) {
  if (result.bytes > 0) return result.bytes;
  return elements(result, result.beta != 0 ? 2 : 1) * static_cast<double>(size_of(result.type));
}

/// Bandwidth of the nearest cache that holds all operands, or of memory.
double bandwidth_for(const apps::CeilingEntry& ceiling, const Result& result) {
  return ceiling.bandwidth_of(stored_bytes(result));
}

double percent(const apps::CeilingEntry& ceiling, const Result& result, double seconds) {
  const double bandwidth = bandwidth_for(ceiling, result);
  double shortest = 0;
  if (ceiling.flops > 0 && is_element_type(result.type)) shortest = operations(result) / ceiling.flops;
  if (bandwidth > 0) shortest = std::max(shortest, moved_bytes(result) / bandwidth);
  return shortest > 0 && seconds > 0 ? 100 * shortest / seconds : unknown;
}

/// The type whose ceilings count. Ceilings are of element types; only the bandwidth counts for whole numbers.
DType ceiling_type(const Result& result) { return is_element_type(result.type) ? result.type : DType::F32; }

} // namespace

double ceiling_percent(apps::CeilingTable& ceilings, const Result& result, double seconds) {
  if (result.backend == Backend::Reference) return unknown; // a yardstick for errors, not for speed
  const DType type = ceiling_type(result);
  const double first = percent(ceilings.find(result.backend, type, result.math, result.threads), result, seconds);
  if (!(first > 100)) return first;
  return percent(ceilings.find_again(result.backend, type, result.math, result.threads), result, seconds);
}

double bandwidth_ceiling(apps::CeilingTable& ceilings, const Result& result) {
  if (result.backend == Backend::Reference) return unknown;
  const double bandwidth =
      bandwidth_for(ceilings.find(result.backend, ceiling_type(result), result.math, result.threads), result);
  return bandwidth > 0 ? bandwidth * 1e-9 : unknown;
}

double model_seconds(apps::CeilingTable& ceilings, const Result& result, const GemmTraffic& traffic) {
  if (result.backend == Backend::Reference) return unknown;
  const apps::CeilingEntry ceiling = ceilings.find(result.backend, result.type, result.math, result.threads);
  const double bandwidth = bandwidth_for(ceiling, result);
  if (!(ceiling.flops > 0) || !(bandwidth > 0)) return unknown;
  return std::max(traffic.operations / ceiling.flops, traffic.bytes / bandwidth);
}

} // namespace tessera::compare_app
