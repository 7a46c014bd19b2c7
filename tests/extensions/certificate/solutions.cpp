/// Tests certificates of solutions: against residuals in 113 bits, with solvers that are right, and with wrong
/// solutions.

#include <algorithm>
#include <cmath>
#include <limits>
#include <string>
#include <vector>

#include <boost/test/unit_test.hpp>

#include <tessera/checking/check_solve.hpp>
#include <tessera/linear_algebra/cholesky.hpp>
#include <tessera/linear_algebra/solve.hpp>
#include <tessera/tessera.hpp>

namespace tessera::test {
namespace {

/// The largest ratios, in arithmetic of 64 bits or more. Sums of a few terms lose nothing that these tests could see.
struct Ratios {
  long double elements = 0, norm = 0;
};

template <class T>
Ratios ratios_of(const Matrix<T>& a, const Matrix<T>& x, const Matrix<T>& b) {
  Ratios found;
  for (Index j = 0; j < x.cols(); ++j) {
    long double most = 0, norm_a = 0, norm_x = 0, norm_b = 0;
    for (Index i = 0; i < a.rows(); ++i) {
      long double sum = b(i, j), size = std::abs(sum), row = 0;
      for (Index k = 0; k < a.cols(); ++k) {
        const long double product = static_cast<long double>(a(i, k)) * static_cast<long double>(x(k, j));
        sum -= product;
        size += std::abs(product);
        row += std::abs(static_cast<long double>(a(i, k)));
      }
      if (size > 0) found.elements = std::max(found.elements, std::abs(sum) / size);
      most = std::max(most, std::abs(sum));
      norm_a = std::max(norm_a, row);
      norm_x = std::max(norm_x, std::abs(static_cast<long double>(x(i, j))));
      norm_b = std::max(norm_b, std::abs(static_cast<long double>(b(i, j))));
    }
    if (most > 0) found.norm = std::max(found.norm, most / (norm_a * norm_x + norm_b));
  }
  return found;
}

bool encloses(const Enclosure& x, long double value) {
  constexpr long double of_the_comparison = 1e-3L; // of a residual of some ulps, in arithmetic of 64 bits
  return x.least <= value * (1 + of_the_comparison) && value <= x.most * (1 + of_the_comparison) && x.least <= x.most;
}

/// Rows of sizes from 2^-40 to 2^40.
template <class T>
Matrix<T> graded(Index n, Seed seed) {
  auto a = Matrix<T>::random(n, n, seed);
  for (Index i = 0; i < n; ++i)
    for (Index k = 0; k < n; ++k) a(i, k) = static_cast<T>(std::ldexp(a(i, k), static_cast<int>(i * 37 % 81) - 40));
  return a;
}

template <class T>
void judge_solvers(Index n, Seed seed) {
  const auto a = Matrix<T>::random(n, n, seed), b = Matrix<T>::random(n, 3, Seed{seed.value + 1});
  const auto general = solve(a, b);
  const SolveCertificate answer = check_solve(a, general, b);
  BOOST_CHECK_MESSAGE(answer.right(), to_text(answer));
  const Ratios ratios = ratios_of(a, general, b);
  BOOST_CHECK(encloses(answer.by_elements, ratios.elements));
  BOOST_CHECK(encloses(answer.by_norm, ratios.norm));
  BOOST_TEST(answer.by_elements.most <= answer.by_elements.least * (1 + 1e-6));

  Matrix<T> gram = gemm(a.transposed(), a);
  for (Index i = 0; i < n; ++i) gram(i, i) += T(1);
  BOOST_TEST(check_solve(gram, Cholesky(gram).solve(b), b).right());
  BOOST_TEST(check_solve(a.transposed(), solve(a.transposed(), b), b).right());

  const auto uneven = graded<T>(n, seed);
  const SolveCertificate by_norm = check_solve(uneven, solve(uneven, b), b, {.nearness = Nearness::Norm, .threads = 2});
  BOOST_CHECK_MESSAGE(by_norm.right(), to_text(by_norm));
  if (n < 2) return;

  // The smallest change that is beyond the limit in some row, by the ratio's definition.
  Matrix<T> wrong(general.view());
  const Index k = n / 2;
  const double share = 2 * answer.limit;
  double most = 0;
  for (Index i = 0; i < n; ++i) {
    double size = std::abs(static_cast<double>(b(i, 0)));
    for (Index p = 0; p < n; ++p) size += std::abs(static_cast<double>(a(i, p)) * static_cast<double>(general(p, 0)));
    const double part = std::abs(static_cast<double>(a(i, k))) / size;
    most = std::max(most, part);
  }
  const double change = share / most;
  wrong(k, 0) = static_cast<T>(static_cast<double>(wrong(k, 0)) + change);
  const SolveCertificate moved = check_solve(a, wrong, b);
  BOOST_CHECK_MESSAGE(moved.verdict == Verdict::Wrong, to_text(moved));
  BOOST_TEST(moved.col == 0);
  BOOST_TEST(check_solve(a, wrong, b, {.limit = 4 * answer.limit}).right());
  BOOST_CHECK(check_solve(a, solve(a.transposed(), b), b).verdict == Verdict::Wrong);
  BOOST_CHECK(check_solve(a, Matrix<T>(n, 3), b).verdict == Verdict::Wrong);
}

std::string message_of(const CheckedMatrix& a, const CheckedMatrix& x, const CheckedMatrix& b,
                       const SolveCheckOptions& options = {}) {
  try {
    check_solve(a, x, b, options);
  } catch (const InvalidArgument& error) {
    return error.what();
  }
  return "no error";
}

} // namespace

BOOST_AUTO_TEST_SUITE(solutions)

BOOST_AUTO_TEST_CASE(solvers) {
  for (const Index n : {1, 2, 3, 17, 64, 100, 301}) BOOST_TEST_CONTEXT(n) {
      judge_solvers<float>(n, Seed{static_cast<std::uint64_t>(n)});
      judge_solvers<double>(n, Seed{static_cast<std::uint64_t>(n)});
    }
}

BOOST_AUTO_TEST_CASE(types_may_differ) {
  const auto a = Matrix<float>::random(40, 40, Seed{1}), b = Matrix<float>::random(40, 1, Seed{2});
  Matrix<double> wide_a(40, 40), wide_b(40, 1);
  for (Index i = 0; i < 40; ++i) {
    for (Index k = 0; k < 40; ++k) wide_a(i, k) = a(i, k);
    wide_b(i, 0) = b(i, 0);
  }
  BOOST_TEST(check_solve(a, solve(wide_a, wide_b), b).right()); // to the precision of x, whose type decides the limit
  const auto narrow = solve(a, b);
  BOOST_TEST(check_solve(wide_a, narrow, wide_b).right());
  Matrix<double> as_wide(40, 1);
  for (Index i = 0; i < 40; ++i) as_wide(i, 0) = narrow(i, 0);
  BOOST_CHECK(check_solve(a, as_wide, b).verdict == Verdict::Wrong);
}

BOOST_AUTO_TEST_CASE(rows_of_different_sizes) {
  const auto a = graded<double>(60, Seed{3}), b = Matrix<double>::random(60, 1, Seed{4});
  auto x = solve(a, b);
  const SolveCertificate plain = check_solve(a, x, b);
  BOOST_TEST(plain.by_norm.most < plain.limit);
  // What moves the row of small elements alone is beyond the limit of elements, and not seen by the norm.
  x = solve(a, b);
  x(5, 0) *= 1 + 1e-9;
  BOOST_CHECK(check_solve(a, x, b).verdict == Verdict::Wrong);
}

BOOST_AUTO_TEST_CASE(not_numbers) {
  constexpr double nan = std::numeric_limits<double>::quiet_NaN(), inf = std::numeric_limits<double>::infinity();
  const auto a = Matrix<double>::random(20, 20, Seed{5}), b = Matrix<double>::random(20, 2, Seed{6});
  const auto x = solve(a, b);
  for (const double bad : {nan, inf, -inf}) {
    auto bad_x = x;
    bad_x(7, 1) = bad;
    const SolveCertificate misplaced = check_solve(a, bad_x, b);
    BOOST_CHECK(misplaced.verdict == Verdict::Wrong);
    BOOST_TEST(misplaced.col == 1);
    auto bad_a = a;
    bad_a(3, 4) = bad;
    const SolveCertificate hidden = check_solve(bad_a, x, b);
    BOOST_CHECK(hidden.verdict == Verdict::Unknown);
    BOOST_TEST(hidden.unjudged == 2);
    auto bad_b = b;
    bad_b(3, 0) = bad;
    BOOST_CHECK(check_solve(a, x, bad_b).verdict == Verdict::Unknown);
    BOOST_CHECK(check_solve(a, x, bad_b, {.nearness = Nearness::Norm}).verdict == Verdict::Unknown);
    auto wrong_elsewhere = x;
    wrong_elsewhere(0, 0) += 1;
    BOOST_CHECK(check_solve(bad_a, wrong_elsewhere, b).verdict == Verdict::Wrong);
  }
  const Matrix<double> huge(1, 1, 1e300), product(1, 1, inf);
  BOOST_CHECK(check_solve(huge, huge, Matrix<double>(1, 1, 1.0)).verdict == Verdict::Unknown);
  BOOST_TEST(check_solve(Matrix<double>(2, 2), Matrix<double>(2, 1, 1.0), Matrix<double>(2, 1)).right());
}

BOOST_AUTO_TEST_CASE(smallest_numbers) {
  const Matrix<double> tiny(1, 1, 0x1p-540), x(1, 1, 0x1p-500), b(1, 1, 0x1p-1040), other(1, 1, 0x1p-1041);
  const SolveCertificate answer = check_solve(tiny, x, b);
  BOOST_TEST(answer.by_elements.least == 0);
  BOOST_CHECK(check_solve(tiny, x, other).verdict == Verdict::Wrong);
}

BOOST_AUTO_TEST_CASE(arguments) {
  const Matrix<double> a(3, 3, 1.0), x(3, 2, 1.0), wide(3, 4, 1.0);
  BOOST_TEST(message_of(checked(wide), checked(x), checked(x)) == "check_solve: a is 3×4, and must be square");
  BOOST_TEST(message_of(checked(a), checked(x), checked(wide)) ==
             "check_solve: a is 3×3, x is 3×2 and b is 3×4; x and b must have a's rows and one number of columns");
  BOOST_TEST(message_of(checked(a), checked(x), checked(x), {.limit = -1}).find("limit = -1") != std::string::npos);
  BOOST_TEST(message_of(checked(a), checked(x), checked(x), {.nearness = static_cast<Nearness>(7)}).find("= 7") !=
             std::string::npos);
  CheckedMatrix null = checked(x);
  null.data = nullptr;
  BOOST_TEST(message_of(checked(a), null, checked(x)).find("x is null") != std::string::npos);
  const Matrix<double> none;
  BOOST_TEST(check_solve(none, none, none).right());
}

BOOST_AUTO_TEST_CASE(words) {
  const auto a = Matrix<double>::random(4, 4, Seed{7}), b = Matrix<double>::random(4, 1, Seed{8});
  BOOST_TEST(to_text(check_solve(a, solve(a, b), b))
                 .starts_with("right: X (4×1, f64) solves a system that is near A and B element by element\n"));
  const SolveCertificate wrong = check_solve(a, b, b);
  BOOST_TEST(to_text(wrong).starts_with("wrong: X (4×1, f64) solves no system that is near"));
  BOOST_TEST(to_json(wrong).find("\"verdict\": \"wrong\"") != std::string::npos);
}

BOOST_AUTO_TEST_SUITE_END()

} // namespace tessera::test
