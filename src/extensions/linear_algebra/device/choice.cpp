#include "choice.hpp"

#include <algorithm>

#include <tessera/backend/kernel.hpp>

#include "core/placement/placement.hpp"

namespace tessera::linear_algebra::device {

namespace {

Executor* device_for_product(const SolveOptions& options, DType type, GemmShape shape,
                             std::initializer_list<const detail::Operand*> all, bool is_complex) {
  if (is_complex) { // a complex product is a real one
    shape.n *= 2;
    shape.k *= 2;
  }
  shape.k = std::min(shape.k, canonical_segment);
  Executor& chosen = place_gemm(options.backend, {type, Math::Strict, shape}, all);
  return chosen.capabilities().has_panels ? &chosen : nullptr;
}

} // namespace

Executor* device_of(const SolveOptions& options, GemmShape shape, std::initializer_list<const detail::Operand*> all,
                    bool are_complex) {
  return device_for_product(options, (*all.begin())->storage->type(), shape, all, are_complex);
}

Executor* device_of(const SolveOptions& options, DType type, GemmShape shape, bool are_complex) {
  return device_for_product(options, type, shape, {}, are_complex);
}

} // namespace tessera::linear_algebra::device
