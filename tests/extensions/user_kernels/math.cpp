/// tessera::'s mathematics: the bits of a serial loop of this file on every backend, and errors within what math.hpp
/// says, against long double.

#include <cmath>
#include <cstring>
#include <limits>
#include <random>

#include <boost/test/unit_test.hpp>

#include "memory.hpp"
#include "terms.hpp"

namespace tessera::test {
namespace {

using conformance::subject;

template <class T>
std::vector<T> arguments() {
  std::mt19937_64 generator(1);
  std::vector<T> all{T(0),
                     -T(0),
                     T(1),
                     std::numeric_limits<T>::infinity(),
                     -std::numeric_limits<T>::infinity(),
                     std::numeric_limits<T>::quiet_NaN(),
                     std::numeric_limits<T>::denorm_min(),
                     std::numeric_limits<T>::min(),
                     std::numeric_limits<T>::max(),
                     std::numeric_limits<T>::lowest(),
                     T(0.625),
                     -T(0.625)};
  for (int i = 0; i < 20000; ++i) {
    const double uniform = static_cast<double>(generator() >> 11) * 0x1p-53 - 0.5;
    all.push_back(static_cast<T>(uniform * 4));
    all.push_back(static_cast<T>(uniform * (sizeof(T) == 4 ? 210 : 1500)));
    all.push_back(static_cast<T>(std::ldexp(
        uniform, static_cast<int>(generator() % (sizeof(T) == 4 ? 250 : 2000)) - (sizeof(T) == 4 ? 125 : 1000))));
  }
  return all;
}

/// The distance in units of the last place of the exact value, which is right where long double is wide enough.
template <class T>
double ulps(T got, long double exact) {
  if (std::isnan(exact)) return std::isnan(got) ? 0 : 1e9;
  if (std::isinf(static_cast<T>(exact)) || std::isinf(got)) return got == static_cast<T>(exact) ? 0 : 1e9;
  int exponent = 0;
  std::frexp(exact, &exponent);
  exponent = std::max(exponent, std::numeric_limits<T>::min_exponent);
  return static_cast<double>(std::abs(static_cast<long double>(got) - exact) /
                             std::ldexp(1.0L, exponent - std::numeric_limits<T>::digits));
}

template <class F, class T, class Same, class Exact>
void check(Same same, Exact exact, double most) {
  const std::vector<T> x = arguments<T>();
  const auto n = static_cast<Index>(x.size());
  const SubjectMemory<T> in(x), out(x);
  for_each(subject(), n, F{read<T>(in.data(), 1, n, n, subject()), write(out.data(), 1, n, n, subject())});
  const std::vector<T> got = out.values();
  double worst = 0;
  std::size_t differ = 0;
  for (std::size_t i = 0; i < x.size(); ++i) {
    const T expected = same(x[i]);
    const bool equal = std::isnan(expected) ? std::isnan(got[i]) : std::memcmp(&got[i], &expected, sizeof(T)) == 0;
    differ += equal ? 0 : 1;
    worst = std::max(worst, ulps(got[i], exact(static_cast<long double>(x[i]))));
  }
  BOOST_TEST(differ == 0u, F::name << ": " << differ << " results have other bits than on the host");
  BOOST_TEST(worst <= most, F::name << ": an error of " << worst << " ULP");
}

BOOST_AUTO_TEST_SUITE(mathematics)

BOOST_AUTO_TEST_CASE(exponentials) {
  check<Exp<float>, float>([](float x) { return tessera::exp(x); }, [](long double x) { return std::exp(x); }, 1.0);
  check<Exp<double>, double>([](double x) { return tessera::exp(x); }, [](long double x) { return std::exp(x); }, 1.0);
}
BOOST_AUTO_TEST_CASE(logarithms) {
  check<Log<float>, float>([](float x) { return tessera::log(x); }, [](long double x) { return std::log(x); }, 1.0);
  check<Log<double>, double>([](double x) { return tessera::log(x); }, [](long double x) { return std::log(x); }, 1.0);
}
BOOST_AUTO_TEST_CASE(hyperbolic_tangents) {
  check<Tanh<float>, float>([](float x) { return tessera::tanh(x); }, [](long double x) { return std::tanh(x); }, 1.4);
  check<Tanh<double>, double>([](double x) { return tessera::tanh(x); }, [](long double x) { return std::tanh(x); },
                              1.4);
}

BOOST_AUTO_TEST_CASE(exact_functions) {
  const std::vector<double> x = arguments<double>();
  const auto n = static_cast<Index>(x.size());
  const SubjectMemory<double> in(x), out(x);
  for_each(subject(), n, ExactOnes{read<double>(in.data(), 1, n, n, subject()), write(out.data(), 1, n, n, subject())});
  const std::vector<double> got = out.values();
  std::size_t differ = 0;
  for (std::size_t i = 0; i < x.size(); ++i) {
    const double a = std::fma(std::sqrt(std::abs(x[i])), x[i], 0.1), b = std::max(x[i], -0.5);
    const double expected = std::isnan(x[i]) ? x[i] : std::min(a, b);
    differ += std::isnan(expected) ? !std::isnan(got[i]) : got[i] != expected;
  }
  BOOST_TEST(differ == 0u);
  BOOST_TEST(std::signbit(tessera::min(0.0, -0.0)));
  BOOST_TEST(!std::signbit(tessera::max(-0.0f, 0.0f)));
  BOOST_TEST(std::isnan(tessera::max(std::numeric_limits<float>::quiet_NaN(), 1.0f)));
  BOOST_TEST(tessera::fma(2, f16(3.0f), 1) == 7.0f);
}

// Sine and power of OpenCL's libraries are within 4 and 16 ULP, of 1 and of 2.4 at most; the angle within 6 ULP of 1.4.
BOOST_AUTO_TEST_CASE(functions_of_the_library) {
  std::vector<double> x;
  for (int i = -1000; i <= 1000; ++i) x.push_back(i / 500.0);
  const auto n = static_cast<Index>(x.size());
  const SubjectMemory<double> in(x), out(x);
  for_each(subject(), n,
           LibraryFunctions{read<double>(in.data(), 1, n, n, subject()), write(out.data(), 1, n, n, subject())});
  const std::vector<double> got = out.values();
  double worst = 0;
  for (std::size_t i = 0; i < x.size(); ++i) {
    const double sine = std::sin(x[i]), power = std::pow(std::abs(x[i]), 1.25);
    worst = std::max(worst, std::abs(got[i] - std::fma(sine, power, std::atan2(x[i], 0.5))));
  }
  constexpr double bound = (2.4 * (4 + 16) + 1.4 * 6 + 4) * std::numeric_limits<double>::epsilon();
  BOOST_TEST(worst <= bound, "an error of " << worst);
}

BOOST_AUTO_TEST_SUITE_END()

} // namespace
} // namespace tessera::test
