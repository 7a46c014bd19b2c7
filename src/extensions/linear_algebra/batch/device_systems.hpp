#pragma once

/// Batches of systems that a device factors and solves in its own kernels (small_systems.hpp).

#include <optional>
#include <span>
#include <vector>

#include <tessera/detail/storage.hpp>

#include "call.hpp"
#include "extensions/linear_algebra/products.hpp"

namespace tessera::linear_algebra {

/// Brings systems to the device in pieces that fit its memory, computes them there, and brings the results back.
/// Returns how many of the first systems are done: fewer than all where the device does not take such systems, or has
/// no memory. Nothing of the other ones has been written.
template <class T>
Index compute_on_device(const Systems<T>& systems, const Products<T>& products, Executor& device);

/// Solves A·X = B for matrices that are all on one device, and leaves each X there in the place of B. Returns what info
/// would be; nothing, and has written nothing, where a matrix is elsewhere or the device cannot.
/// Operands of complex numbers have the parts, side by side.
std::optional<std::vector<Index>> solve_where_they_are(std::span<const detail::Operand> a,
                                                       std::span<const detail::Operand> x, bool are_complex,
                                                       const SolveOptions& options);

} // namespace tessera::linear_algebra
