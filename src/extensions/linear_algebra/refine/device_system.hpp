#pragma once

/// A system that is refined on a device: A stays there, its factors are made there, and so are the products. What is
/// copied has as many columns as there are right-hand sides.

#include <functional>
#include <optional>

#include <tessera/linear_algebra/options.hpp>

#include "system.hpp"

namespace tessera::linear_algebra {

/// Returns what `solve` returns of the system, which has `count` right-hand sides. Says no where no device is to
/// compute it, or the device lacks memory or the steps. `math` is the mode of the factorisation's products.
std::optional<Matrix<double>> with_refined_system(const Matrix<double>& a, Index count, const SolveOptions& options,
                                                  Math math,
                                                  const std::function<Matrix<double>(RefinedSystem<double>&)>& solve);

} // namespace tessera::linear_algebra
