/// ?gecon, ?pocon and ?trcon of LAPACK: estimates of reciprocal condition numbers. Neither norms nor solutions overflow
/// or underflow on the way, so that the work arrays are not needed. gecon leaves in its own what LAPACK's does for
/// other routines of LAPACK.

#include <tessera/linear_algebra/condition.hpp>

#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>
#include <type_traits>

#include "extensions/linear_algebra/condition/solution.hpp"
#include "solve.hpp"

namespace tessera::blas {
namespace {

/// The type of a number's parts.
template <class T>
using Part = decltype(std::real(T()));

/// Questions about a number that raise no exception in the caller's floating-point state.
template <class P>
bool is_nan(P x) {
  using Bits = std::conditional_t<sizeof(P) == 4, std::uint32_t, std::uint64_t>;
  return std::bit_cast<Bits>(x) << 1 > std::bit_cast<Bits>(std::numeric_limits<P>::infinity()) << 1;
}
template <class P>
bool is_negative(P x) {
  return std::signbit(x) && !detail::is_exact_zero(x) && !is_nan(x);
}

/// Is it a number? By its bits, because a comparison may trap.
template <class P>
bool is_finite(P x) {
  using Bits = std::conditional_t<sizeof(P) == 4, std::uint32_t, std::uint64_t>;
  return std::bit_cast<Bits>(x) << 1 < std::bit_cast<Bits>(std::numeric_limits<P>::infinity()) << 1;
}

/// Parses the norm's letter: true is the one of rows.
std::optional<bool> parse_norm(char letter) {
  if (letter == '1' || letter == 'O' || letter == 'o') return false;
  if (letter == 'I' || letter == 'i') return true;
  return std::nullopt;
}

/// Returns one triangle's step of a system with a column-major matrix.
template <class T>
detail::TriangularCall<T> step(Triangle triangle, Op op, Diagonal diagonal, Index n, const T* a, Index lda) {
  return by_columns<T>(Side::Left, {triangle, op, diagonal, n, a, lda}, 1, nullptr, n);
}

/// Computes the reciprocal of norm()·‖A⁻¹‖, in the norm of columns or of rows, and `solution` if it is wanted.
template <class T, class Norm>
void estimate(const Routine& routine, const detail::FactoredSystem<T>& system, const Norm& norm, bool of_rows,
              Part<T>& rcond, T* solution = nullptr) {
  compute(routine, {system.triangles[0].n, 1}, [&](const SolveOptions&, detail::Shortage) {
    const detail::ScaledNumber inverse = detail::norm_of_inverse_with_solution(system, of_rows, solution);
    rcond = detail::reciprocal_condition_of<Part<T>>(norm(), inverse);
  });
}

/// Sets rcond where no system is to be solved, and returns whether it did: a factor's zero makes A singular.
template <class T>
bool is_known(Index n, const T* a, Index lda, Diagonal diagonal, Part<T>& rcond) {
  rcond = static_cast<Part<T>>(n == 0 ? 1 : 0);
  return n == 0 || (diagonal == Diagonal::Stored && first_zero(n, a, lda) != 0);
}

template <class T>
void gecon(const Routine& routine, const char* norm, const blas_int* n_, const T* a, const blas_int* lda_,
           const Part<T>* size, Part<T>* rcond, T* work, void* more, blas_int* info) {
  const Integers value(routine);
  const std::optional<bool> of_rows = parse_norm(*norm);
  const Index n = value(n_), lda = value(lda_);
  const int wrong = !of_rows ? 1 : n < 0 ? 2 : lda < std::max<Index>(1, n) ? 4 : is_negative(*size) ? 5 : 0;
  if (wrong != 0) return refuse_lapack(routine, wrong, info, norm, n_, a, lda_, size, rcond, work, more, info, letter);
  value.set(info, 0);
  if (n > 0 && !is_finite(*size)) {
    *rcond = is_nan(*size) ? *size : Part<T>(0);
    return value.set(info, -5);
  }
  if (!is_known(n, a, lda, Diagonal::Stored, *rcond) && !detail::is_exact_zero(*size))
    estimate<T>(
        routine,
        {{step(Triangle::Lower, Op::None, Diagonal::Unit, n, a, lda),
          step(Triangle::Upper, Op::None, Diagonal::Stored, n, a, lda)},
         2},
        [&] {
          return detail::ScaledNumber{detail::exact_double(*size), 0};
        },
        *of_rows, *rcond, work + n); // LAPACK's latdf, below tgsyl and tgsen, goes on with it as a near null vector
  if (is_nan(*rcond)) value.set(info, 1);
}

template <class T>
void pocon(const Routine& routine, const char* uplo, const blas_int* n_, const T* a, const blas_int* lda_,
           const Part<T>* size, Part<T>* rcond, T* work, void* more, blas_int* info) {
  const Integers value(routine);
  const std::optional<Triangle> triangle = parse_triangle(*uplo);
  const Index n = value(n_), lda = value(lda_);
  const int wrong_before = wrong_of_triangle(triangle, n, lda),
            wrong = wrong_before == 0 && is_negative(*size) ? 5 : wrong_before;
  if (wrong != 0) return refuse_lapack(routine, wrong, info, uplo, n_, a, lda_, size, rcond, work, more, info, letter);
  value.set(info, 0);
  if (is_known(n, a, lda, Diagonal::Stored, *rcond) || detail::is_exact_zero(*size)) return;
  const Op turned = Element<T>::conjugate_transpose;
  const bool lower = *triangle == Triangle::Lower;
  estimate<T>(
      routine,
      {{step(*triangle, lower ? Op::None : turned, Diagonal::Stored, n, a, lda),
        step(*triangle, lower ? turned : Op::None, Diagonal::Stored, n, a, lda)},
       2},
      [&] {
        return detail::ScaledNumber{detail::exact_double(*size), 0};
      },
      false, *rcond);
}

template <class T>
void trcon(const Routine& routine, const char* norm, const char* uplo, const char* diag, const blas_int* n_, const T* a,
           const blas_int* lda_, Part<T>* rcond, T* work, void* more, blas_int* info) {
  const Integers value(routine);
  const std::optional<bool> of_rows = parse_norm(*norm);
  const std::optional<Triangle> triangle = parse_triangle(*uplo);
  const std::optional<Diagonal> diagonal = parse_diagonal(*diag);
  const Index n = value(n_), lda = value(lda_);
  const int wrong = !of_rows ? 1 : !triangle ? 2 : !diagonal ? 3 : n < 0 ? 4 : lda < std::max<Index>(1, n) ? 6 : 0;
  if (wrong != 0)
    return refuse_lapack(routine, wrong, info, norm, uplo, diag, n_, a, lda_, rcond, work, more, info, letter, letter,
                         letter);
  value.set(info, 0);
  if (is_known(n, a, lda, *diagonal, *rcond)) return;
  // Rows of the column-major triangle are columns of the other triangle by rows.
  const auto size = [&] { return detail::norm_of_triangle(other(*triangle), *diagonal, n, a, lda, !*of_rows); };
  estimate<T>(routine, {{step(*triangle, Op::None, *diagonal, n, a, lda)}, 1}, size, *of_rows, *rcond);
}

} // namespace
} // namespace tessera::blas

