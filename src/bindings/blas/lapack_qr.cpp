/// LAPACK's QR factorisation: geqrf, orgqr, ormqr and their unblocked forms; with complex numbers ungqr, unmqr and
/// theirs. LAPACK's name for a routine that needs less memory is another name of the same routine here: `work` is not
/// used but for its length.

#include <tessera/linear_algebra/qr.hpp>

#include <algorithm>

#include "solve.hpp"

namespace tessera::blas {
namespace {

/// The work memory of a caller: none is needed, and LAPACK's least is what is asked for.
template <class T>
struct Work {
  T* memory;
  Index length, least;

  /// Does the caller ask for the length alone?
  bool is_query() const { return length == -1; }
  bool is_short() const { return !is_query() && length < least; }
  void tell() const { tell_length(memory, least); }
};

template <class T>
detail::Reflections reflections(Index m, Index k, const T* a, Index lda, const T* tau) {
  return {.type = detail::number_type_of<T>, .stored = Op::Transpose, .m = m, .k = k, .v = a, .ldv = lda, .tau = tau};
}

int wrong_of_geqrf(Index m, Index n, Index lda) { return m < 0 ? 1 : n < 0 ? 2 : lda < std::max<Index>(1, m) ? 4 : 0; }
int wrong_of_orgqr(Index m, Index n, Index k, Index lda) {
  return m < 0 ? 1 : n < 0 || n > m ? 2 : k < 0 || k > n ? 3 : lda < std::max<Index>(1, m) ? 5 : 0;
}

template <class T>
void factor(const Routine& routine, Index m, Index n, T* a, Index lda, T* tau) {
  if (m == 0 || n == 0) return;
  compute(routine, {m, n}, [&](const SolveOptions& options, detail::Shortage shortage) {
    detail::factor_qr(detail::number_type_of<T>, Op::Transpose, m, n, a, lda, tau, options, shortage);
  });
}

template <class T>
void geqrf(const Routine& routine, const blas_int* m_, const blas_int* n_, T* a, const blas_int* lda_, T* tau, T* work,
           const blas_int* length_, blas_int* info) {
  const Integers value(routine);
  const Index m = value(m_), n = value(n_), lda = value(lda_);
  const Work<T> memory{work, value(length_), std::min(m, n) > 0 ? n : 1};
  int wrong = wrong_of_geqrf(m, n, lda);
  if (wrong == 0 && memory.is_short()) wrong = 7;
  if (wrong != 0) return refuse_lapack(routine, wrong, info, m_, n_, a, lda_, tau, work, length_, info);
  value.set(info, 0);
  if (!memory.is_query()) factor(routine, m, n, a, lda, tau);
  memory.tell();
}

template <class T>
void geqr2(const Routine& routine, const blas_int* m_, const blas_int* n_, T* a, const blas_int* lda_, T* tau, T* work,
           blas_int* info) {
  const Integers value(routine);
  const Index m = value(m_), n = value(n_), lda = value(lda_);
  const int wrong = wrong_of_geqrf(m, n, lda);
  if (wrong != 0) return refuse_lapack(routine, wrong, info, m_, n_, a, lda_, tau, work, info);
  value.set(info, 0);
  factor(routine, m, n, a, lda, tau);
}

template <class T>
void form(const Routine& routine, Index m, Index n, Index k, T* a, Index lda, const T* tau) {
  if (n == 0) return;
  compute(routine, {m, n}, [&](const SolveOptions& options, detail::Shortage shortage) {
    detail::form_q(detail::number_type_of<T>, Op::Transpose, m, n, k, a, lda, tau, options, shortage);
  });
}

template <class T>
void orgqr(const Routine& routine, const blas_int* m_, const blas_int* n_, const blas_int* k_, T* a,
           const blas_int* lda_, const T* tau, T* work, const blas_int* length_, blas_int* info) {
  const Integers value(routine);
  const Index m = value(m_), n = value(n_), k = value(k_), lda = value(lda_);
  const Work<T> memory{work, value(length_), std::max<Index>(1, n)};
  int wrong = wrong_of_orgqr(m, n, k, lda);
  if (wrong == 0 && memory.is_short()) wrong = 8;
  if (wrong != 0) return refuse_lapack(routine, wrong, info, m_, n_, k_, a, lda_, tau, work, length_, info);
  value.set(info, 0);
  if (!memory.is_query()) form(routine, m, n, k, a, lda, tau);
  memory.tell();
}

template <class T>
void org2r(const Routine& routine, const blas_int* m_, const blas_int* n_, const blas_int* k_, T* a,
           const blas_int* lda_, const T* tau, T* work, blas_int* info) {
  const Integers value(routine);
  const Index m = value(m_), n = value(n_), k = value(k_), lda = value(lda_);
  const int wrong = wrong_of_orgqr(m, n, k, lda);
  if (wrong != 0) return refuse_lapack(routine, wrong, info, m_, n_, k_, a, lda_, tau, work, info);
  value.set(info, 0);
  form(routine, m, n, k, a, lda, tau);
}

/// A product op(Q)·C or C·op(Q), where C is rows×cols, as its caller describes it.
template <class T>
struct ProductWithQ {
  std::optional<Side> side;
  std::optional<Op> op;
  Index rows, cols;
  Index count; ///< of the reflections
  const T* a;
  Index lda;
  const T* tau;
  T* c;
  Index ldc;

