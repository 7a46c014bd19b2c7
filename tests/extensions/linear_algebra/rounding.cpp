/// Tests that quotients and square roots are rounded as IEEE 754 says, with operands for which this is hard: results
/// beside a number or between two, mantissas of ones, powers of two, zeros of both signs, and ends of the range.

#include <cmath>
#include <limits>
#include <random>
#include <vector>

#include <boost/test/unit_test.hpp>

#include "systems.hpp"

namespace tessera::test {
namespace {

/// Draws numbers of a type whose quotients and roots are hard to round.
template <class T>
class HardNumbers {
  using Limits = std::numeric_limits<T>;

 public:
  explicit HardNumbers(unsigned seed) : engine_(seed) {}

  /// A mantissa in [1, 2), times a power of two up to 2^±most, with any sign.
  T number(int most) {
    constexpr T unit = Limits::epsilon();
    T mantissa = T(1) + static_cast<T>(random() % 1000) * unit;
    if (const unsigned kind = random() % 4; kind == 0)
      mantissa = T(2) - static_cast<T>(1 + random() % 3) * unit;
    else if (kind == 1)
      mantissa = std::uniform_real_distribution<T>(1, 2)(engine_);
    else if (kind == 2)
      mantissa = T(1) + static_cast<T>(random() % 8) / 8;
    const T magnitude = std::ldexp(mantissa, static_cast<int>(random() % static_cast<unsigned>(2 * most + 1)) - most);
    return random() % 2 == 0 ? magnitude : -magnitude;
  }
  /// A dividend whose quotient by `divisor` lies at a number, beside one, or between two; rarely a zero or one that is
  /// subnormal or near overflow.
  T dividend(T divisor) {
    switch (random() % 16) {
      case 0:
        return random() % 2 == 0 ? T(0) : -T(0);
      case 1:
        return 8 * number(1) * Limits::denorm_min();
      case 2:
        return number(0) * (Limits::max() / 4);
      default:
        return beside(static_cast<long double>(target()) * static_cast<long double>(divisor));
    }
  }
  /// A number whose root lies so; rarely one that is subnormal or near overflow.
  T square() {
    switch (random() % 16) {
      case 0:
        return 8 * std::abs(number(1)) * Limits::denorm_min();
      case 1:
        return std::abs(number(0)) * (Limits::max() / 4);
      default:
        const long double root = target();
        return beside(root * root);
    }
  }

 private:
  unsigned random() { return static_cast<unsigned>(engine_()); }
  /// A number, or the middle between two.
  long double target() {
    const T number = this->number(random() % 4 == 0 ? Limits::max_exponent / 3 : 3);
    const T next = std::nextafter(number, 2 * number);
    return random() % 2 == 0 ? static_cast<long double>(number)
                             : (static_cast<long double>(number) + static_cast<long double>(next)) / 2;
  }
  T beside(long double value) {
    T near = static_cast<T>(value);
    const unsigned steps = random() % 3;
    for (unsigned i = 0; i < steps; ++i) near = std::nextafter(near, random() % 2 == 0 ? T(0) : 2 * near);
    return near;
  }

  std::mt19937_64 engine_;
};

} // namespace

BOOST_AUTO_TEST_SUITE(rounding)

BOOST_AUTO_TEST_CASE_TEMPLATE(quotients_by_a_triangle, T, Elements) {
  HardNumbers<T> hard(1);
  const int rounds = conformance::options().quick ? 10 : 200;
  for (int round = 0; round < rounds; ++round) {
    Matrix<T> t(1, 1), b(1, 3000), expected(1, 3000);
    const T divisor = hard.number(std::numeric_limits<T>::max_exponent / 4);
    t(0, 0) = divisor;
    for (Index j = 0; j < b.cols(); ++j) {
      const T dividend = hard.dividend(divisor);
      b(0, j) = dividend;
      expected(0, j) = (dividend - T(0)) / divisor;
    }
    const Matrix<T> x = triangular_solve(Triangle::Lower, t, b, Side::Left, Diagonal::Stored, tested());
    BOOST_TEST(differing(x, expected) == 0, "quotients by " << divisor);
  }
}

/// A diagonal matrix has the roots of its numbers.
BOOST_AUTO_TEST_CASE_TEMPLATE(roots_of_a_diagonal, T, Elements) {
  HardNumbers<T> hard(2);
  const int rounds = conformance::options().quick ? 2 : 40;
  for (int round = 0; round < rounds; ++round) {
    const Index n = 190;
    Matrix<T> a(n, n), expected(n, n);
    for (Index i = 0; i < n; ++i) {
      const T square = hard.square();
      a(i, i) = square;
      expected(i, i) = std::sqrt(square);
    }
    BOOST_TEST(differing(Cholesky(a, Triangle::Lower, tested()).l(), expected) == 0, "round " << round);
  }
}

/// The first column of L has quotients by a root; the other columns are the formulas' columns.
BOOST_AUTO_TEST_CASE_TEMPLATE(quotients_by_a_root, T, Elements) {
  HardNumbers<T> hard(3);
  const int rounds = conformance::options().quick ? 2 : 40;
  for (int round = 0; round < rounds; ++round) {
    const Index n = 150;
    Matrix<T> a(n, n);
    const T root = std::sqrt(a(0, 0) = std::abs(hard.number(5)));
    std::vector<T> column;
    for (Index i = 1; i < n; ++i) {
      const T dividend = i % 10 == 0 ? -T(0) : hard.number(5);
      a(i, 0) = dividend;
      a(i, i) = std::ldexp(T(1), 40);
      column.push_back(dividend / root);
    }
    const Cholesky cholesky(a, Triangle::Lower, tested());
    for (Index i = 1; i < n; ++i)
      BOOST_TEST(same_bits(cholesky.l()(i, 0), column[static_cast<std::size_t>(i - 1)]), "row " << i);
    BOOST_TEST(differing(cholesky.l(), Cholesky(a, Triangle::Lower, formulas).l()) == 0);
  }
}

BOOST_AUTO_TEST_SUITE_END()

} // namespace tessera::test
