/// rotg and rotmg in both interfaces. They have no integers, so that no caller needs to be asked about its own.

#include "extensions/linear_algebra/vectors/rotations.hpp"

#include "vectors.hpp"

namespace tessera::blas {
namespace {

/// Tells the log that a routine without a size runs.
void begin(const Routine& routine) { begin_routine(routine, {1, 1}); }

} // namespace
} // namespace tessera::blas

#define TESSERA_EXPORT_TWICE(name, arguments, call)                     \
  TESSERA_BLAS_EXPORT(void, name##_, arguments, (begin(routine), call)) \
  TESSERA_BLAS_EXPORT(void, cblas_##name, arguments, (begin(routine), call))

#define TESSERA_ROTG(R, s, N, c)                                                                             \
  TESSERA_EXPORT_TWICE(s##rotg, (R * a, R * b, R * cosine, R * sine), vectors::rotg(*a, *b, *cosine, *sine)) \
  TESSERA_EXPORT_TWICE(c##rotg, (N * a, const N* b, R* cosine, N* sine), vectors::rotg(*a, *b, *cosine, *sine))

namespace tessera::blas {
extern "C" {

TESSERA_ROTG(float, s, ComplexFloat, c)
TESSERA_ROTG(double, d, ComplexDouble, z)

// Fortran passes the last coordinate by address, and C by value.
TESSERA_BLAS_EXPORT(void, srotmg_, (float* d1, float* d2, float* x1, const float* y1, float* param),
                    (begin(routine), vectors::rotmg(*d1, *d2, *x1, *y1, param)))
TESSERA_BLAS_EXPORT(void, drotmg_, (double* d1, double* d2, double* x1, const double* y1, double* param),
                    (begin(routine), vectors::rotmg(*d1, *d2, *x1, *y1, param)))
TESSERA_BLAS_EXPORT(void, cblas_srotmg, (float* d1, float* d2, float* x1, float y1, float* param),
                    (begin(routine), vectors::rotmg(*d1, *d2, *x1, y1, param)))
TESSERA_BLAS_EXPORT(void, cblas_drotmg, (double* d1, double* d2, double* x1, double y1, double* param),
                    (begin(routine), vectors::rotmg(*d1, *d2, *x1, y1, param)))
}
} // namespace tessera::blas