  Index order() const { return side == Side::Left ? rows : cols; } ///< of Q
  Index length() const { return std::max<Index>(1, side == Side::Left ? cols : rows); }
  int wrong() const {
    if (!side) return 1;
    if (!op) return 2;
    return rows < 0                            ? 3
           : cols < 0                          ? 4
           : count < 0 || count > order()      ? 5
           : lda < std::max<Index>(1, order()) ? 7
           : ldc < std::max<Index>(1, rows)    ? 10
                                               : 0;
  }
  /// The rows that a reflection changes, from the first on: where all have zeros Q is the identity. LAPACK does not
  /// touch C beyond them, so that callers may have no memory there: ARPACK in SciPy 1.17 has none.
  Index changed() const {
    Index last = 0;
    for (Index j = 0; j < count; ++j) {
      if (detail::is_exact_zero(tau[j])) continue;
      Index end = order();
      while (end > std::max(last, j + 1) && detail::is_exact_zero(a[j * lda + end - 1])) --end;
      last = std::max({last, j + 1, end});
    }
    return last;
  }

  /// C·op(Q) is the conjugate transpose of op(Q)ᴴ·Cᴴ, and the memory of C holds Cᵀ by rows.
  void run(const Routine& routine) const {
    if (rows == 0 || cols == 0) return;
    const bool left = side == Side::Left;
    if (const Index some = changed(); some < order()) { // the rest of C stays as it is
      if (some == 0) return;
      ProductWithQ part = *this;
      (left ? part.rows : part.cols) = some;
      part.count = std::min(count, some);
      return part.run(routine);
    }
    const Op applied = left == (*op == Op::None) ? Op::None : Op::Transpose;
    compute(routine, {rows, cols}, [&](const SolveOptions& options, detail::Shortage shortage) {
      if (!left) conjugate_columns(rows, cols, c, ldc);
      detail::multiply_q(reflections(order(), count, a, lda, tau), applied, left ? Op::Transpose : Op::None,
                         left ? cols : rows, c, ldc, options, shortage);
      if (!left) conjugate_columns(rows, cols, c, ldc);
    });
  }
};

template <class T>
void ormqr(const Routine& routine, const char* side, const char* trans, const blas_int* m_, const blas_int* n_,
           const blas_int* k_, const T* a, const blas_int* lda_, const T* tau, T* c, const blas_int* ldc_, T* work,
           const blas_int* length_, blas_int* info) {
  const Integers value(routine);
  const ProductWithQ<T> product{
      parse_side(*side), parse_turned<T>(*trans), value(m_), value(n_), value(k_), a, value(lda_), tau, c, value(ldc_)};
  const Work<T> memory{work, value(length_), product.length()};
  int wrong = product.wrong();
  if (wrong == 0 && memory.is_short()) wrong = 12;
  if (wrong != 0)
    return refuse_lapack(routine, wrong, info, side, trans, m_, n_, k_, a, lda_, tau, c, ldc_, work, length_, info,
                         letter, letter);
  value.set(info, 0);
  if (!memory.is_query()) product.run(routine);
  memory.tell();
}

template <class T>
void orm2r(const Routine& routine, const char* side, const char* trans, const blas_int* m_, const blas_int* n_,
           const blas_int* k_, const T* a, const blas_int* lda_, const T* tau, T* c, const blas_int* ldc_, T* work,
           blas_int* info) {
  const Integers value(routine);
  const ProductWithQ<T> product{
      parse_side(*side), parse_turned<T>(*trans), value(m_), value(n_), value(k_), a, value(lda_), tau, c, value(ldc_)};
  if (const int wrong = product.wrong(); wrong != 0)
    return refuse_lapack(routine, wrong, info, side, trans, m_, n_, k_, a, lda_, tau, c, ldc_, work, info, letter,
                         letter);
  value.set(info, 0);
  product.run(routine);
}

} // namespace
} // namespace tessera::blas

