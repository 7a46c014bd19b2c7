#pragma once

/// QR of matrices that a device computes and keeps. Each function says no where the device has no steps of
/// factorisations, or no memory for them: then nothing has changed, and the general way goes on.

#include <optional>

#include <tessera/linear_algebra/options.hpp>

#include "choice.hpp"

namespace tessera::linear_algebra::device {

/// Factors A in place. `tau`, 1×min(m, n), takes the reflections' factors. Returns the first column whose element of
/// R's diagonal is 0, or −1.
std::optional<Index> factor_qr(const Whole& a, const Whole& tau, const SolveOptions& options);

/// C becomes Q·C or, transposed, Qᴴ·C, by the factors in one matrix.
bool multiply_q(const Whole& qr, const Whole& tau, bool is_transposed, const Whole& c, const SolveOptions& options);

/// Q, m×min(m, n), becomes the first columns of the whole one.
bool form_q(const Whole& qr, const Whole& tau, const Whole& q, const SolveOptions& options);

/// Elements below the diagonal become 0, where the newest copy is.
bool clear_lower(const Whole& a);

} // namespace tessera::linear_algebra::device
