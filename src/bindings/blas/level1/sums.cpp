/// dot, dsdot, sdsdot, dotu, dotc, nrm2, asum and i?amax in both interfaces.

#include "extensions/linear_algebra/vectors/sums.hpp"

#include <cstddef>

#include "vectors.hpp"

namespace tessera::blas {
namespace {

template <class N, class Word>
N dot(const Routine& routine, Word n_, const N* x, Word incx, const N* y, Word incy, bool conjugates_x = false) {
  const Arguments value(routine);
  const Index n = value.size(n_);
  if (n <= 0) return N{};
  return vectors::dot<N>(stored(x, n, value(incx)), stored(y, n, value(incy)), conjugates_x);
}

template <class Word>
double dsdot(const Routine& routine, Word n_, const float* x, Word incx, const float* y, Word incy) {
  const Arguments value(routine);
  const Index n = value.size(n_);
  if (n <= 0) return 0;
  return vectors::dot_in_double(stored(x, n, value(incx)), stored(y, n, value(incy)));
}

template <class Word>
float sdsdot(const Routine& routine, Word n_, float b, const float* x, Word incx, const float* y, Word incy) {
  const Arguments value(routine);
  const Index n = value.size(n_);
  if (n <= 0) return b;
  return vectors::dot_rounded_once(b, stored(x, n, value(incx)), stored(y, n, value(incy)));
}

template <class N, class Word>
RealOf<N> nrm2(const Routine& routine, Word n_, const N* x, Word incx) {
  const Arguments value(routine);
  const Index n = value.size(n_);
  if (n <= 0) return 0;
  return vectors::nrm2<N>(stored(x, n, value(incx)));
}

/// The standard gives 0 for steps that are not positive.
template <class N, class Word>
RealOf<N> asum(const Routine& routine, Word n_, const N* x, Word incx) {
  const Arguments value(routine);
  const Index n = value.size(n_), step = value(incx);
  if (n <= 0 || step <= 0) return 0;
  return vectors::asum<N>({x, n, step});
}

/// Returns the place, counted from 0; −1: there is none.
template <class N, class Word>
Index iamax(const Routine& routine, Word n_, const N* x, Word incx) {
  const Arguments value(routine);
  const Index n = value.size(n_), step = value(incx);
  return n <= 0 || step <= 0 ? -1 : vectors::iamax<N>({x, n, step});
}
std::size_t counted_from_0(Index place) { return static_cast<std::size_t>(place < 0 ? 0 : place); }

} // namespace
} // namespace tessera::blas

#define TESSERA_ONE(I, N) (I n, const N* x, I incx)
#define TESSERA_TWO(I, N) (I n, const N* x, I incx, const N* y, I incy)

#define TESSERA_OF_NUMBERS(N, R, letter, norm, sum)                                                                    \
  TESSERA_BLAS_BOTH(R, norm, TESSERA_ONE, N, nrm2<N>(routine, n, x, incx))                                             \
  TESSERA_BLAS_BOTH(R, sum, TESSERA_ONE, N, asum<N>(routine, n, x, incx))                                              \
  TESSERA_BLAS_EXPORT(blas_word, i##letter##amax_, TESSERA_ONE(const blas_int*, N), iamax<N>(routine, n, x, incx) + 1) \
  TESSERA_BLAS_EXPORT(std::size_t, cblas_i##letter##amax, TESSERA_ONE(blas_word, N),                                   \
                      counted_from_0(iamax<N>(routine, n, x, incx)))

/// C receives a complex result by an address, and Fortran by value.
#define TESSERA_COMPLEX_DOT(N, name, conjugates)                                                                     \
  TESSERA_BLAS_EXPORT(N, name##_, TESSERA_TWO(const blas_int*, N), dot<N>(routine, n, x, incx, y, incy, conjugates)) \
  TESSERA_BLAS_EXPORT(void, cblas_##name##_sub,                                                                      \
                      (blas_word n, const N* x, blas_word incx, const N* y, blas_word incy, N* result),              \
                      static_cast<void>(*result = dot<N>(routine, n, x, incx, y, incy, conjugates)))

namespace tessera::blas {
extern "C" {

TESSERA_BLAS_BOTH(float, sdot, TESSERA_TWO, float, dot<float>(routine, n, x, incx, y, incy))
TESSERA_BLAS_BOTH(double, ddot, TESSERA_TWO, double, dot<double>(routine, n, x, incx, y, incy))
TESSERA_BLAS_BOTH(double, dsdot, TESSERA_TWO, float, dsdot(routine, n, x, incx, y, incy))
TESSERA_BLAS_EXPORT(float, sdsdot_,
                    (const blas_int* n, const float* b, const float* x, const blas_int* incx, const float* y,
                     const blas_int* incy),
                    sdsdot(routine, n, *b, x, incx, y, incy))
TESSERA_BLAS_EXPORT(float, cblas_sdsdot,
                    (blas_word n, float b, const float* x, blas_word incx, const float* y, blas_word incy),
                    sdsdot(routine, n, b, x, incx, y, incy))
TESSERA_COMPLEX_DOT(ComplexFloat, cdotu, false)
TESSERA_COMPLEX_DOT(ComplexFloat, cdotc, true)
TESSERA_COMPLEX_DOT(ComplexDouble, zdotu, false)
TESSERA_COMPLEX_DOT(ComplexDouble, zdotc, true)
TESSERA_OF_NUMBERS(float, float, s, snrm2, sasum)
TESSERA_OF_NUMBERS(double, double, d, dnrm2, dasum)
TESSERA_OF_NUMBERS(ComplexFloat, float, c, scnrm2, scasum)
TESSERA_OF_NUMBERS(ComplexDouble, double, z, dznrm2, dzasum)
#undef TESSERA_OF_NUMBERS
}
} // namespace tessera::blas
