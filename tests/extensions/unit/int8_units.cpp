/// Tests the arithmetic of Math::Int8Units: exact sums are rounded once, and an element that might be less accurate
/// than a strict sum is the strict sum.

#include <array>
#include <bit>
#include <cmath>
#include <limits>
#include <numeric>
#include <random>
#include <vector>

#include <boost/test/unit_test.hpp>

#include <tessera/detail/int8_units_contract.hpp>
#include <tessera/gemm.hpp>

#include "compare_problem.hpp"

using namespace tessera;
using namespace tessera::test;
namespace int8 = tessera::detail::int8;

namespace {

constexpr Arithmetic whole_numbers{DType::F64, Math::Int8Units, Summation::WholeNumbers, Accumulator::Native};

/// Is `result` the number nearest to sum·2^exponent, and the even one of two?
bool is_nearest(int8::Wide sum, int exponent, double result) {
  if (sum == 0) return result == 0;
  int place = 0;
  const double fraction = std::frexp(result, &place);
  // result = digits·2^unit
  const int unit = std::max(place - 53, -1074);
  const auto digits = static_cast<std::int64_t>(std::ldexp(fraction, place - unit));
  const int shift = unit - exponent; // sum·2^exponent = sum·2^−shift·2^unit
  if (shift <= 0) return sum << -shift == int8::Wide{digits};
  if (shift > 120) return digits == 0;
  const int8::Wide half = int8::Wide{1} << (shift - 1);
  int8::Wide error = sum - (int8::Wide{digits} << shift);
  if (error < 0) error = -error;
  return error < half || (error == half && digits % 2 == 0);
}

Matrix<double> by_kernel(const CompareProblem<double>& problem, Backend backend) {
  return gemm(problem.a, problem.b, {.backend = backend, .math = Math::Int8Units, .kernel = "int8_units"});
}

/// Returns the sum without the certificate.
double sum_of_whole_numbers(const int8::ContractLines& a, Index i, const int8::ContractLines& b, Index j) {
  int8::Wide sum = 0;
  for (std::size_t p = 0; p < a.numbers(i).size(); ++p) sum += int8::Wide{a.numbers(i)[p]} * b.numbers(j)[p];
  return int8::rounded(sum, a.facts(i).exponent + b.facts(j).exponent - 2 * int8::whole_number_bits(a.k()));
}

int8::ContractLines rows_of(const Matrix<double>& x) {
  std::vector<double> elements;
  for (Index i = 0; i < x.rows(); ++i) elements.insert(elements.end(), x.row(i).begin(), x.row(i).end());
  return {std::move(elements), x.cols()};
}

/// The large elements of each row of A meet the small ones of each column of B.
CompareProblem<double> crossed(Index size, Index k, int apart) {
  CompareProblem<double> problem(size, size, k);
  for (Index i = 0; i < size; ++i)
    for (Index p = 0; p < k; ++p) {
      if (p % 2 == 0) problem.a(i, p) = std::ldexp(problem.a(i, p), -apart);
      if (p % 2 == 1) problem.b(p, i) = std::ldexp(problem.b(p, i), -apart);
    }
  return problem;
}

} // namespace

BOOST_AUTO_TEST_SUITE(int8_units)

BOOST_AUTO_TEST_CASE(moduli_hold_every_sum) {
  int8::UnsignedWide product = 1;
  for (const int modulus : int8::moduli) {
    for (const int other : int8::moduli) BOOST_TEST((modulus == other || std::gcd(modulus, other) == 1));
    product *= static_cast<unsigned>(modulus);
  }
  BOOST_TEST((product >> 117 == 1));
  for (Index k = 1025; k <= Index{1} << 30; k = k * 3 / 2) {
    const int bits = int8::whole_number_bits(k);
    BOOST_TEST((bits <= 52 && static_cast<int8::UnsignedWide>(k) << (2 * bits) <= int8::UnsignedWide{1} << 116));
  }
  BOOST_TEST(int8::is_strict(1024));
  BOOST_TEST(!int8::is_strict(1025));
  BOOST_TEST(int8::is_strict((Index{1} << 30) + 1));
}

