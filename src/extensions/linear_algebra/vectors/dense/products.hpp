#pragma once

/// Products and triangular systems of dense matrices by the loops of dense.hpp: general matrices, and triangles with or
/// without gaps between columns. Each function returns false, and does nothing, where it does not take the call; the
/// loops of groups.hpp take any. The bits are equal.

#include "extensions/linear_algebra/vectors/matrix_vector.hpp"

namespace tessera::vectors {

#define TESSERA_DENSE_PRODUCTS(N)                                                                                     \
  /** Elements begin … end − 1 of y := alpha·op(A)·x + beta·y, which are at most most_chains. */               \
  bool multiply_dense(const Columns<const N>& a, Form form, const N& alpha, const Strided<const N>& x, const N& beta, \
                      const Strided<N>& y, Index begin, Index end) noexcept;                                          \
  bool multiply_dense(const Symmetric<N>& a, const N& alpha, const Strided<const N>& x, const N& beta,                \
                      const Strided<N>& y) noexcept;                                                                  \
  bool multiply_dense_triangle(const Columns<const N>& t, Half half, Form form, const Strided<N>& x) noexcept;        \
  bool solve_dense_triangle(const Columns<const N>& t, Half half, Form form, const Strided<N>& x) noexcept;
TESSERA_DENSE_PRODUCTS(float)
TESSERA_DENSE_PRODUCTS(double)
TESSERA_DENSE_PRODUCTS(ComplexNumber<float>)
TESSERA_DENSE_PRODUCTS(ComplexNumber<double>)
#undef TESSERA_DENSE_PRODUCTS

} // namespace tessera::vectors
