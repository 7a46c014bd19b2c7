#pragma once

/// QR of matrices that a device computes and keeps. Each function says no where the device has no steps of
/// factorisations, or no memory for them: then nothing has changed, and the general way goes on.

#include <optional>

#include <tessera/detail/storage.hpp>
#include <tessera/linear_algebra/options.hpp>

namespace tessera::linear_algebra::device {

/// Factors A in place. `tau`, 1×min(m, n), takes the reflections' factors. Returns the first column whose element of
/// R's diagonal is 0, or −1.
std::optional<Index> factor_qr(const detail::Operand& a, const detail::Operand& tau, const SolveOptions& options);

/// C becomes Q·C or, transposed, Qᵀ·C, by the factors in one matrix.
bool multiply_q(const detail::Operand& qr, const detail::Operand& tau, bool is_transposed, const detail::Operand& c,
                const SolveOptions& options);

/// Q, m×min(m, n), becomes the first columns of the whole one.
bool form_q(const detail::Operand& qr, const detail::Operand& tau, const detail::Operand& q,
            const SolveOptions& options);

/// Elements below the diagonal become 0, where the newest copy is.
bool clear_lower(const detail::Operand& a);

} // namespace tessera::linear_algebra::device