BOOST_AUTO_TEST_CASE(sums_are_rounded_once) {
  std::mt19937_64 random(7);
  int wrong = 0, subnormal = 0;
  for (int draw = 0; draw < 200'000; ++draw) {
    int8::Wide sum =
        (int8::Wide{static_cast<std::int64_t>(random())} << 52) + static_cast<std::int64_t>(random() >> 12);
    sum >>= static_cast<int>(random() % 110);
    if (draw % 3 == 0) sum = (sum >> 20) << 20 | int8::Wide{1} << 19; // ties
    const int exponent = static_cast<int>(random() % 2200) - 1200;
    const double result = int8::rounded(sum, exponent);
    if (std::isinf(result)) continue;
    if (result != 0 && std::abs(result) < std::numeric_limits<double>::min()) ++subnormal;
    wrong += is_nearest(sum, exponent, result) ? 0 : 1;
  }
  BOOST_TEST(wrong == 0);
  BOOST_TEST(subnormal > 1000);
  BOOST_TEST(int8::rounded(int8::Wide{3} << 100, 1000) == std::numeric_limits<double>::infinity());
  BOOST_TEST(int8::rounded(-(int8::Wide{1} << 53), 971) == -std::numeric_limits<double>::infinity());
  BOOST_TEST(int8::rounded((int8::Wide{1} << 53) - 1, 971) == std::numeric_limits<double>::max());
}

/// Of each problem the result keeps the bound of a strict product, and the comparison knows the bits.
BOOST_AUTO_TEST_CASE(errors_stay_within_the_strict_bound) {
  std::vector<CompareProblem<double>> problems;
  problems.emplace_back(20, 20, 1300);
  problems.push_back(
      {Matrix<double>::random(20, 1030, Seed{3}, 0.5, 1.0), Matrix<double>::random(1030, 20, Seed{4}, 0.5, 1.0)});
  for (const int apart : {5, 20, 40, 300}) problems.push_back(crossed(20, 1100, apart));
  for (const CompareProblem<double>& problem : problems) {
    GemmReference reference = problem.reference();
    Matrix<double> before = problem.c;
    GemmCall call = problem.call(before);
    call.math = Math::Int8Units;
    reference.add_bits(call);
    for (const Backend backend : {Backend::Reference, Backend::Auto}) {
      const GemmError error = errors(reference, by_kernel(problem, backend), whole_numbers);
      BOOST_TEST(error.within_bound());
      BOOST_TEST(error.differing_bits == 0);
    }
  }
}

/// Without the certificate the crossed elements break the bound, so that the test above can fail.
BOOST_AUTO_TEST_CASE(whole_numbers_alone_would_break_the_bound) {
  const CompareProblem<double> problem = crossed(8, 1100, 40);
  const int8::ContractLines a = rows_of(problem.a), b = rows_of(transpose(problem.b));
  Matrix<double> c(8, 8);
  for (Index i = 0; i < 8; ++i)
    for (Index j = 0; j < 8; ++j) c(i, j) = sum_of_whole_numbers(a, i, b, j);
  BOOST_TEST(!errors(problem.reference(), c, whole_numbers).within_bound());
  BOOST_TEST((by_kernel(problem, Backend::Reference) == gemm(problem.a, problem.b, {.backend = Backend::Reference})));
}

/// An ordinary product is one of whole numbers: its elements are the correctly rounded sums of rounded elements.
BOOST_AUTO_TEST_CASE(ordinary_products_are_sums_of_whole_numbers) {
  const CompareProblem<double> problem(12, 12, 1500);
  const int8::ContractLines a = rows_of(problem.a), b = rows_of(transpose(problem.b));
  const Matrix<double> c = by_kernel(problem, Backend::Reference);
  for (Index i = 0; i < 12; ++i)
    for (Index j = 0; j < 12; ++j) BOOST_TEST(c(i, j) == sum_of_whole_numbers(a, i, b, j));
}

BOOST_AUTO_TEST_SUITE_END()
