#pragma once

/// Givens rotations: the BLAS's rotg and rotmg. Each is a fixed sequence of operations, written in rotations.cpp.

#include "strided.hpp"

namespace tessera::vectors {

/// Finds c and s with [[c, s], [−s, c]]·(a, b) = (r, 0), |c|² + |s|² = 1. a becomes r; b becomes the number z from
/// which c and s can be found again. Nothing overflows unless r does.
///
/// Source: E. Anderson, "Algorithm 978: safe scaling in the level 1 BLAS", ACM TOMS 44 (2017), for signs and cases.
template <class R>
TESSERA_API void rotg(R& a, R& b, R& c, R& s) noexcept;
/// The rotation of complex a and b, with a real c: [[c, s], [−conj(s), c]]. b is left as it is.
template <class R>
TESSERA_API void rotg(ComplexNumber<R>& a, const ComplexNumber<R>& b, R& c, ComplexNumber<R>& s) noexcept;

/// The matrix H of a modified rotation in the BLAS's form: param[0] says which of h11, h21, h12, h22 (param[1] to
/// param[4]) have been written.
template <class R>
TESSERA_API void rotmg(R& d1, R& d2, R& x1, R y1, R* param) noexcept;

} // namespace tessera::vectors
