/// Tests of the QR factorisation that a device computes itself: factors and results stay there, tall panels are right,
/// and where the device has no memory or refuses a step, nothing is lost.

#include <algorithm>
#include <cstdlib>
#include <limits>

#include <boost/mpl/list.hpp>
#include <boost/test/unit_test.hpp>

#include "core/tools/recorder.hpp"
#include "device_steps.hpp"
#include "systems.hpp"

namespace tessera::test {
namespace {

using ComplexSystems = std::tuple<std::complex<float>, std::complex<double>>;

template <class T>
void same_factors(const Qr<T>& qr, const Qr<T>& expected) {
  BOOST_TEST(differing(qr.packed(), expected.packed()) == 0);
  Index other = 0;
  for (std::size_t j = 0; j < qr.tau().size(); ++j) other += !same_bits(qr.tau()[j], expected.tau()[j]);
  BOOST_TEST(other == 0);
}

/// Factors and products by Q, unless a device of little memory says that it is too small.
template <class T>
void same_as_formulas(const Matrix<T>& a) {
  const Qr expected(a, formulas);
  const Matrix<T> b = Matrix<T>::random(a.rows(), 3, Seed{2});
  try {
    const Qr qr(a, tested());
    same_factors(qr, expected);
    BOOST_TEST(differing(qr.multiply_q(b), expected.multiply_q(b)) == 0);
    BOOST_TEST(differing(qr.multiply_q_transposed(b), expected.multiply_q_transposed(b)) == 0);
  } catch (const OutOfMemory&) {
    BOOST_TEST(!keeps_all());
  }
}

/// Lets the device of the tests reject the steps of factorisations.
class NoSteps {
 public:
  NoSteps() { ::setenv("SMALL_DEVICE_NO_STEPS", "1", 1); }
  ~NoSteps() { ::unsetenv("SMALL_DEVICE_NO_STEPS"); }
  NoSteps(const NoSteps&) = delete;
  NoSteps& operator=(const NoSteps&) = delete;
};

} // namespace

BOOST_AUTO_TEST_SUITE(device_qr)

BOOST_AUTO_TEST_CASE_TEMPLATE(results_stay_on_the_device, T, Systems) {
  if (!keeps_all()) return;
  const Index m = 300, n = 130;
  const Matrix<T> a = Matrix<T>::random(m, n, Seed{1}), b = Matrix<T>::random(m, 7, Seed{2}),
                  c = Matrix<T>::random(n, 5, Seed{3});
  const Qr qr(a, tested()), expected(a, formulas);
  BOOST_TEST(is_there(qr.packed()));
  const Matrix<T> q = qr.q(), r = qr.r(), product = qr.multiply_q(b), turned = qr.multiply_q_transposed(b),
                  x = qr.least_squares(b), y = qr.minimum_norm(c);
  for (const Matrix<T>* result : {&q, &r, &product, &turned, &x, &y}) BOOST_TEST(is_there(*result));
  BOOST_TEST(is_there(qr.packed()));
  BOOST_TEST(differing(q, expected.q()) == 0);
  BOOST_TEST(differing(r, expected.r()) == 0);
  BOOST_TEST(differing(product, expected.multiply_q(b)) == 0);
  BOOST_TEST(differing(turned, expected.multiply_q_transposed(b)) == 0);
  BOOST_TEST(differing(x, expected.least_squares(b)) == 0);
  BOOST_TEST(differing(y, expected.minimum_norm(c)) == 0);
  BOOST_TEST(is_there(least_squares(a, b, tested())));
  BOOST_TEST(is_there(least_squares(a.transposed(), c, tested())));
}

/// Operands that are on the device already decide where Auto computes, and are not changed. So do scaled ones, at the
/// ends of the range.
BOOST_AUTO_TEST_CASE_TEMPLATE(operands_that_are_there, T, Systems) {
  if (!keeps_all()) return;
  using Limits = std::numeric_limits<Part<T>>;
  const GemmOptions there{.backend = tested_backend()};
  const Matrix<T> a = gemm(Matrix<T>::random(150, 90, Seed{4}), Matrix<T>::random(90, 70, Seed{5}), there),
                  b = gemm(a, Matrix<T>::random(70, 4, Seed{6}), there);
  const Qr qr(a);
  BOOST_TEST(is_there(qr.packed()));
  for (const int exponent : {0, Limits::max_exponent - 8, Limits::min_exponent - 2}) {
    Matrix<T> scaled = a;
    detail::multiply_by_power(scaled, exponent);
    const Matrix<T> x = least_squares(scaled, b), of_rows = least_squares(std::as_const(scaled).transposed(), x);
    BOOST_TEST(is_there(x));
    BOOST_TEST(is_there(of_rows));
    BOOST_TEST(is_there(scaled));
    const Matrix<T> host(scaled.view()), right(b.view());
    BOOST_TEST(differing(x, least_squares(host, right, formulas)) == 0);
    BOOST_TEST(differing(of_rows, least_squares(host.transposed(), x, formulas)) == 0);
  }
  BOOST_TEST(is_there(a));
  same_factors(qr, Qr(Matrix<T>(a.view()), formulas));
}

/// Rows and columns around the blocks of a device, which have half as many complex rows, and the groups of a panel.
BOOST_AUTO_TEST_CASE_TEMPLATE(panels_of_every_height, T, Systems) {
  if (!has_panels()) return;
  for (const auto& [m, n] : {std::pair<Index, Index>{1, 1},
                             {7, 7},
                             {31, 40},
                             {32, 33},
                             {33, 24},
                             {511, 40},
                             {512, 32},
                             {513, 31},
                             {543, 34},
                             {544, 32},
                             {545, 9},
                             {1023, 31},
                             {1024, 32},
                             {1025, 32},
                             {1055, 34},
                             {1056, 32},
                             {1057, 9},
                             {2049, 70}})
    for (const bool integers : {false, true}) BOOST_TEST_CONTEXT(m << "×" << n << ", integers: " << integers) {
        const Matrix<T> a = integers ? Matrix<T>::random(m, n, Seed{7}, Distribution::Integers, -1, 1)
                                     : Matrix<T>::random(m, n, Seed{7});
        same_as_formulas(a);
      }
}

/// More rows than a cluster of blocks has.
BOOST_AUTO_TEST_CASE_TEMPLATE(tall_panels, T, Systems) {
  if (!has_panels() || conformance::options().quick) return;
  for (const auto& [m, n] : {std::pair<Index, Index>{8193, 20}, {16384, 33}, {16385, 17}, {20000, 70}, {40000, 5}})
    BOOST_TEST_CONTEXT(m << "×" << n) same_as_formulas(Matrix<T>::random(m, n, Seed{8}));
}

/// Columns of all magnitudes: each takes another power of two than the one before it.
BOOST_AUTO_TEST_CASE_TEMPLATE(columns_of_other_magnitudes, T, Systems) {
  if (!has_panels()) return;
  using P = Part<T>;
  using Limits = std::numeric_limits<P>;
  const P factors[] = {1, Limits::max() / 4, Limits::min(), Limits::denorm_min() * 8, 0, P(-1e-20), P(1e15)};
  for (const Index m : {60, 1100}) {
    Matrix<T> a = Matrix<T>::random(m, 41, Seed{9});
    for (Index i = 0; i < m; ++i)
      for (Index j = 0; j < 41; ++j) a(i, j) *= factors[j % 7];
    for (const P value : {P(0), Limits::infinity(), Limits::quiet_NaN()})
      for (const Index col : {0, 9, 40}) BOOST_TEST_CONTEXT(m << " rows, " << value << " in column " << col) {
          Matrix<T> changed(a.view());
          if constexpr (is_complex<T>)
            changed(m - 1, col).imag(value);
          else
            changed(m - 1, col) = value;
          same_as_formulas(changed);
        }
  }
}

/// Complex columns of which a part or all but the first number is 0, or far smaller than the other part: the one that
/// reflects may be real, a column of one number is turned, and one whose rest is 0 stays if it is real.
BOOST_AUTO_TEST_CASE_TEMPLATE(columns_of_unlike_parts, T, ComplexSystems) {
  if (!has_panels()) return;
  using P = Part<T>;
  using Limits = std::numeric_limits<P>;
  const P parts[] = {0, -P(0), 1, P(-3), Limits::denorm_min(), Limits::min(), Limits::max() / 8, Limits::quiet_NaN()};
  constexpr Index kinds = 8;
  for (const bool has_rest : {false, true}) {
    Matrix<T> a(kinds * kinds + 5, kinds * kinds);
    const Matrix<T> rest = Matrix<T>::random(a.rows(), a.cols(), Seed{17});
    for (Index j = 0; j < a.cols(); ++j) {
      for (Index i = j + 1; has_rest && i < a.rows(); i += 3) a(i, j) = j % 2 == 0 ? rest(i, j) : T(rest(i, j).real());
      a(j, j) = T(parts[j / kinds], parts[j % kinds]);
    }
    for (Index j = 0; j < a.cols(); ++j) // NaN spreads to all columns after it, so each is also alone
      same_as_formulas(Matrix<T>(std::as_const(a).block(j, j, a.rows() - j, 1)));
    for (const Index first : {0, 8, 16, 24, 32, 48})
      same_as_formulas(Matrix<T>(std::as_const(a).block(first, first, a.rows() - first, 7)));
  }
  for (const Index n : {1, 5, 33}) same_as_formulas(Matrix<T>::random(n, n, Seed{18}));
}

/// Numbers of all kinds: zeros of both signs, subnormal ones and some that are not finite; and of all magnitudes.
BOOST_AUTO_TEST_CASE_TEMPLATE(hard_numbers, T, Systems) {
  if (!has_panels()) return;
  using P = Part<T>;
  for (std::uint64_t seed = 20; seed < 28; ++seed) BOOST_TEST_CONTEXT("seed " << seed) {
      same_as_formulas(Matrix<T>::random(70, 41, Seed{seed}, Distribution::Special, P(0), P(0.7)));
      same_as_formulas(Matrix<T>::random(70, 41, Seed{seed}, Distribution::Special, P(0.001), P(0.3)));
      same_as_formulas(Matrix<T>::random(70, 41, Seed{seed}, Distribution::Wide, P(-100), P(100)));
    }
}

/// A is copied to the device once, and the number of a column comes back.
BOOST_AUTO_TEST_CASE_TEMPLATE(nothing_else_is_copied, T, Systems) {
  if (!keeps_all()) return;
  const Matrix<T> a = Matrix<T>::random(300, 100, Seed{19});
  Recorder recorder;
  const Qr qr(a, tested());
  const auto count = [&](tools::Kind kind) {
    return std::ranges::count_if(recorder.of(kind), [](const auto& step) { return !step.is_end; });
  };
  BOOST_TEST(count(tools::Kind::CopyIn) == 2); // A, and that no column is 0
  BOOST_TEST(count(tools::Kind::CopyOut) == 1);
  BOOST_TEST(is_there(qr.packed()));
}

/// The first 0 on R's diagonal counts, in whichever panel and group it is.
BOOST_AUTO_TEST_CASE_TEMPLATE(the_first_zero, T, Systems) {
  for (const Index bad : {0, 7, 8, 31, 32, 69}) BOOST_TEST_CONTEXT("column " << bad) {
      Matrix<T> a = Matrix<T>::random(90, 70, Seed{10});
      for (Index i = 0; i < 90; ++i) a(i, bad) = a(i, 69) = 0;
      try {
        static_cast<void>(Qr(a, tested()).least_squares(Matrix<T>(90, 1)));
        BOOST_ERROR("columns depend on each other, and no exception");
      } catch (const RankDeficient& error) {
        BOOST_TEST(error.column() == bad);
      }
    }
}

/// A device that rejects the first step leaves everything to the general way, which brings products there.
BOOST_AUTO_TEST_CASE_TEMPLATE(a_device_that_takes_no_steps, T, Systems) {
  if (!keeps_all() || device().capabilities().device != "small device") return;
  const Matrix<T> a = Matrix<T>::random(200, 100, Seed{11}), b = Matrix<T>::random(200, 2, Seed{12});
  const Qr factors(a, tested()), expected(a, formulas);
  const NoSteps refusal;
  const Qr qr(a, tested());
  BOOST_TEST(!is_there(qr.packed()));
  same_factors(qr, expected);
  BOOST_TEST(differing(factors.q(), expected.q()) == 0);
  BOOST_TEST(differing(factors.multiply_q(b), expected.multiply_q(b)) == 0);
}

BOOST_AUTO_TEST_CASE(threads_share_factors) {
  if (!has_panels()) return;
  const Matrix<double> a = Matrix<double>::random(220, 110, Seed{13}), b = Matrix<double>::random(220, 60, Seed{14}),
                       expected = Qr(a, formulas).multiply_q(b);
  const Qr qr(a, tested());
  expect_shared_factors_to_stay([&] { return qr.multiply_q(b); }, expected);
}

BOOST_AUTO_TEST_CASE(tools_hear_of_steps) {
  if (!keeps_all()) return;
  const Matrix<double> a = Matrix<double>::random(100, 80, Seed{15});
  Recorder recorder;
  const Qr qr(a, tested());
  static_cast<void>(qr.q());
  const auto steps = recorder.of(tools::Kind::Panel);
  for (const char* name : {"reflections", "reflection_vectors", "reflection_triangle"}) // three panels, begin and end
    BOOST_TEST(std::ranges::count_if(steps, [&](const auto& step) { return step.name == name; }) == 3 * 2, name);
}

BOOST_AUTO_TEST_SUITE_END()

} // namespace tessera::test
