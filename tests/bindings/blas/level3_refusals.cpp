/// Wrong arguments of level 3: the handlers of the program hear of the standard's position, and results stay as they
/// were. Exit status: failed checks.

#include "level3.hpp"

namespace tessera::test {
namespace {

/// What a call of each family has; each wrong call changes one of them.
struct Arguments {
  const char *side = "L", *uplo = "U", *trans_a = "N", *diag = "N";
  int layout = col_major, side_word = left_side, uplo_word = upper, trans_word = no_trans, diag_word = non_unit;
  blas_int m = 4, n = 3, k = 5, lda = 6, ldb = 6, ldc = 6;
};

template <class T>
class Refusals {
 public:
  /// Calls the routine with wrong arguments, and compares what the handler heard.
  template <class Call>
  void expect(const char* format, int expected, const Arguments& wrong, const Call& call) {
    call(wrong);
    char name[32], type = Blas<T>::type;
    if (format[0] == '%') type = static_cast<char>(type - 'a' + 'A'); // Fortran's
    std::snprintf(name, sizeof name, format, type);
    must_refuse(name, expected);
  }

  template <class Routine, class CblasRoutine>
  void symm(const char* name, const char* cblas_name, Routine* routine, CblasRoutine* cblas_routine) {
    const auto f = [&](int expected, const Arguments& wrong) {
      expect(name, expected, wrong, [&](const Arguments& x) {
        routine(x.side, x.uplo, &x.m, &x.n, &one_, a_, &x.lda, a_, &x.ldb, &one_, c_, &x.ldc);
      });
    };
    f(1, {.side = "X"});
    f(2, {.uplo = "X"});
    f(3, {.m = -1});
    f(4, {.n = -1});
    f(7, {.lda = 3});
    f(7, {.side = "R", .m = 2, .lda = 2});
    f(9, {.ldb = 3});
    f(12, {.ldc = 3});
    const auto c = [&](int expected, const Arguments& wrong) {
      expect(cblas_name, expected, wrong, [&](const Arguments& x) {
        cblas_routine(x.layout, x.side_word, x.uplo_word, x.m, x.n, passed(one_), a_, x.lda, a_, x.ldb, passed(one_),
                      c_, x.ldc);
      });
    };
    c(1, {.layout = 99});
    c(2, {.side_word = 99});
    c(3, {.uplo_word = 99});
    c(4, {.m = -1});
    c(5, {.n = -1});
    c(5, {.layout = row_major, .m = -1}); // as netlib's CBLAS counts
    c(4, {.layout = row_major, .n = -1});
    c(8, {.lda = 3});
    c(8, {.layout = row_major, .side_word = right_side, .lda = 2});
    c(10, {.ldb = 3});
    c(13, {.layout = row_major, .n = 5, .ldb = 5, .ldc = 4});
  }

  template <class Scalar, class Routine, class CblasRoutine>
  void rank_k(const char* name, const char* cblas_name, Routine* routine, CblasRoutine* cblas_routine) {
    const Scalar one = 1;
    const auto f = [&](int expected, const Arguments& wrong) {
      expect(name, expected, wrong,
             [&](const Arguments& x) { routine(x.uplo, x.trans_a, &x.n, &x.k, &one, a_, &x.lda, &one, c_, &x.ldc); });
    };
    refuse_words<Scalar>(f, 0);
    f(3, {.n = -1});
    f(4, {.k = -1});
    f(7, {.lda = 2});
    f(7, {.trans_a = is_hermitian<Scalar> ? "C" : "T", .lda = 4});
    f(10, {.ldc = 2});
    const auto c = [&](int expected, const Arguments& wrong) {
      expect(cblas_name, expected, wrong, [&](const Arguments& x) {
        cblas_routine(x.layout, x.uplo_word, x.trans_word, x.n, x.k, passed(one), a_, x.lda, passed(one), c_, x.ldc);
      });
    };
    refuse_words<Scalar>(c, 1);
    c(4, {.layout = row_major, .n = -1});
    c(5, {.k = -1});
    c(8, {.lda = 2});
    c(8, {.layout = row_major, .lda = 4});
    c(11, {.layout = row_major, .ldc = 2});
  }

