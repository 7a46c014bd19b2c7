/// ?trsm and ?trmm: op(T)·X = alpha·B or X·op(T) = alpha·B, and B := alpha·op(T)·B or alpha·B·op(T).

#include <tessera/linear_algebra/triangular.hpp>

#include "call.hpp"

namespace tessera::blas {
namespace {

enum class Purpose { Solve, Multiply };

template <class T>
struct Triangular {
  Purpose task;
  std::optional<Side> side;
  std::optional<Triangle> triangle;
  std::optional<Op> op;
  std::optional<Diagonal> diagonal;
  Index m, n;
  T alpha;
  const T* a;
  Index lda;
  T* b;
  Index ldb;

  Index order() const { return *side == Side::Left ? m : n; }
  int wrong() const {
    if (!side) return 1;
    if (!triangle) return 2;
    if (!op) return 3;
    if (!diagonal) return 4;
    return m < 0 ? 5 : n < 0 ? 6 : lda < std::max<Index>(1, order()) ? 9 : ldb < std::max<Index>(1, m) ? 11 : 0;
  }
  void run(const Routine& routine) const {
    const Index count = *side == Side::Left ? n : m;
    compute(routine, {order(), count}, [&](const SolveOptions& options, detail::Shortage shortage) {
      detail::TriangularCall<T> call =
          by_columns<T>(*side, {*triangle, *op, *diagonal, order(), a, lda}, count, b, ldb);
      call.alpha = alpha;
      task == Purpose::Solve ? detail::triangular_solve(call, options, shortage)
                             : detail::triangular_multiply(call, options, shortage);
    });
  }
};

template <class T>
void triangular(const Routine& routine, Purpose task, const char* side, const char* uplo, const char* trans,
                const char* diag, const blas_int* m, const blas_int* n, const T* alpha, const T* a, const blas_int* lda,
                T* b, const blas_int* ldb) {
  const Integers value(routine);
  const Triangular<T> call{task,
                           parse_side(*side),
                           parse_triangle(*uplo),
                           parse_op<T>(*trans),
                           parse_diagonal(*diag),
                           value(m),
                           value(n),
                           *alpha,
                           a,
                           value(lda),
                           b,
                           value(ldb)};
  run_fortran(routine, call, side, uplo, trans, diag, m, n, alpha, a, lda, b, ldb, letter, letter, letter, letter);
}

template <class T>
void cblas_triangular(const Routine& routine, Purpose task, int layout, int side, int uplo, int trans, int diag,
                      blas_word m, blas_word n, Passed<T> alpha, Read<T> a, blas_word lda, Written<T> b,
                      blas_word ldb) {
  const CblasCall call(routine, layout, side, uplo, trans, diag, m, n, alpha, a, lda, b, ldb);
  if (call.refuses_words({side_word(2, side), uplo_word(3, uplo), trans_word(4, trans), diag_word(5, diag)})) return;
  const Integers value(routine);
  const bool rows = call.is_by_rows();
  run_cblas(call,
            Triangular<T>{task, call.side(side), call.triangle(uplo), op_of<T>(trans),
                          diag == unit ? Diagonal::Unit : Diagonal::Stored, value(rows ? n : m), value(rows ? m : n),
                          number<T>(alpha), static_cast<const T*>(a), value(lda), static_cast<T*>(b), value(ldb)});
}

} // namespace
} // namespace tessera::blas

#define TESSERA_TRIANGULAR(T, x, X, name, NAME, task)                                                                 \
  TESSERA_BLAS_API void TESSERA_BLAS_NAME(x##name##_)(                                                                \
      const char* side, const char* uplo, const char* trans, const char* diag, const blas_int* m, const blas_int* n,  \
      const T* alpha, const T* a, const blas_int* lda, T* b, const blas_int* ldb) {                                   \
    tessera::blas::triangular<T>(TESSERA_BLAS_ROUTINE(#X NAME, x##name##_), tessera::blas::Purpose::task, side, uplo, \
                                 trans, diag, m, n, alpha, a, lda, b, ldb);                                           \
  }                                                                                                                   \
  TESSERA_BLAS_API void TESSERA_BLAS_NAME(cblas_##x##name)(                                                           \
      int layout, int side, int uplo, int trans, int diag, blas_word m, blas_word n, tessera::blas::Passed<T> alpha,  \
      tessera::blas::Read<T> a, blas_word lda, tessera::blas::Written<T> b, blas_word ldb) {                          \
    tessera::blas::cblas_triangular<T>(TESSERA_BLAS_ROUTINE("cblas_" #x #name, cblas_##x##name),                      \
                                       tessera::blas::Purpose::task, layout, side, uplo, trans, diag, m, n, alpha, a, \
                                       lda, b, ldb);                                                                  \
  }                                                                                                                   \
  TESSERA_BLAS_SCIPY_NAME(x##name##_);                                                                                \
  TESSERA_BLAS_SCIPY_NAME(cblas_##x##name);

extern "C" {

TESSERA_TRIANGULAR(float, s, S, trsm, "TRSM ", Solve)
TESSERA_TRIANGULAR(double, d, D, trsm, "TRSM ", Solve)
TESSERA_TRIANGULAR(std::complex<float>, c, C, trsm, "TRSM ", Solve)
TESSERA_TRIANGULAR(std::complex<double>, z, Z, trsm, "TRSM ", Solve)
TESSERA_TRIANGULAR(float, s, S, trmm, "TRMM ", Multiply)
TESSERA_TRIANGULAR(double, d, D, trmm, "TRMM ", Multiply)
TESSERA_TRIANGULAR(std::complex<float>, c, C, trmm, "TRMM ", Multiply)
TESSERA_TRIANGULAR(std::complex<double>, z, Z, trmm, "TRMM ", Multiply)
}
