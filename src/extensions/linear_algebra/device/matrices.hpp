#pragma once

/// Factorisations and systems of matrices that a device computes and keeps. Each function says no where the device has
/// no steps of factorisations, or no memory for them: then nothing has changed, and the general way goes on.

#include <optional>
#include <span>

#include <tessera/linear_algebra/condition.hpp>
#include <tessera/linear_algebra/triangular.hpp>

#include "choice.hpp"

namespace tessera::linear_algebra::device {

/// What device::factor_lu() and device::factor_cholesky() (steps.hpp) return, and ‖A‖₁.
struct Factored {
  Index failed = -1;
  detail::ScaledNumber norm;
};
std::optional<Factored> factor_lu(const Whole& a, std::span<Index> pivots, const SolveOptions& options);
std::optional<Factored> factor_cholesky(const Whole& a, const SolveOptions& options);

/// X takes the place of B in op(T)·X = B, or X·op(T) = B.
bool solve(const detail::TriangularForm& form, const Whole& t, const Whole& x, const SolveOptions& options);

/// op(T)·X or X·op(T) takes the place of X.
bool multiply(const detail::TriangularForm& form, const Whole& t, const Whole& x, const SolveOptions& options);

/// Exchanges rows of X: row j and row pivots[j], in ascending or descending j.
bool exchange_rows(std::span<const Index> pivots, bool ascends, const Whole& x, const SolveOptions& options);

} // namespace tessera::linear_algebra::device
