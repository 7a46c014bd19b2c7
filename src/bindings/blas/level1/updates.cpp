/// copy, swap, axpy, scal, rot and rotm in both interfaces.

#include "extensions/linear_algebra/vectors/updates.hpp"

#include "vectors.hpp"

namespace tessera::blas {
namespace {

template <class N, class Word>
void copy(const Routine& routine, Word n_, const N* x, Word incx, N* y, Word incy) {
  const Arguments value(routine);
  const Index n = value.size(n_);
  if (n > 0) vectors::copy<N>(stored(x, n, value(incx)), stored(y, n, value(incy)));
}

template <class N, class Word>
void swap(const Routine& routine, Word n_, N* x, Word incx, N* y, Word incy) {
  const Arguments value(routine);
  const Index n = value.size(n_);
  if (n > 0) vectors::swap<N>(stored(x, n, value(incx)), stored(y, n, value(incy)));
}

template <class N, class Word>
void axpy(const Routine& routine, Word n_, const N& alpha, const N* x, Word incx, N* y, Word incy) {
  const Arguments value(routine);
  const Index n = value.size(n_);
  if (n > 0) vectors::axpy<N>(alpha, stored(x, n, value(incx)), stored(y, n, value(incy)));
}

/// The standard does nothing for steps that are not positive.
template <class N, class Word>
void scal(const Routine& routine, Word n_, const N& alpha, N* x, Word incx) {
  const Arguments value(routine);
  const Index n = value.size(n_), step = value(incx);
  if (n > 0 && step > 0) vectors::scal<N>(alpha, {x, n, step});
}

template <class N, class Word>
void transform(const Routine& routine, Word n_, N* x, Word incx, N* y, Word incy,
               const vectors::PairMatrix<RealOf<N>>& matrix) {
  const Arguments value(routine);
  const Index n = value.size(n_);
  if (n > 0) vectors::transform<N>(matrix, stored(x, n, value(incx)), stored(y, n, value(incy)));
}

template <class N, class Word>
void rot(const Routine& routine, Word n, N* x, Word incx, N* y, Word incy, RealOf<N> c, RealOf<N> s) {
  transform<N>(routine, n, x, incx, y, incy, {c, s, -s, c});
}

/// The flag in param[0] says which numbers of the matrix are 1, −1 or 0.
template <class R, class Word>
void rotm(const Routine& routine, Word n, R* x, Word incx, R* y, Word incy, const R* param) {
  const R flag = param[0], h11 = param[1], h21 = param[2], h12 = param[3], h22 = param[4];
  if (flag == -2) return;
  const bool whole = flag < 0, unit_diagonal = flag == 0;
  if (whole) return transform<R>(routine, n, x, incx, y, incy, {h11, h12, h21, h22});
  if (unit_diagonal) return transform<R>(routine, n, x, incx, y, incy, {1, h12, h21, 1});
  transform<R>(routine, n, x, incx, y, incy, {h11, 1, -1, h22});
}

} // namespace
} // namespace tessera::blas

#define TESSERA_FROM_TO(I, N) (I n, const N* x, I incx, N* y, I incy)
#define TESSERA_TWO_WRITTEN(I, N) (I n, N * x, I incx, N * y, I incy)

#define TESSERA_OF_NUMBERS(N, s)                                                                         \
  TESSERA_BLAS_BOTH(void, s##copy, TESSERA_FROM_TO, N, copy<N>(routine, n, x, incx, y, incy))            \
  TESSERA_BLAS_BOTH(void, s##swap, TESSERA_TWO_WRITTEN, N, swap<N>(routine, n, x, incx, y, incy))        \
  TESSERA_BLAS_EXPORT(                                                                                   \
      void, s##axpy_,                                                                                    \
      (const blas_int* n, const N* alpha, const N* x, const blas_int* incx, N* y, const blas_int* incy), \
      axpy<N>(routine, n, *alpha, x, incx, y, incy))                                                     \
  TESSERA_BLAS_EXPORT(void, cblas_##s##axpy,                                                             \
                      (blas_word n, ByValue<N> alpha, const N* x, blas_word incx, N* y, blas_word incy), \
                      axpy<N>(routine, n, value_of(alpha), x, incx, y, incy))                            \
  TESSERA_BLAS_EXPORT(void, s##scal_, (const blas_int* n, const N* alpha, N* x, const blas_int* incx),   \
                      scal<N>(routine, n, *alpha, x, incx))                                              \
  TESSERA_BLAS_EXPORT(void, cblas_##s##scal, (blas_word n, ByValue<N> alpha, N * x, blas_word incx),     \
                      scal<N>(routine, n, value_of(alpha), x, incx))

/// Complex vectors and real factors.
#define TESSERA_BY_REAL(N, R, name)                                                                   \
  TESSERA_BLAS_EXPORT(void, name##_, (const blas_int* n, const R* alpha, N* x, const blas_int* incx), \
                      scal<N>(routine, n, N{*alpha, 0}, x, incx))                                     \
  TESSERA_BLAS_EXPORT(void, cblas_##name, (blas_word n, R alpha, N * x, blas_word incx),              \
                      scal<N>(routine, n, N{alpha, 0}, x, incx))

#define TESSERA_ROT(N, R, name)                                                                                  \
  TESSERA_BLAS_EXPORT(                                                                                           \
      void, name##_,                                                                                             \
      (const blas_int* n, N* x, const blas_int* incx, N* y, const blas_int* incy, const R* c, const R* s),       \
      rot<N>(routine, n, x, incx, y, incy, *c, *s))                                                              \
  TESSERA_BLAS_EXPORT(void, cblas_##name, (blas_word n, N * x, blas_word incx, N * y, blas_word incy, R c, R s), \
                      rot<N>(routine, n, x, incx, y, incy, c, s))

#define TESSERA_WITH_PARAM(I, R) (I n, R * x, I incx, R * y, I incy, const R* param)

namespace tessera::blas {
extern "C" {

TESSERA_OF_NUMBERS(float, s)
TESSERA_OF_NUMBERS(double, d)
TESSERA_OF_NUMBERS(ComplexFloat, c)
TESSERA_OF_NUMBERS(ComplexDouble, z)
#undef TESSERA_OF_NUMBERS
TESSERA_BY_REAL(ComplexFloat, float, csscal)
TESSERA_BY_REAL(ComplexDouble, double, zdscal)
TESSERA_ROT(float, float, srot)
TESSERA_ROT(double, double, drot)
TESSERA_ROT(ComplexFloat, float, csrot)
TESSERA_ROT(ComplexDouble, double, zdrot)
TESSERA_BLAS_BOTH(void, srotm, TESSERA_WITH_PARAM, float, rotm<float>(routine, n, x, incx, y, incy, param))
TESSERA_BLAS_BOTH(void, drotm, TESSERA_WITH_PARAM, double, rotm<double>(routine, n, x, incx, y, incy, param))
}
} // namespace tessera::blas
