/// strsm_ and dtrsm_ of the BLAS, and strtrs_ and dtrtrs_ of LAPACK: triangular systems.

#include "solve.hpp"

#include <tessera/detail/floating_point.hpp>

namespace tessera::blas {
namespace {

/// B := alpha·B, for columns of column-major or rows of row-major matrices. Zeros take no NaN from B.
template <class T>
void scale(Index lines, Index length, T alpha, T* b, Index ldb) {
  if (alpha == 1) return;
  const detail::ContractArithmetic contract;
  for (Index j = 0; j < lines; ++j)
    for (Index i = 0; i < length; ++i) b[j * ldb + i] = alpha == 0 ? T(0) : alpha * b[j * ldb + i];
}

/// What trsm says of a system, once each letter is known.
struct System {
  std::optional<Side> side;
  std::optional<Triangle> triangle;
  std::optional<Op> op;
  std::optional<Diagonal> diagonal;

  /// Returns the position of the first letter that is wrong, as Fortran counts; 0: none.
  int wrong() const { return !side ? 1 : !triangle ? 2 : !op ? 3 : !diagonal ? 4 : 0; }
};

/// Returns the position of the first wrong size, as Fortran counts; 0: none. B is m×n, column-major.
int wrong_size(Side side, Index m, Index n, Index lda, Index ldb) {
  const Index order = side == Side::Left ? m : n;
  return m < 0 ? 5 : n < 0 ? 6 : lda < std::max<Index>(1, order) ? 9 : ldb < std::max<Index>(1, m) ? 11 : 0;
}

/// Solves the column-major system.
template <class T>
void solve(const Routine& routine, const System& system, Index m, Index n, T alpha, const T* a, Index lda, T* b,
           Index ldb) {
  const Index order = *system.side == Side::Left ? m : n, count = *system.side == Side::Left ? n : m;
  compute(routine, {order, count}, [&](const SolveOptions& options, detail::Shortage shortage) {
    scale(n, m, alpha, b, ldb);
    if (alpha == 0 || m == 0 || n == 0) return;
    const ColumnTriangle<T> triangle{*system.triangle, *system.op, *system.diagonal, order, a, lda};
    detail::triangular_solve(by_columns<T>(*system.side, triangle, count, b, ldb), options, shortage);
  });
}

template <class T>
void trsm(const Routine& routine, const char* side, const char* uplo, const char* trans, const char* diag,
          const blas_int* m_, const blas_int* n_, const T* alpha, const T* a, const blas_int* lda_, T* b,
          const blas_int* ldb_) {
  const Integers value(routine);
  const System system{parse_side(*side), parse_triangle(*uplo), parse_op<T>(*trans), parse_diagonal(*diag)};
  const Index m = value(m_), n = value(n_), lda = value(lda_), ldb = value(ldb_);
  int wrong = system.wrong();
  if (wrong == 0) wrong = wrong_size(*system.side, m, n, lda, ldb);
  if (wrong == 0) return solve(routine, system, m, n, *alpha, a, lda, b, ldb);
  if (!hand_on(routine, side, uplo, trans, diag, m_, n_, alpha, a, lda_, b, ldb_, letter, letter, letter, letter))
    report_fortran(routine, wrong);
}

template <class T>
void cblas_trsm(const Routine& routine, int layout, int side, int uplo, int trans, int diag, blas_word m_word,
                blas_word n_word, T alpha, const T* a, blas_word lda_word, T* b, blas_word ldb_word) {
  const Integers value(routine);
  const Index m = value(m_word), n = value(n_word), lda = value(lda_word), ldb = value(ldb_word);
  const bool rows = layout == row_major;
  const auto refuse = [&](int position, const char* form, auto text) {
    if (hand_on(routine, layout, side, uplo, trans, diag, m_word, n_word, alpha, a, lda_word, b, ldb_word)) return;
    tell_row_major(rows);
    report_cblas(routine, position, form, text);
    tell_row_major(false);
  };
  if (layout != row_major && layout != col_major) return refuse(1, "Illegal layout setting, %d\n", layout);
  if (side != left_side && side != right_side) return refuse(2, "Illegal Side setting, %d\n", side);
  if (uplo != upper && uplo != lower) return refuse(3, "Illegal Uplo setting, %d\n", uplo);
  if (!known(trans)) return refuse(4, "Illegal Trans setting, %d\n", trans);
  if (diag != non_unit && diag != unit) return refuse(5, "Illegal Diag setting, %d\n", diag);
  System system{side == left_side ? Side::Left : Side::Right, uplo == lower ? Triangle::Lower : Triangle::Upper,
                op_of<T>(trans), diag == unit ? Diagonal::Unit : Diagonal::Stored};
  if (rows) system = {other(*system.side), other(*system.triangle), system.op, system.diagonal};
  // A row-major system is checked and solved as the column-major one of its transpose.
  const Index column_m = rows ? n : m, column_n = rows ? m : n;
  if (const int wrong = wrong_size(*system.side, column_m, column_n, lda, ldb); wrong != 0)
    return refuse(wrong + 1, "%s", "");
  solve(routine, system, column_m, column_n, alpha, a, lda, b, ldb);
}

template <class T>
void trtrs(const Routine& routine, const char* uplo, const char* trans, const char* diag, const blas_int* n_,
           const blas_int* count_, const T* a, const blas_int* lda_, T* b, const blas_int* ldb_, blas_int* info) {
  const Integers value(routine);
  const System system{Side::Left, parse_triangle(*uplo), parse_op<T>(*trans), parse_diagonal(*diag)};
  const Index n = value(n_), count = value(count_), lda = value(lda_), ldb = value(ldb_);
  const Index least = std::max<Index>(1, n);
  int wrong = system.wrong() - 1; // there is no side
  if (wrong < 0) wrong = n < 0 ? 4 : count < 0 ? 5 : lda < least ? 7 : ldb < least ? 9 : 0;
  if (wrong != 0)
    return refuse_lapack(routine, wrong, info, uplo, trans, diag, n_, count_, a, lda_, b, ldb_, info, letter, letter,
                         letter);
  value.set(info, 0);
  if (*system.diagonal == Diagonal::Stored)
    for (Index i = 0; i < n; ++i)
      if (a[i * lda + i] == 0) return value.set(info, i + 1); // B stays as it was
  solve(routine, system, n, count, T(1), a, lda, b, ldb);
}

} // namespace
} // namespace tessera::blas

