#include "choice.hpp"

#include <algorithm>

#include <tessera/backend/kernel.hpp>

#include "core/placement/placement.hpp"

namespace tessera::linear_algebra::device {

Executor* device_of(const SolveOptions& options, GemmShape shape, std::initializer_list<const detail::Operand*> all) {
  const DType type = (*all.begin())->storage->type();
  shape.k = std::min(shape.k, canonical_segment);
  Executor& chosen = place_gemm(options.backend, {type, Math::Strict, shape}, all);
  return chosen.capabilities().has_panels ? &chosen : nullptr;
}

} // namespace tessera::linear_algebra::device
