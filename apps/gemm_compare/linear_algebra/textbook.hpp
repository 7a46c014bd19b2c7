#pragma once

/// The textbook's ways to solve and to factor, as loops by rows on one thread. Each is what its name says and no more.

#include "problem.hpp"

namespace tessera::compare_app::textbook {

/// C := A·Aᵀ in place of A's copy: an element is a row times a row.
template <class T>
void syrk(Index n, const T* a, T* c);

/// L·X = B by forward substitution: each row of X needs the rows before it.
template <class T>
void substitute(Index n, Index count, const T* l, T* x);

/// Cholesky's factor, column by column: a column's elements are sums over all columns before it.
template <class T>
void cholesky_unblocked(Index n, T* a);
/// The same for blocks of columns: a block takes the sums over all columns left of it at once (left-looking) …
template <class T>
void cholesky_left_looking(Index n, T* a);
/// … or each finished block is subtracted from everything right of it (right-looking).
template <class T>
void cholesky_right_looking(Index n, T* a);

/// LU factors with partial pivoting, column by column: a column is eliminated from everything right of it.
template <class T>
void lu_unblocked(Index n, T* a, Index* pivots);
/// The same for blocks of columns: a block is eliminated by itself, and then subtracted as one product.
template <class T>
void lu_right_looking(Index n, T* a, Index* pivots);

/// QR factors, column by column: the reflection that clears a column is applied to everything right of it.
template <class T>
void qr_unblocked(Index n, T* a, T* tau);

} // namespace tessera::compare_app::textbook
