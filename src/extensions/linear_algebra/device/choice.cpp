#include "choice.hpp"

#include <algorithm>

#include <tessera/backend/kernel.hpp>
#include <tessera/backend/panel.hpp>

#include "core/placement/placement.hpp"

namespace tessera::linear_algebra::device {

namespace {

GemmShape real_shape(GemmShape shape, bool is_complex) { // a complex product is a real one
  return is_complex ? GemmShape{shape.m, 2 * shape.n, 2 * shape.k} : shape;
}

/// The products of factorisations have a segment of terms.
Executor* device_for_segment(const SolveOptions& options, DType type, GemmShape shape,
                             std::initializer_list<const detail::Operand*> all, bool is_complex) {
  shape = real_shape(shape, is_complex);
  shape.k = std::min(shape.k, canonical_segment);
  Executor& chosen = place_gemm(options.backend, {type, Math::Strict, shape}, all);
  return chosen.capabilities().has_panels ? &chosen : nullptr;
}

} // namespace

Executor* device_of(const SolveOptions& options, GemmShape shape, std::initializer_list<const detail::Operand*> all,
                    bool are_complex) {
  return device_for_segment(options, (*all.begin())->storage->type(), shape, all, are_complex);
}

Executor* device_of(const SolveOptions& options, DType type, GemmShape shape, bool are_complex) {
  return device_for_segment(options, type, shape, {}, are_complex);
}

Executor* device_of_product(const SolveOptions& options, DType type, GemmShape shape, bool are_complex) {
  if (options.backend == Backend::Reference || std::min({shape.m, shape.n, shape.k}) <= most_panel_columns)
    return nullptr;
  Executor& chosen = place_gemm(options.backend, {type, Math::Strict, real_shape(shape, are_complex)}, {});
  return chosen.capabilities().has_panels ? &chosen : nullptr;
}

} // namespace tessera::linear_algebra::device
