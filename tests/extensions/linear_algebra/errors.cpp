/// Tests what linear algebra says of wrong arguments and of systems without a solution. Operands stay as they were.

#include <limits>

#include <boost/test/unit_test.hpp>

#include <tessera/linear_algebra/symm.hpp>

#include "systems.hpp"

namespace tessera::test {
namespace {

template <class Error, class Step>
void must_throw(Step&& step, const std::string& said) {
  BOOST_CHECK_EXCEPTION(step(), Error, [&](const Error& error) {
    BOOST_TEST_MESSAGE(error.what());
    return std::string(error.what()).find(said) != std::string::npos;
  });
}

} // namespace

BOOST_AUTO_TEST_SUITE(errors)

BOOST_AUTO_TEST_CASE(shapes) {
  const Matrix<double> tall(5, 3, 1.0), square = dominant<double>(4, Seed{1}), three(3, 2, 1.0);
  must_throw<InvalidArgument>([&] { solve(tall, three, tested()); }, "solve: the matrix is 5×3, and must be square");
  must_throw<InvalidArgument>([&] { solve(square, three, tested()); },
                              "solve: the matrix is 4×4, and the right-hand side has 3 rows; it must have 4");
  must_throw<InvalidArgument>([&] { triangular_solve(Triangle::Lower, square, three, Side::Right); },
                              "the right-hand side has 2 columns; it must have 4");
  must_throw<InvalidArgument>([&] { inverse(tall, tested()); }, "inverse: the matrix is 5×3");
  must_throw<InvalidArgument>([&] { Cholesky factors(tall); }, "Cholesky: the matrix is 5×3");
  must_throw<InvalidArgument>([&] { Lu(tall, tested()).determinant(); }, "Lu::determinant: the matrix is 5×3");
  must_throw<InvalidArgument>([&] { Lu(tall, tested()).log_determinant(); }, "Lu::log_determinant: the matrix is 5×3");
  must_throw<InvalidArgument>([&] { Lu(tall, tested()).solve(tall); }, "Lu::solve: the matrix is 5×3");
}

BOOST_AUTO_TEST_CASE(without_a_solution) {
  for (const Index n : {3, 100, 200}) BOOST_TEST_CONTEXT(n) {
      Matrix<double> symmetric = positive<double>(n, Seed{2});
      symmetric(n - 1, n - 1) = -1;
      const Matrix<double> before(symmetric.view());
      must_throw<NotPositiveDefinite>([&] { Cholesky(symmetric, Triangle::Lower, tested()); },
                                      "leading minor of order " + std::to_string(n) + " is not");
      BOOST_TEST(differing(symmetric, before) == 0);
      symmetric(0, 0) = std::numeric_limits<double>::quiet_NaN();
      try {
        Cholesky(symmetric, Triangle::Lower, tested());
        BOOST_ERROR("NaN is not positive");
      } catch (const NotPositiveDefinite& error) {
        BOOST_TEST(error.minor() == 1);
        BOOST_CHECK(error.code() == StatusCode::InvalidArgument);
      }
      Matrix<double> singular = dominant<double>(n, Seed{3});
      for (Index i = 0; i < n; ++i) singular(i, n - 1) = 0;
      const Matrix<double> b(n, 1, 1.0);
      try {
        solve(singular, b, tested());
        BOOST_ERROR("a column of zeros has no pivot");
      } catch (const SingularMatrix& error) {
        BOOST_TEST(error.pivot() == n - 1);
      }
    }
}

BOOST_AUTO_TEST_CASE_TEMPLATE(of_complex_systems, P, Elements) {
  using T = std::complex<P>;
  const Matrix<T> tall(5, 3, T(1)), square = dominant<T>(4, Seed{1}), three(3, 2, T(1)), four(4, 2, T(1));
  must_throw<InvalidArgument>([&] { solve(tall, three, tested()); }, "solve: the matrix is 5×3, and must be square");
  must_throw<InvalidArgument>([&] { solve(square, three, tested()); },
                              "the right-hand side has 3 rows; it must have 4");
  must_throw<InvalidArgument>([&] { Lu(square, tested()).solve_conjugate_transposed(three); },
                              "Lu::solve_conjugate_transposed: the matrix is 4×4");
  if constexpr (std::is_same_v<P, float>)
    must_throw<InvalidArgument>([&] { solve(square, four, {.refine = true}); },
                                "refine is for f64, and the matrix is of complex numbers of f32");
  must_throw<InvalidArgument>([&] { Lu(square, {.refine = true}); }, "refine is an option of solve() alone");
  must_throw<InvalidArgument>([&] { square.block(1, 1, 4, 2); }, "block 4×2 at (1, 1) does not lie within 4×4");
  must_throw<InvalidArgument>([&] { Matrix<T>(-1, 3); }, "a matrix of complex numbers is -1×3");
  must_throw<InvalidArgument>([&] { square.at(4, 0); }, "4");
  must_throw<InvalidArgument>([&] { MatrixView<const T>::wrap(square.data(), 4, 4, 3); }, "is 4×4 with ld = 3");
  for (const Index n : {3, 100}) BOOST_TEST_CONTEXT(n) {
      Matrix<T> hermitian = positive<T>(n, Seed{2});
      hermitian(n - 1, n - 1) = T(-1, 5);
      const Matrix<T> before(hermitian.view());
      must_throw<NotPositiveDefinite>([&] { Cholesky(hermitian, Triangle::Lower, tested()); },
                                      "leading minor of order " + std::to_string(n) + " is not");
      BOOST_TEST(differing(hermitian, before) == 0);
      hermitian(0, 0) = T(std::numeric_limits<P>::quiet_NaN(), 0);
      must_throw<NotPositiveDefinite>([&] { Cholesky(hermitian, Triangle::Upper, tested()); },
                                      "leading minor of order 1 is not");
      Matrix<T> singular = dominant<T>(n, Seed{3});
      for (Index i = 0; i < n; ++i) singular(i, n - 1) = 0;
      must_throw<SingularMatrix>([&] { solve(singular, Matrix<T>(n, 1), tested()); }, "pivot " + std::to_string(n - 1));
    }
  const Matrix<T> none;
  BOOST_TEST(solve(none, none, tested()).empty());
  BOOST_TEST(inverse(none, tested()).empty());
  BOOST_TEST(Cholesky(none, Triangle::Upper, tested()).l().empty());
  BOOST_TEST(Lu(none, tested()).determinant() == std::complex<double>(1));
  BOOST_TEST(solve(square, Matrix<T>(4, 0), tested()).cols() == 0);
}

BOOST_AUTO_TEST_CASE(symmetric_products) {
  double a[20] = {};
  const auto refused = [&](Index n, Index k, Index lda, double* c, Index ldc, const std::string& said) {
    must_throw<InvalidArgument>([&] { syrk(Triangle::Upper, Op::None, n, k, 1.0, a, lda, 0.0, c, ldc, tested()); },
                                said);
  };
  double c[16] = {};
  refused(-1, 2, 2, c, 4, "syrk: n = -1, and must not be negative");
  refused(4, 3, 2, c, 4, "syrk: lda = 2, and stored rows of a have 3 elements");
  refused(4, 3, 3, c, 3, "syrk: ldc = 3, and stored rows of c have 4 elements");
  refused(4, 3, 3, nullptr, 4, "syrk: c is null");
  refused(4, 3, 3, a + 1, 4, "syrk: c overlaps a in memory, in row 0");
  const std::complex<double> numbers[4] = {};
  std::complex<double> result[4] = {};
  must_throw<InvalidArgument>(
      [&] { herk(Triangle::Upper, Op::Transpose, 2, 2, 1.0, numbers, 2, 0.0, result, 2, tested()); },
      "herk: op is the plain transpose; it must be None or ConjugateTranspose");
  must_throw<InvalidArgument>(
      [&] {
        syr2k(Triangle::Upper, Op::ConjugateTranspose, 2, 2, 1.0, numbers, 2, numbers, 2, 0.0, result, 2, tested());
      },
      "syr2k: op is the conjugate transpose; it must be None or Transpose");
  must_throw<InvalidArgument>(
      [&] { her2k(Triangle::Upper, Op::None, 2, 2, 1.0, numbers, 2, result, 2, 0.0, result, 2, tested()); },
      "her2k: c overlaps b in memory, in row 0");
  // A below the diagonal of C's upper triangle, as LAPACK's packed formats have it.
  double shared[9] = {0, 0, 0, 0, 0, 0, 3, 0, 0};
  syrk(Triangle::Upper, Op::Transpose, 1, 1, 1.0, shared + 6, 3, 0.0, shared, 3, tested());
  BOOST_TEST(shared[0] == 9);
  BOOST_TEST(syrk(Matrix<double>(), tested()).empty());
}

BOOST_AUTO_TEST_CASE(level3_arguments) {
  const double a[16] = {};
  double b[16] = {};
  const auto solve = [&](Index m, Index n, Index ldt, double* x, Index ldb) {
    trsm(Side::Left, Triangle::Lower, Op::None, Diagonal::Stored, m, n, 1.0, a, ldt, x, ldb, tested());
  };
  must_throw<InvalidArgument>([&] { solve(-1, 2, 3, b, 2); }, "trsm: m = -1, and must not be negative");
  must_throw<InvalidArgument>([&] { solve(3, 2, 2, b, 2); }, "trsm: ldt = 2, and stored rows of t have 3 elements");
  must_throw<InvalidArgument>([&] { solve(3, 2, 3, b, 1); }, "trsm: ldb = 1, and stored rows of b have 2 elements");
  must_throw<InvalidArgument>([&] { solve(3, 2, 3, nullptr, 2); }, "trsm: b is null");
  must_throw<InvalidArgument>(
      [&] { trmm(Side::Right, Triangle::Upper, Op::None, Diagonal::Unit, 2, 3, 1.0, b, 3, b + 2, 3, tested()); },
      "trmm: t overlaps b in memory, in row 0");
  const auto multiply = [&](Side side, Index lda, double* c) {
    symm(side, Triangle::Lower, 2, 3, 1.0, a, lda, a, 3, 0.0, c, 3, tested());
  };
  must_throw<InvalidArgument>([&] { multiply(Side::Right, 2, b); }, "symm: lda = 2, and stored rows of a have 3");
  must_throw<InvalidArgument>([&] { multiply(Side::Left, 2, nullptr); }, "symm: c is null");
  must_throw<InvalidArgument>(
      [&] { symm(Side::Left, Triangle::Lower, 2, 3, 1.0, a, 2, b, 3, 0.0, b + 2, 3, tested()); },
      "symm: c overlaps b in memory");
  const Matrix<double> square = dominant<double>(4, Seed{1}), three(3, 2, 1.0);
  must_throw<InvalidArgument>([&] { triangular_multiply(Triangle::Lower, square, three); },
                              "triangular_multiply: the matrix is 4×4, and the right-hand side has 3 rows");
  must_throw<InvalidArgument>([&] { symmetric_multiply(Triangle::Lower, square, three, Side::Right); },
                              "symmetric_multiply: the matrix is 4×4, and the right-hand side has 2 columns");
  BOOST_TEST(symmetric_multiply(Triangle::Lower, Matrix<double>(), Matrix<double>(), Side::Left, tested()).empty());
}

BOOST_AUTO_TEST_CASE(nothing_to_solve) {
  const Matrix<double> none, square = dominant<double>(4, Seed{4});
  BOOST_TEST(solve(none, none, tested()).empty());
  BOOST_TEST(inverse(none, tested()).empty());
  BOOST_TEST(Cholesky(none, Triangle::Lower, tested()).l().empty());
  BOOST_TEST(Lu(none, tested()).determinant() == 1);
  BOOST_TEST(solve(square, Matrix<double>(4, 0), tested()).cols() == 0);
  BOOST_TEST(Lu(Matrix<double>(0, 5), tested()).pivots().empty());
}

BOOST_AUTO_TEST_CASE(an_absent_backend) {
  for (const BackendInfo& info : available_backends())
    if (!info.available)
      BOOST_CHECK_THROW(Lu(dominant<double>(100, Seed{5}), {.backend = info.backend}), BackendUnavailable);
}

BOOST_AUTO_TEST_SUITE_END()

} // namespace tessera::test