  template <class Scalar, class Routine, class CblasRoutine>
  void rank_2k(const char* name, const char* cblas_name, Routine* routine, CblasRoutine* cblas_routine) {
    const Scalar one = 1;
    const auto f = [&](int expected, const Arguments& wrong) {
      expect(name, expected, wrong, [&](const Arguments& x) {
        routine(x.uplo, x.trans_a, &x.n, &x.k, &one_, a_, &x.lda, a_, &x.ldb, &one, c_, &x.ldc);
      });
    };
    refuse_words<Scalar>(f, 0);
    f(3, {.n = -1});
    f(4, {.k = -1});
    f(7, {.lda = 2});
    f(9, {.ldb = 2});
    f(12, {.ldc = 2});
    const auto c = [&](int expected, const Arguments& wrong) {
      expect(cblas_name, expected, wrong, [&](const Arguments& x) {
        cblas_routine(x.layout, x.uplo_word, x.trans_word, x.n, x.k, passed(one_), a_, x.lda, a_, x.ldb, passed(one),
                      c_, x.ldc);
      });
    };
    refuse_words<Scalar>(c, 1);
    c(4, {.n = -1});
    c(5, {.layout = row_major, .k = -1});
    c(8, {.layout = row_major, .lda = 4}); // A's, in either layout
    c(10, {.layout = row_major, .ldb = 4});
    c(13, {.ldc = 2});
  }

  template <class Routine, class CblasRoutine>
  void triangular(const char* name, const char* cblas_name, Routine* routine, CblasRoutine* cblas_routine) {
    const auto f = [&](int expected, const Arguments& wrong) {
      expect(name, expected, wrong, [&](const Arguments& x) {
        routine(x.side, x.uplo, x.trans_a, x.diag, &x.m, &x.n, &one_, a_, &x.lda, c_, &x.ldb);
      });
    };
    f(1, {.side = "X"});
    f(2, {.uplo = "X"});
    f(3, {.trans_a = "X"});
    f(4, {.diag = "X"});
    f(5, {.m = -1});
    f(6, {.n = -1});
    f(9, {.lda = 3});
    f(9, {.side = "R", .lda = 2});
    f(11, {.ldb = 3});
    const auto c = [&](int expected, const Arguments& wrong) {
      expect(cblas_name, expected, wrong, [&](const Arguments& x) {
        cblas_routine(x.layout, x.side_word, x.uplo_word, x.trans_word, x.diag_word, x.m, x.n, passed(one_), a_, x.lda,
                      c_, x.ldb);
      });
    };
    c(1, {.layout = 99});
    c(2, {.side_word = 99});
    c(3, {.uplo_word = 99});
    c(4, {.trans_word = 99});
    c(5, {.diag_word = 99});
    c(6, {.m = -1});
    c(7, {.layout = row_major, .m = -1}); // as netlib's CBLAS counts
    c(6, {.layout = row_major, .n = -1});
    c(10, {.layout = row_major, .lda = 3});
    c(12, {.layout = row_major, .ldb = 2});
  }

  void run() {
    using B = Blas<T>;
    symm("%cSYMM ", "cblas_%csymm", B::symm, B::cblas_symm);
    rank_k<T>("%cSYRK ", "cblas_%csyrk", B::syrk, B::cblas_syrk);
    rank_2k<T>("%cSYR2K", "cblas_%csyr2k", B::syr2k, B::cblas_syr2k);
    triangular("%cTRMM ", "cblas_%ctrmm", B::trmm, B::cblas_trmm);
    triangular("%cTRSM ", "cblas_%ctrsm", B::trsm, B::cblas_trsm);
    if constexpr (is_complex<T>) {
      symm("%cHEMM ", "cblas_%chemm", B::hemm, B::cblas_hemm);
      rank_k<RealOf<T>>("%cHERK ", "cblas_%cherk", B::herk, B::cblas_herk);
      rank_2k<RealOf<T>>("%cHER2K", "cblas_%cher2k", B::her2k, B::cblas_her2k);
    }
    for (const T& value : c_) must_equal("untouched by what was refused", value == T(0), 1);
  }

 private:
  template <class Scalar>
  static constexpr bool is_hermitian = !std::is_same_v<T, Scalar>;

  /// Updates of complex numbers know one transpose each.
  template <class Scalar, class Refused>
  void refuse_words(const Refused& refused, int layout) {
    if (layout == 1) refused(1, {.layout = 99});
    refused(1 + layout, {.uplo = "X", .uplo_word = 99});
    refused(2 + layout, {.trans_a = "X", .trans_word = 99});
    if (is_complex<T>)
      refused(2 + layout, is_hermitian<Scalar> ? Arguments{.trans_a = "T", .trans_word = trans}
                                               : Arguments{.trans_a = "C", .trans_word = conj_trans});
  }

  const T a_[64] = {}, one_ = 1;
  T c_[64] = {};
};

} // namespace
} // namespace tessera::test

int main() {
  tessera::test::Refusals<float>().run();
  tessera::test::Refusals<double>().run();
  tessera::test::Refusals<std::complex<float>>().run();
  tessera::test::Refusals<std::complex<double>>().run();
  return failures == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}
