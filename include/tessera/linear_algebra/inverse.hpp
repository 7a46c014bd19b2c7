#pragma once

/// Inverses in place, by factors that are there: what the drop-in's trtri, lauum, potri and getri compute.
///
/// Matrices are row-major in the caller's host memory, f32, f64 or complex numbers of either. A triangle that is not
/// named is neither read nor written. The bits depend on the matrix alone: not on the backend, the threads or the
/// processor (docs/contract.md, "Inverses"). Nothing is checked; a diagonal's zeros divide.
///
/// Errors: BackendUnavailable, OutOfMemory.
///
/// Source: Du Croz and Higham, "Stability of methods for matrix inversion" (1992): their method B is LAPACK's getri.

#include <tessera/linear_algebra/lu.hpp>

#include <tessera/detail/macros_off.hpp>

namespace tessera::detail {

/// Replaces a triangle, n×n, by its inverse. n³/3 operations, four times as many with complex numbers.
template <class T>
TESSERA_API void invert_triangle(Triangle triangle, Diagonal diagonal, Index n, T* a, Index lda,
                                 const SolveOptions& options, Shortage shortage = {});

/// Replaces an upper triangle U by that triangle of U·Uᴴ, or a lower one L by that triangle of Lᴴ·L. Imaginary parts of
/// the diagonal are taken as 0, and become +0. n³/3 operations, four times as many with complex numbers.
template <class T>
TESSERA_API void multiply_by_transpose(Triangle triangle, Index n, T* a, Index lda, const SolveOptions& options,
                                       Shortage shortage = {});

/// Replaces the factors that factor_lu() left, n×n, by the inverse of the matrix: inv(U), then the X of X·L = inv(U),
/// then the columns back in their order. `stored` says whether the memory holds A or Aᵀ. `work` has n numbers, for slow
/// loops where the memory is short. 4/3·n³ operations, four
/// times as many with complex numbers.
template <class T>
TESSERA_API void invert_by_lu(Op stored, Index n, T* a, Index lda, RowNumbers pivots, T* work,
                              const SolveOptions& options, Shortage shortage = {});

} // namespace tessera::detail

#include <tessera/detail/macros_on.hpp>
