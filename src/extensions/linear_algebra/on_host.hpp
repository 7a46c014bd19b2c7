#pragma once

/// The functions of caller's memory as the host computes them, with products anywhere. device/caller_memory.cpp and
/// device/caller_products.cpp call them where no device computes all.

#include <tessera/linear_algebra/lu.hpp>
#include <tessera/linear_algebra/symm.hpp>
#include <tessera/linear_algebra/syrk.hpp>
#include <tessera/linear_algebra/triangular.hpp>

namespace tessera::linear_algebra {

/// What the functions of detail with these names do, whose arguments they have.
Index factor_lu_on_host(detail::NumberType type, Op stored, Index m, Index n, void* a, Index lda,
                        detail::RowNumbers pivots, const SolveOptions& options, detail::Shortage shortage);
Index factor_cholesky_on_host(detail::NumberType type, Triangle triangle, Index n, void* a, Index lda,
                              const SolveOptions& options, detail::Shortage shortage);
void factor_qr_on_host(detail::NumberType type, Op stored, Index m, Index n, void* a, Index lda, void* tau,
                       const SolveOptions& options, detail::Shortage shortage);
template <class T>
void solve_triangle_on_host(const detail::TriangularCall<T>& call, const SolveOptions& options,
                            detail::Shortage shortage);

/// What triangular_multiply(), rank_update() and symmetric_multiply() of detail do. The arguments are checked.
template <class T>
void multiply_triangle_on_host(const detail::TriangularCall<T>& call, const SolveOptions& options,
                               detail::Shortage shortage);
template <class T>
void update_on_host(const detail::RankUpdateCall<T>& call, const SolveOptions& options, detail::Shortage shortage);
template <class T>
void multiply_symmetric_on_host(const detail::SymmetricCall<T>& call, const SolveOptions& options,
                                detail::Shortage shortage);

} // namespace tessera::linear_algebra
