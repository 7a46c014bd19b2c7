#pragma once

/// The textbook's ways to solve and to factor, as loops by rows on one thread: one file a way, and each is what its
/// name says and no more. Matrices are square and row-major. Numbers are float, double, or complex of these.

#include <tessera/types.hpp>

namespace tessera::compare_app::textbook {

/// The columns of a block.
inline constexpr Index block = 64;

/// The lower triangle of C := A·Aᵀ, or of A·Aᴴ.
template <class T>
void symmetric_product(Index n, const T* a, bool conjugates, T* c);

/// X of L·X = B in B's place. X has `count` columns; L is a lower triangle.
template <class T>
void substitution(Index n, Index count, const T* l, T* x);

/// Cholesky's factor in place of A's lower triangle, of `width` columns of a matrix with m rows: the first `width` rows
/// are on the diagonal. Cholesky's factor of a matrix has m = width.
template <class T>
void cholesky_unblocked(Index m, Index width, T* a, Index ld);
template <class T>
void cholesky_left_looking(Index n, T* a);
template <class T>
void cholesky_right_looking(Index n, T* a);

/// LU factors in A's place, of columns first … first + width − 1. Row j changed places with row pivots[j].
template <class T>
void lu_unblocked(Index n, Index first, Index width, T* a, Index* pivots);
template <class T>
void lu_right_looking(Index n, T* a, Index* pivots);

/// QR factors in A's place: R, and below the diagonal the reflections I − tau·v·vᴴ, whose v begin with 1.
template <class T>
void qr_unblocked(Index n, T* a, T* tau);

} // namespace tessera::compare_app::textbook
