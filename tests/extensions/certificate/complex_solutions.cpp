/// Tests certificates of solutions of complex systems: against residuals and moduli in 64 bits, with solvers that are
/// right, with planted faults, and at the ends of the numbers.

#include <cmath>
#include <complex>
#include <limits>
#include <numbers>

#include <boost/test/unit_test.hpp>

#include <tessera/checking/check_solve.hpp>
#include <tessera/linear_algebra/cholesky.hpp>
#include <tessera/linear_algebra/qr.hpp>
#include <tessera/linear_algebra/solve.hpp>
#include <tessera/tessera.hpp>

namespace tessera::test {
namespace {

using Wide = std::complex<long double>;
using Number = std::complex<double>;
using Complex = Matrix<Number>;

constexpr double not_a_number = std::numeric_limits<double>::quiet_NaN();
constexpr double infinite = std::numeric_limits<double>::infinity();
constexpr double largest = std::numeric_limits<double>::max();

struct ComplexRatios {
  long double elements = 0, norm = 0;
};

template <class A, class X, class B>
ComplexRatios complex_ratios(const A& a, const X& x, const B& b) {
  ComplexRatios found;
  for (Index j = 0; j < x.cols(); ++j) {
    long double most = 0, norm_a = 0, norm_x = 0, norm_b = 0;
    for (Index i = 0; i < a.rows(); ++i) {
      Wide sum = b(i, j);
      long double size = std::abs(sum), row = 0;
      for (Index k = 0; k < a.cols(); ++k) {
        const Wide element = a(i, k), unknown = x(k, j);
        sum -= element * unknown;
        size += std::abs(element) * std::abs(unknown);
        row += std::abs(element);
      }
      if (size > 0) found.elements = std::max(found.elements, std::abs(sum) / size);
      most = std::max(most, std::abs(sum));
      norm_a = std::max(norm_a, row);
      norm_x = std::max(norm_x, std::abs(Wide(x(i, j))));
      norm_b = std::max(norm_b, std::abs(Wide(b(i, j))));
    }
    if (most > 0) found.norm = std::max(found.norm, most / (norm_a * norm_x + norm_b));
  }
  return found;
}

void expect_enclosed(const SolveCertificate& answer, const ComplexRatios& ratios) {
  constexpr long double of_the_comparison = 1e-3L; // of a residual of some ulps, in arithmetic of 64 bits
  for (const auto& [found, value] :
       {std::pair{answer.by_elements, ratios.elements}, std::pair{answer.by_norm, ratios.norm}}) {
    BOOST_TEST(found.least <= found.most);
    BOOST_TEST(found.least <= value * (1 + of_the_comparison));
    BOOST_TEST(value <= found.most * (1 + of_the_comparison));
    BOOST_TEST(found.most <= found.least * (1 + 1e-6));
  }
}

template <class T>
void judge_complex_solvers(Index n, Seed seed) {
  using C = std::complex<T>;
  const auto a = Matrix<C>::random(n, n, seed), b = Matrix<C>::random(n, 5, Seed{seed.value + 1});
  const Lu factors(a);
  const auto x = factors.solve(b);
  const SolveCertificate answer = check_solve(a, x, b);
  BOOST_CHECK_MESSAGE(answer.right(), to_text(answer));
  expect_enclosed(answer, complex_ratios(a, x, b));
  BOOST_TEST(check_solve(a.transposed(), factors.solve_transposed(b), b).right());
  const auto conjugated = factors.solve_conjugate_transposed(b);
  CheckedMatrix turned = checked(a);
  turned.op = Op::ConjugateTranspose;
  BOOST_TEST(check_solve(turned, checked(conjugated), checked(b)).right());
  BOOST_TEST(check_solve(conjugate_transpose(a), conjugated, b).right());

  Matrix<C> gram = gemm(conjugate_transpose(a), a);
  for (Index i = 0; i < n; ++i) gram(i, i) = gram(i, i).real() + T(1);
  BOOST_TEST(check_solve(gram, Cholesky(gram).solve(b), b).right());
  const SolveCertificate orthogonal = check_solve(a, Qr(a).least_squares(b), b, {.nearness = Nearness::Norm});
  BOOST_CHECK_MESSAGE(orthogonal.right(), to_text(orthogonal));
  if (n < 2) return;

  BOOST_CHECK(check_solve(a.transposed(), conjugated, b).verdict == Verdict::Wrong);
  BOOST_CHECK(check_solve(a, Matrix<C>(n, 5), b).verdict == Verdict::Wrong);
  BOOST_CHECK(check_solve(turned, checked(x), checked(b)).verdict == Verdict::Wrong);
  // A change of one part that takes a row's ratio to twice the limit, by the ratio's definition.
  for (const C direction : {C(1, 0), C(0, 1)}) {
    Matrix<C> wrong(x.view());
    const Index k = n / 2;
    double most = 0;
    for (Index i = 0; i < n; ++i) {
      double size = std::abs(Number(b(i, 3)));
      for (Index p = 0; p < n; ++p) size += std::abs(Number(a(i, p))) * std::abs(Number(x(p, 3)));
      most = std::max(most, std::abs(Number(a(i, k))) / size);
    }
    wrong(k, 3) += direction * static_cast<T>(2 * answer.limit / most);
    const SolveCertificate moved = check_solve(a, wrong, b);
    BOOST_CHECK_MESSAGE(moved.verdict == Verdict::Wrong, to_text(moved));
    BOOST_TEST(moved.col == 3);
    expect_enclosed(moved, complex_ratios(a, wrong, b));
    BOOST_TEST(check_solve(a, wrong, b, {.limit = 4 * answer.limit}).right());
  }
}

} // namespace

BOOST_AUTO_TEST_SUITE(complex_solutions)

BOOST_AUTO_TEST_CASE(solvers) {
  for (const Index n : {1, 2, 3, 17, 64, 150}) BOOST_TEST_CONTEXT(n) {
      judge_complex_solvers<float>(n, Seed{static_cast<std::uint64_t>(n)});
      judge_complex_solvers<double>(n, Seed{static_cast<std::uint64_t>(n)});
    }
}

BOOST_AUTO_TEST_CASE(threads_and_columns_change_nothing) {
  const auto a = Complex::random(60, 60, Seed{1}), b = Complex::random(60, 11, Seed{2});
  const auto x = solve(a, b);
  const SolveCertificate all = check_solve(a, x, b, {.threads = 1});
  BOOST_TEST(check_solve(a, x, b, {.threads = 2}).by_elements.most == all.by_elements.most);
  for (Index j = 0; j < 11; ++j) {
    const SolveCertificate alone = check_solve(a, x.block(0, j, 60, 1), b.block(0, j, 60, 1));
    const Enclosure& among = all.columns[static_cast<std::size_t>(j)];
    BOOST_TEST(alone.by_elements.least <= among.most);
    BOOST_TEST(among.least <= alone.by_elements.most);
  }
}

BOOST_AUTO_TEST_CASE(real_and_complex_matrices_mix) {
  const Index n = 40;
  const auto a = Matrix<double>::random(n, n, Seed{3});
  const auto b = Complex::random(n, 2, Seed{4});
  Complex same(n, n);
  for (Index i = 0; i < n; ++i)
    for (Index k = 0; k < n; ++k) same(i, k) = a(i, k);
  const auto x = solve(same, b);
  const SolveCertificate mixed = check_solve(a, x, b), complex = check_solve(same, x, b);
  BOOST_TEST(mixed.right());
  BOOST_TEST(mixed.by_elements.most == complex.by_elements.most);
  BOOST_TEST(mixed.by_norm.least == complex.by_norm.least);

  // A complex right-hand side is not solved by the real part alone, nor a real one by what has an imaginary part.
  Matrix<double> real(n, 2);
  for (Index i = 0; i < n; ++i)
    for (Index j = 0; j < 2; ++j) real(i, j) = x(i, j).real();
  BOOST_CHECK(check_solve(a, real, b).verdict == Verdict::Wrong);
  Matrix<double> real_b(n, 2);
  for (Index i = 0; i < n; ++i)
    for (Index j = 0; j < 2; ++j) real_b(i, j) = b(i, j).real();
  BOOST_CHECK(check_solve(a, x, real_b).verdict == Verdict::Wrong);
  BOOST_TEST(check_solve(a, real, real_b).right());
}

BOOST_AUTO_TEST_CASE(moduli_are_right_to_some_roundings) {
  // A·1 = 0 is off by all of A: the ratio is 1, the residual and the scale are the modulus.
  for (int exponent = -1020; exponent <= 1020; exponent += 60)
    for (const int apart : {0, 1, 26, 27, 53, 300, 1000})
      for (const Number unit : {Number(1.2345, 1.75), Number(1.9, -1.1), Number(-1, 0)}) {
        const Number z(std::ldexp(unit.real(), exponent), std::ldexp(unit.imag(), exponent - apart));
        const SolveCertificate answer = check_solve(Complex(1, 1, z), Complex(1, 1, 1.0), Complex(1, 1));
        const long double exact = std::hypot(static_cast<long double>(z.real()), static_cast<long double>(z.imag()));
        BOOST_TEST(std::abs(answer.scale / exact - 1) <= 3 * 0x1p-53L);
        BOOST_TEST(std::abs(answer.residual / exact - 1) <= 4 * 0x1p-53L);
        BOOST_TEST(answer.by_elements.least <= 1);
        BOOST_TEST(answer.by_elements.most >= 1);
        BOOST_TEST(answer.by_elements.most - answer.by_elements.least < 1e-13);
      }
}

BOOST_AUTO_TEST_CASE(not_numbers) {
  const auto a = Complex::random(20, 20, Seed{5}), b = Complex::random(20, 2, Seed{6});
  const auto x = solve(a, b);
  for (const Number bad :
       {Number(not_a_number, 0), Number(0, not_a_number), Number(infinite, 1), Number(1, -infinite)}) {
    Complex bad_x = x;
    bad_x(7, 1) = bad;
    const SolveCertificate misplaced = check_solve(a, bad_x, b);
    BOOST_CHECK(misplaced.verdict == Verdict::Wrong);
    BOOST_TEST(misplaced.col == 1);
    BOOST_CHECK(check_solve(a, bad_x, b, {.nearness = Nearness::Norm}).verdict == Verdict::Wrong);
    Complex bad_a = a;
    bad_a(3, 4) = bad;
    const SolveCertificate hidden = check_solve(bad_a, x, b);
    BOOST_CHECK(hidden.verdict == Verdict::Unknown);
    BOOST_TEST(hidden.unjudged == 2);
    Complex bad_b = b;
    bad_b(3, 0) = bad;
    BOOST_CHECK(check_solve(a, x, bad_b).verdict == Verdict::Unknown);
    BOOST_CHECK(check_solve(a, x, bad_b, {.nearness = Nearness::Norm}).verdict == Verdict::Unknown);
    Complex wrong_elsewhere = x;
    wrong_elsewhere(0, 0) += Number(0, 1);
    BOOST_CHECK(check_solve(bad_a, wrong_elsewhere, b).verdict == Verdict::Wrong);
  }
}

BOOST_AUTO_TEST_CASE(rows_of_zeros) {
  Complex a(3, 3), x(3, 1, Number(2, -1)), b(3, 1);
  BOOST_TEST(check_solve(a, x, b).right());
  BOOST_TEST(check_solve(a, x, b).row == -1);
  b(1, 0) = Number(0, 0x1p-300);
  const SolveCertificate answer = check_solve(a, x, b);
  BOOST_CHECK(answer.verdict == Verdict::Wrong);
  BOOST_TEST(answer.row == 1);
  BOOST_TEST(answer.by_elements.most >= 1);
}

BOOST_AUTO_TEST_CASE(the_largest_numbers) {
  const Number one = 1;
  // Parts are numbers, and the modulus is not.
  const Complex beyond(1, 1, Number(largest, largest));
  BOOST_CHECK(check_solve(beyond, Complex(1, 1, one), beyond).verdict == Verdict::Unknown);
  BOOST_CHECK(check_solve(Complex(1, 1, one), beyond, beyond).verdict == Verdict::Unknown);
  BOOST_CHECK(check_solve(Complex(1, 1, one), beyond, Complex(1, 1)).verdict == Verdict::Unknown);
  // |A||x| + |b| is just a number.
  const Number most(largest / 4, largest / 4);
  const Complex fits(1, 1, most);
  BOOST_TEST(check_solve(fits, Complex(1, 1, one), fits).right());
  BOOST_CHECK(check_solve(fits, Complex(1, 1, one), Complex(1, 1, std::conj(most))).verdict == Verdict::Wrong);
  BOOST_CHECK(check_solve(fits, Complex(1, 1, Number(8, 0)), fits).verdict == Verdict::Unknown);
  // Rows are judged, and the norms' product is no number.
  for (const Number unit : {Number(1), Number(0.6, 0.8)}) {
    Complex uneven(2, 2), solution(2, 1), right(2, 1);
    uneven(0, 0) = 0x1p700;
    uneven(1, 1) = unit;
    solution(0, 0) = unit;
    solution(1, 0) = 0x1p700;
    right(0, 0) = right(1, 0) = unit * 0x1p700;
    const SolveCertificate by_norm = check_solve(uneven, solution, right, {.nearness = Nearness::Norm});
    BOOST_CHECK(by_norm.verdict == Verdict::Unknown);
    BOOST_TEST(by_norm.by_norm.most == infinite);
    BOOST_TEST(check_solve(uneven, solution, right).right());
  }
  // A column after it is judged.
  Complex a(2, 2), x(2, 2), b(2, 2);
  a(0, 0) = a(1, 1) = one;
  x(0, 0) = b(0, 0) = Number(largest, largest);
  x(1, 1) = b(1, 1) = Number(3, 4);
  BOOST_CHECK(check_solve(a, x, b).verdict == Verdict::Unknown);
  b(1, 1) = Number(4, 3);
  BOOST_CHECK(check_solve(a, x, b).verdict == Verdict::Wrong);
}

BOOST_AUTO_TEST_CASE(the_smallest_numbers) {
  // i·2⁻⁵⁴⁰ times 2⁻⁵⁰⁰, whose product is a number below the normal ones.
  const Complex tiny(1, 1, Number(0, 0x1p-540)), x(1, 1, Number(0x1p-500, 0)), b(1, 1, Number(0, 0x1p-1040));
  BOOST_TEST(check_solve(tiny, x, b).by_elements.least == 0);
  BOOST_CHECK(check_solve(tiny, x, Complex(1, 1, Number(0x1p-1040, 0))).verdict == Verdict::Wrong);
  // The modulus of (1 + i)·2⁻¹⁰⁷⁴ cannot be rounded well, and times 2³⁰⁰ that shows: the ratio is √2 / (2·√2).
  const double least = std::numeric_limits<double>::denorm_min();
  const Complex rough(1, 1, Number(least, least)), large(1, 1, Number(0x1p300, 0));
  const SolveCertificate answer = check_solve(rough, large, Complex(1, 1, Number(0, 0)));
  BOOST_TEST(answer.by_elements.least <= 1);
  BOOST_TEST(answer.by_elements.most >= 1);
  BOOST_TEST(answer.by_norm.least <= 1);
  BOOST_TEST(answer.by_norm.most >= 1);
}

BOOST_AUTO_TEST_CASE(products_that_vanish_hide_the_answer) {
  const Number small(0, 0x1p-600);
  const Complex complex(1, 1, small), zero(1, 1);
  BOOST_CHECK(check_solve(complex, complex, zero).verdict == Verdict::Unknown);
  BOOST_TEST(check_solve(complex, zero, zero).right());
  BOOST_TEST(check_solve(zero, complex, zero).right());
  const Matrix<double> real(1, 1, 0x1p-600), real_zero(1, 1);
  BOOST_CHECK(check_solve(real, real, real_zero).verdict == Verdict::Unknown);
  BOOST_TEST(check_solve(real, real_zero, real_zero).right());
}

BOOST_AUTO_TEST_CASE(words_and_arguments) {
  const auto a = Complex::random(4, 4, Seed{7}), b = Complex::random(4, 1, Seed{8});
  const SolveCertificate answer = check_solve(a, solve(a, b), b);
  BOOST_TEST(to_text(answer).starts_with("right: X (4×1, complex128) solves a system that is near A and B"));
  BOOST_TEST(answer.limit == 3 * 14 * 0x1p-53 * (2 * std::numbers::sqrt2));
  CheckedMatrix half = checked(a);
  half.type = CheckedType::F16;
  BOOST_CHECK_EXCEPTION(check_solve(half, checked(b), checked(b)), InvalidArgument, [](const InvalidArgument& error) {
    return std::string(error.what()).find("a has complex numbers with parts of f16") != std::string::npos;
  });
  BOOST_CHECK_EXCEPTION(check(CheckedProduct{checked(a), checked(a)}, checked(a)), InvalidArgument,
                        [](const InvalidArgument& error) {
                          return std::string(error.what()).find("complex numbers") != std::string::npos;
                        });
}

BOOST_AUTO_TEST_SUITE_END()

} // namespace tessera::test