// The last array is of integers for real numbers, and of real ones for complex numbers; it is not read here.
#define TESSERA_CONDITIONS(T, P, More, x, X)                                                                           \
  TESSERA_BLAS_API void TESSERA_BLAS_NAME(x##gecon_)(const char* norm, const blas_int* n, const T* a,                  \
                                                     const blas_int* lda, const P* anorm, P* rcond, T* work,           \
                                                     More* more, blas_int* info) {                                     \
    tessera::blas::gecon(TESSERA_BLAS_ROUTINE(X "GECON", x##gecon_), norm, n, a, lda, anorm, rcond, work, more, info); \
  }                                                                                                                    \
  TESSERA_BLAS_API void TESSERA_BLAS_NAME(x##pocon_)(const char* uplo, const blas_int* n, const T* a,                  \
                                                     const blas_int* lda, const P* anorm, P* rcond, T* work,           \
                                                     More* more, blas_int* info) {                                     \
    tessera::blas::pocon(TESSERA_BLAS_ROUTINE(X "POCON", x##pocon_), uplo, n, a, lda, anorm, rcond, work, more, info); \
  }                                                                                                                    \
  TESSERA_BLAS_API void TESSERA_BLAS_NAME(x##trcon_)(const char* norm, const char* uplo, const char* diag,             \
                                                     const blas_int* n, const T* a, const blas_int* lda, P* rcond,     \
                                                     T* work, More* more, blas_int* info) {                            \
    tessera::blas::trcon(TESSERA_BLAS_ROUTINE(X "TRCON", x##trcon_), norm, uplo, diag, n, a, lda, rcond, work, more,   \
                         info);                                                                                        \
  }                                                                                                                    \
  TESSERA_BLAS_SCIPY_NAME(x##gecon_);                                                                                  \
  TESSERA_BLAS_SCIPY_NAME(x##pocon_);                                                                                  \
  TESSERA_BLAS_SCIPY_NAME(x##trcon_);

extern "C" {

TESSERA_CONDITIONS(float, float, blas_int, s, "S")
TESSERA_CONDITIONS(double, double, blas_int, d, "D")
TESSERA_CONDITIONS(std::complex<float>, float, float, c, "C")
TESSERA_CONDITIONS(std::complex<double>, double, double, z, "Z")
}