#define TESSERA_QR(T, x, X, q, Q)                                                                                     \
  TESSERA_BLAS_API void TESSERA_BLAS_NAME(x##geqrf_)(const blas_int* m, const blas_int* n, T* a, const blas_int* lda, \
                                                     T* tau, T* work, const blas_int* lwork, blas_int* info) {        \
    tessera::blas::geqrf(TESSERA_BLAS_ROUTINE(#X "GEQRF", x##geqrf_), m, n, a, lda, tau, work, lwork, info);          \
  }                                                                                                                   \
  TESSERA_BLAS_API void TESSERA_BLAS_NAME(x##geqr2_)(const blas_int* m, const blas_int* n, T* a, const blas_int* lda, \
                                                     T* tau, T* work, blas_int* info) {                               \
    tessera::blas::geqr2(TESSERA_BLAS_ROUTINE(#X "GEQR2", x##geqr2_), m, n, a, lda, tau, work, info);                 \
  }                                                                                                                   \
  TESSERA_BLAS_API void TESSERA_BLAS_NAME(x##q##gqr_)(const blas_int* m, const blas_int* n, const blas_int* k, T* a,  \
                                                      const blas_int* lda, const T* tau, T* work,                     \
                                                      const blas_int* lwork, blas_int* info) {                        \
    tessera::blas::orgqr(TESSERA_BLAS_ROUTINE(#X #Q "GQR", x##q##gqr_), m, n, k, a, lda, tau, work, lwork, info);     \
  }                                                                                                                   \
  TESSERA_BLAS_API void TESSERA_BLAS_NAME(x##q##g2r_)(const blas_int* m, const blas_int* n, const blas_int* k, T* a,  \
                                                      const blas_int* lda, const T* tau, T* work, blas_int* info) {   \
    tessera::blas::org2r(TESSERA_BLAS_ROUTINE(#X #Q "G2R", x##q##g2r_), m, n, k, a, lda, tau, work, info);            \
  }                                                                                                                   \
  TESSERA_BLAS_API void TESSERA_BLAS_NAME(x##q##mqr_)(                                                                \
      const char* side, const char* trans, const blas_int* m, const blas_int* n, const blas_int* k, const T* a,       \
      const blas_int* lda, const T* tau, T* c, const blas_int* ldc, T* work, const blas_int* lwork, blas_int* info) { \
    tessera::blas::ormqr(TESSERA_BLAS_ROUTINE(#X #Q "MQR", x##q##mqr_), side, trans, m, n, k, a, lda, tau, c, ldc,    \
                         work, lwork, info);                                                                          \
  }                                                                                                                   \
  TESSERA_BLAS_API void TESSERA_BLAS_NAME(x##q##m2r_)(                                                                \
      const char* side, const char* trans, const blas_int* m, const blas_int* n, const blas_int* k, const T* a,       \
      const blas_int* lda, const T* tau, T* c, const blas_int* ldc, T* work, blas_int* info) {                        \
    tessera::blas::orm2r(TESSERA_BLAS_ROUTINE(#X #Q "M2R", x##q##m2r_), side, trans, m, n, k, a, lda, tau, c, ldc,    \
                         work, info);                                                                                 \
  }                                                                                                                   \
  TESSERA_BLAS_SCIPY_NAME(x##geqrf_);                                                                                 \
  TESSERA_BLAS_SCIPY_NAME(x##geqr2_);                                                                                 \
  TESSERA_BLAS_SCIPY_NAME(x##q##gqr_);                                                                                \
  TESSERA_BLAS_SCIPY_NAME(x##q##g2r_);                                                                                \
  TESSERA_BLAS_SCIPY_NAME(x##q##mqr_);                                                                                \
  TESSERA_BLAS_SCIPY_NAME(x##q##m2r_);

extern "C" {

TESSERA_QR(float, s, S, or, OR)
TESSERA_QR(double, d, D, or, OR)
TESSERA_QR(std::complex<float>, c, C, un, UN)
TESSERA_QR(std::complex<double>, z, Z, un, UN)
}
