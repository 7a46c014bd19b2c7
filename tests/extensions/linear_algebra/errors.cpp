/// Tests what linear algebra says of wrong arguments and of systems without a solution. Operands stay as they were.

#include <limits>

#include <boost/test/unit_test.hpp>

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

BOOST_AUTO_TEST_CASE(symmetric_products) {
  double a[20] = {};
  const auto refused = [&](Index n, Index k, Index lda, double* c, Index ldc, const std::string& said) {
    must_throw<InvalidArgument>([&] { syrk(Triangle::Upper, Op::None, n, k, 1.0, a, lda, 0.0, c, ldc, tested()); },
                                said);
  };
  double c[16] = {};
  refused(-1, 2, 2, c, 4, "syrk: n = -1 and k = 2; neither may be negative");
  refused(4, 3, 2, c, 4, "syrk: lda = 2, and stored rows of A have 3 elements");
  refused(4, 3, 3, c, 3, "syrk: ldc = 3, and rows of C have 4 elements");
  refused(4, 3, 3, nullptr, 4, "syrk: c is null");
  refused(4, 3, 3, a + 1, 4, "syrk: c overlaps a in memory, in row 0");
  // A below the diagonal of C's upper triangle, as LAPACK's packed formats have it.
  double shared[9] = {0, 0, 0, 0, 0, 0, 3, 0, 0};
  syrk(Triangle::Upper, Op::Transpose, 1, 1, 1.0, shared + 6, 3, 0.0, shared, 3, tested());
  BOOST_TEST(shared[0] == 9);
  BOOST_TEST(syrk(Matrix<double>(), tested()).empty());
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