extern "C" {

TESSERA_BLAS_API void TESSERA_BLAS_NAME(strsm_)(const char* side, const char* uplo, const char* trans, const char* diag,
                                                const blas_int* m, const blas_int* n, const float* alpha,
                                                const float* a, const blas_int* lda, float* b, const blas_int* ldb) {
  tessera::blas::trsm(TESSERA_BLAS_ROUTINE("STRSM ", strsm_), side, uplo, trans, diag, m, n, alpha, a, lda, b, ldb);
}
TESSERA_BLAS_API void TESSERA_BLAS_NAME(dtrsm_)(const char* side, const char* uplo, const char* trans, const char* diag,
                                                const blas_int* m, const blas_int* n, const double* alpha,
                                                const double* a, const blas_int* lda, double* b, const blas_int* ldb) {
  tessera::blas::trsm(TESSERA_BLAS_ROUTINE("DTRSM ", dtrsm_), side, uplo, trans, diag, m, n, alpha, a, lda, b, ldb);
}

TESSERA_BLAS_API void TESSERA_BLAS_NAME(cblas_strsm)(int layout, int side, int uplo, int trans, int diag, blas_word m,
                                                     blas_word n, float alpha, const float* a, blas_word lda, float* b,
                                                     blas_word ldb) {
  tessera::blas::cblas_trsm(TESSERA_BLAS_ROUTINE("cblas_strsm", cblas_strsm), layout, side, uplo, trans, diag, m, n,
                            alpha, a, lda, b, ldb);
}
TESSERA_BLAS_API void TESSERA_BLAS_NAME(cblas_dtrsm)(int layout, int side, int uplo, int trans, int diag, blas_word m,
                                                     blas_word n, double alpha, const double* a, blas_word lda,
                                                     double* b, blas_word ldb) {
  tessera::blas::cblas_trsm(TESSERA_BLAS_ROUTINE("cblas_dtrsm", cblas_dtrsm), layout, side, uplo, trans, diag, m, n,
                            alpha, a, lda, b, ldb);
}

TESSERA_BLAS_API void TESSERA_BLAS_NAME(strtrs_)(const char* uplo, const char* trans, const char* diag,
                                                 const blas_int* n, const blas_int* nrhs, const float* a,
                                                 const blas_int* lda, float* b, const blas_int* ldb, blas_int* info) {
  tessera::blas::trtrs(TESSERA_BLAS_ROUTINE("STRTRS", strtrs_), uplo, trans, diag, n, nrhs, a, lda, b, ldb, info);
}
TESSERA_BLAS_API void TESSERA_BLAS_NAME(dtrtrs_)(const char* uplo, const char* trans, const char* diag,
                                                 const blas_int* n, const blas_int* nrhs, const double* a,
                                                 const blas_int* lda, double* b, const blas_int* ldb, blas_int* info) {
  tessera::blas::trtrs(TESSERA_BLAS_ROUTINE("DTRTRS", dtrtrs_), uplo, trans, diag, n, nrhs, a, lda, b, ldb, info);
}

TESSERA_BLAS_SCIPY_NAME(strsm_);
TESSERA_BLAS_SCIPY_NAME(dtrsm_);
TESSERA_BLAS_SCIPY_NAME(cblas_strsm);
TESSERA_BLAS_SCIPY_NAME(cblas_dtrsm);
TESSERA_BLAS_SCIPY_NAME(strtrs_);
TESSERA_BLAS_SCIPY_NAME(dtrtrs_);
}
