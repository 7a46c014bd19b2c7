/// Tests solutions that are refined: certified, with the formulas' bits, column by column, or refused.

#include <cmath>
#include <limits>

#include <boost/test/unit_test.hpp>

#include <tessera/backend.hpp>
#include <tessera/checking/check_solve.hpp>

#include <tessera/linear_algebra/qr.hpp>

#include "systems.hpp"

namespace tessera::test {
namespace {

SolveOptions refined(SolveOptions options, Math math = Math::Strict) {
  options.refine = true;
  options.math = math;
  return options;
}

/// What is refined.
using Refined = std::tuple<double, std::complex<double>>;

/// Rows and columns of very different sizes, which scaling undoes.
template <class T>
Matrix<T> uneven(Index n) {
  auto a = dominant<T>(n, Seed{21});
  for (Index i = 0; i < n; ++i)
    for (Index j = 0; j < n; ++j)
      a(i, j) *= std::ldexp(1.0, static_cast<int>(i * 97 % 401) - 200 + static_cast<int>(j * 61 % 401) - 200);
  return a;
}

template <class T>
void expect_solved(const Matrix<T>& a, const Matrix<T>& b) {
  const auto x = solve(a, b, refined(tested()));
  const SolveCertificate answer = check_solve(a, x, b);
  BOOST_CHECK_MESSAGE(answer.right(), to_text(answer));
  for (const int threads : {1, 2}) BOOST_TEST(differing(solve(a, b, refined(tested(threads))), x) == 0);
  BOOST_TEST(differing(solve(a, b, refined(formulas)), x) == 0);
  for (const Index j : {Index{0}, b.cols() - 1}) {
    const auto alone = solve(a, b.block(0, j, b.rows(), 1), refined(tested()));
    BOOST_TEST(differing(alone, Matrix<T>(x.block(0, j, b.rows(), 1))) == 0);
  }
}

} // namespace

BOOST_AUTO_TEST_SUITE(refinement)

BOOST_AUTO_TEST_CASE_TEMPLATE(solutions, T, Refined) {
  const std::vector<Index> orders =
      conformance::options().quick ? std::vector<Index>{1, 40} : std::vector<Index>{1, 2, 40, 150};
  for (const Index n : orders) BOOST_TEST_CONTEXT(n) {
      const auto b = Matrix<T>::random(n, 3, Seed{22});
      expect_solved(Matrix<T>::random(n, n, Seed{23}), b);
      expect_solved(dominant<T>(n, Seed{24}), b);
      expect_solved(uneven<T>(n), b);
      expect_solved(Matrix<T>(positive<T>(n, Seed{25}).transposed()), Matrix<T>(n, 2));
    }
}

BOOST_AUTO_TEST_CASE(several_segments) {
  if (conformance::options().quick) return;
  const Index n = 1100;
  const auto a = Matrix<double>::random(n, n, Seed{26}), b = Matrix<double>::random(n, 2, Seed{27});
  const auto x = solve(a, b, refined(tested()));
  BOOST_TEST(check_solve(a, x, b).right());
  BOOST_TEST(differing(solve(a, b, refined(tested(1))), x) == 0);
}

/// The mode of whole segments: a matrix of one and a little more has bits of it.
BOOST_AUTO_TEST_CASE(modes_of_products) {
  if (conformance::options().quick) return;
  const Index n = 1090;
  const auto b = Matrix<double>::random(n, 2, Seed{34});
  for (const Math math : {Math::EmulatedFp16x3, Math::ScaledFp16}) BOOST_TEST_CONTEXT(to_string(math)) {
      const auto a = math == Math::ScaledFp16 ? dominant<double>(n, Seed{35}) : Matrix<double>::random(n, n, Seed{36});
      Matrix<double> x(n, 2);
      try {
        x = solve(a, b, refined(tested(), math));
      } catch (const KernelRejected&) { // a device without such kernels says so
        BOOST_TEST(!executor(tested_backend()).capabilities().host_memory);
        continue;
      }
      BOOST_TEST(check_solve(a, x, b).right());
      BOOST_TEST(differing(solve(a, b, refined(tested(1), math)), x) == 0);
      BOOST_TEST(differing(solve(a, b, refined(formulas, math)), x) == 0);
      BOOST_TEST(differing(solve(a, b, refined(tested())), x) > 0);
      const auto alone = solve(a, b.block(0, 1, n, 1), refined(tested(), math));
      BOOST_TEST(differing(alone, Matrix<double>(x.block(0, 1, n, 1))) == 0);
      const auto small = Matrix<double>(a.block(0, 0, 90, 90)), right = Matrix<double>(b.block(0, 0, 90, 2));
      BOOST_TEST(differing(solve(small, right, refined(tested(), math)), solve(small, right, refined(tested()))) == 0);
    }
}

BOOST_AUTO_TEST_CASE(modes_that_are_refused) {
  const auto a = dominant<double>(4, Seed{37});
  const auto z = dominant<std::complex<double>>(4, Seed{38});
  const auto says = [](const char* text) {
    return [text](const InvalidArgument& error) { return std::string(error.what()).find(text) != std::string::npos; };
  };
  BOOST_CHECK_EXCEPTION(
      solve(a, a, refined(tested(), Math::Tf32)), InvalidArgument,
      says("math = tf32, and the factors of real numbers are strict, emulated_fp16x3 or scaled_fp16"));
  BOOST_CHECK_EXCEPTION(solve(z, z, refined(tested(), Math::EmulatedFp16x3)), InvalidArgument,
                        says("the factors of complex numbers are strict ones alone"));
  SolveOptions alone = tested();
  alone.math = Math::EmulatedFp16x3;
  const auto text = "math = emulated_fp16x3, which is an option of solve() with refine alone";
  BOOST_CHECK_EXCEPTION(solve(a, a, alone), InvalidArgument, says(text));
  BOOST_CHECK_EXCEPTION(Lu(a, alone), InvalidArgument, says(text));
  BOOST_CHECK_EXCEPTION(Qr(a, alone), InvalidArgument, says(text));
  BOOST_CHECK_EXCEPTION(syrk(a, alone), InvalidArgument, says(text));
}

/// Zeros in the solution and in the right-hand side leave rows without terms.
BOOST_AUTO_TEST_CASE_TEMPLATE(rows_without_terms, T, Refined) {
  const Index n = 40;
  Matrix<T> a(n, n), b(n, 2);
  for (Index i = 0; i < n; ++i) a(i, n - 1 - i) = T(static_cast<double>(i + 1)) / T(3);
  b(7, 0) = 2;
  expect_solved(a, b);
}

/// Where products underflow, nothing is promised, and the solution is refused; near there it is found.
BOOST_AUTO_TEST_CASE_TEMPLATE(small_numbers, T, Refined) {
  const Index n = 40;
  for (const int exponent : {-400, -500, -520}) BOOST_TEST_CONTEXT(exponent) {
      auto a = dominant<T>(n, Seed{39}), b = Matrix<T>::random(n, 2, Seed{40});
      for (Index i = 0; i < n; ++i) {
        for (Index j = 0; j < n; ++j) a(i, j) *= std::ldexp(1.0, exponent);
        for (Index j = 0; j < 2; ++j) b(i, j) *= std::ldexp(1.0, 2 * exponent);
      }
      if (exponent >= -500)
        expect_solved(a, b);
      else
        BOOST_CHECK_THROW(solve(a, b, refined(tested())), NotRefined);
    }
}

BOOST_AUTO_TEST_CASE(refused) {
  const Index n = 12;
  Matrix<double> hilbert(n, n);
  for (Index i = 0; i < n; ++i)
    for (Index j = 0; j < n; ++j) hilbert(i, j) = 1.0 / static_cast<double>(i + j + 1);
  const Matrix<double> ones(n, 1, 1.0), b = gemm(hilbert, ones), before(hilbert.view());
  BOOST_CHECK_THROW(solve(hilbert, b, refined(tested())), NotRefined);
  BOOST_TEST(differing(hilbert, before) == 0);
  BOOST_CHECK_THROW(solve(Matrix<double>(n, n), b, refined(tested())), NotRefined);
  for (const double bad : {std::numeric_limits<double>::quiet_NaN(), std::numeric_limits<double>::infinity()}) {
    auto a = dominant<double>(n, Seed{28}), right = Matrix<double>(b.view());
    right(3, 0) = bad;
    BOOST_CHECK_EXCEPTION(solve(a, right, refined(tested())), NotRefined, [](const NotRefined& error) {
      return std::string(error.what()).find("b has NaN or Inf in row 3") != std::string::npos;
    });
    a(5, 1) = bad;
    BOOST_CHECK_EXCEPTION(solve(a, b, refined(tested())), NotRefined, [](const NotRefined& error) {
      return std::string(error.what()).find("a has NaN or Inf in row 5") != std::string::npos;
    });
  }
  for (const std::complex<double> bad : {std::complex<double>(0, std::numeric_limits<double>::quiet_NaN()),
                                         std::complex<double>(std::numeric_limits<double>::infinity(), 0)}) {
    auto a = dominant<std::complex<double>>(n, Seed{31});
    const auto right = Matrix<std::complex<double>>::random(n, 1, Seed{32});
    a(5, 1) = bad;
    BOOST_CHECK_EXCEPTION(solve(a, right, refined(tested())), NotRefined, [](const NotRefined& error) {
      return std::string(error.what()).find("a has NaN or Inf in row 5") != std::string::npos;
    });
  }
  Matrix<std::complex<double>> turned(n, n);
  for (Index i = 0; i < n; ++i)
    for (Index j = 0; j < n; ++j) turned(i, j) = std::complex<double>(0, hilbert(i, j));
  BOOST_CHECK_THROW(solve(turned, Matrix<std::complex<double>>(n, 1, 1.0), refined(tested())), NotRefined);
  const SolveOptions options = refined(tested());
  const auto small = dominant<std::complex<float>>(4, Seed{33});
  BOOST_CHECK_THROW(solve(small, small, options), InvalidArgument);
  const auto narrow = dominant<float>(4, Seed{29});
  BOOST_CHECK_THROW(solve(narrow, narrow, options), InvalidArgument);
  const auto wide = positive<double>(4, Seed{30});
  BOOST_CHECK_THROW(Lu(wide, options), InvalidArgument);
  BOOST_CHECK_THROW(Qr(wide, options), InvalidArgument);
  BOOST_CHECK_THROW(inverse(wide, options), InvalidArgument);
  BOOST_CHECK_THROW(Cholesky(wide, Triangle::Lower, options), InvalidArgument);
  BOOST_CHECK_THROW(triangular_solve(Triangle::Lower, wide, wide, Side::Left, Diagonal::Stored, options),
                    InvalidArgument);
  BOOST_CHECK_THROW(syrk(wide, options), InvalidArgument);
}

BOOST_AUTO_TEST_SUITE_END()

} // namespace tessera::test
