#include <tessera/random.hpp>

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <set>
#include <utility>
#include <vector>

#include <boost/test/unit_test.hpp>

#include <tessera/matrix.hpp>
#include <tessera/status.hpp>

#include "support/expect.hpp"

using namespace tessera;
using tessera::test::expect_error;
using Elements = std::tuple<float, double>;

BOOST_AUTO_TEST_SUITE(random_numbers)

/// The known answers that the authors of Philox publish (Random123, kat_vectors: philox4x32, 10 rounds).
BOOST_AUTO_TEST_CASE(philox_gives_the_published_words) {
  struct Known {
    std::uint64_t key;
    PhiloxBlock counter, result;
  };
  const std::array<Known, 3> known{{
      {0, {{0, 0, 0, 0}}, {{0x6627e8d5, 0xe169c58d, 0xbc57ac4c, 0x9b00dbd8}}},
      {0xffffffffffffffff,
       {{0xffffffff, 0xffffffff, 0xffffffff, 0xffffffff}},
       {{0x408f276d, 0x41c83b0e, 0xa20bc7c6, 0x6d5451fd}}},
      {0x299f31d0a4093822,
       {{0x243f6a88, 0x85a308d3, 0x13198a2e, 0x03707344}},
       {{0xd16cfe09, 0x94fdcceb, 0x5001e420, 0x24126ea1}}},
  }};
  for (const Known& k : known) {
    const PhiloxBlock got = philox4x32(k.key, k.counter);
    for (int i = 0; i < 4; ++i) BOOST_TEST(got.word[i] == k.result.word[i]);
  }
}

BOOST_AUTO_TEST_CASE(the_short_form_puts_counter_and_stream_where_they_belong) {
  const PhiloxBlock got = philox4x32(7, 0x0123456789abcdef, 5);
  const PhiloxBlock expected = philox4x32(7, PhiloxBlock{{0x89abcdef, 0x01234567, 5, 0}});
  for (int i = 0; i < 4; ++i) BOOST_TEST(got.word[i] == expected.word[i]);
}

BOOST_AUTO_TEST_CASE_TEMPLATE(uniform_numbers_are_uniform, T, Elements) {
  const auto a = Matrix<T>::random(400, 500, Seed{42});
  double sum = 0;
  double squares = 0;
  for (Index i = 0; i < a.rows(); ++i)
    for (const T x : a.row(i)) {
      BOOST_REQUIRE(x >= T{-1});
      BOOST_REQUIRE(x < T{1});
      sum += static_cast<double>(x);
      squares += static_cast<double>(x) * static_cast<double>(x);
    }
  const double n = static_cast<double>(a.size());
  BOOST_TEST(std::abs(sum / n) < 5 / std::sqrt(3 * n)); // five standard deviations
  BOOST_TEST(std::abs(squares / n - 1.0 / 3) < 5 * std::sqrt(4.0 / 45 / n));
}

BOOST_AUTO_TEST_CASE_TEMPLATE(normal_numbers_have_mean_and_deviation, T, Elements) {
  const auto a = Matrix<T>::random(400, 500, Seed{42}, Distribution::Normal, T{3}, T{2});
  double sum = 0;
  double squares = 0;
  for (Index i = 0; i < a.rows(); ++i)
    for (const T x : a.row(i)) {
      const double deviate = (static_cast<double>(x) - 3) / 2;
      sum += deviate;
      squares += deviate * deviate;
    }
  const double n = static_cast<double>(a.size());
  BOOST_TEST(std::abs(sum / n) < 5 / std::sqrt(n));
  BOOST_TEST(std::abs(squares / n - 1) < 5 * std::sqrt(2 / n));
}

BOOST_AUTO_TEST_CASE_TEMPLATE(integers_are_all_drawn, T, Elements) {
  const auto a = Matrix<T>::random(100, 100, Seed{1}, Distribution::Integers, T{-3}, T{4});
  std::set<T> drawn;
  for (Index i = 0; i < a.rows(); ++i) drawn.insert(a.row(i).begin(), a.row(i).end());
  BOOST_TEST(drawn == (std::set<T>{-3, -2, -1, 0, 1, 2, 3, 4}), boost::test_tools::per_element());
  const auto constant = Matrix<T>::random(5, 5, Seed{1}, Distribution::Integers, T{7}, T{7});
  BOOST_TEST((constant == Matrix<T>(5, 5, T{7})));
}

BOOST_AUTO_TEST_CASE_TEMPLATE(wide_numbers_have_every_exponent, T, Elements) {
  const auto a = Matrix<T>::random(200, 200, Seed{3}, Distribution::Wide, T{-30}, T{20});
  std::array<int, 51> drawn{};
  int negative = 0;
  double significands = 0;
  for (Index i = 0; i < a.rows(); ++i)
    for (const T x : a.row(i)) {
      int exponent = 0;
      significands += 2 * std::abs(static_cast<double>(std::frexp(x, &exponent)));
      BOOST_REQUIRE(exponent - 1 >= -30);
      BOOST_REQUIRE(exponent - 1 <= 20);
      ++drawn[static_cast<std::size_t>(exponent - 1 + 30)];
      negative += x < 0;
    }
  const double n = static_cast<double>(a.size());
  for (const int count : drawn) BOOST_TEST(std::abs(count - n / 51) < 5 * std::sqrt(n / 51));
  BOOST_TEST(std::abs(negative - n / 2) < 5 * std::sqrt(n / 4));
  BOOST_TEST(std::abs(significands / n - 1.5) < 5 * std::sqrt(1.0 / 12 / n));
}

/// Every kind of special value occurs with its promised share.
BOOST_AUTO_TEST_CASE_TEMPLATE(special_numbers_are_all_there, T, Elements) {
  using Limits = std::numeric_limits<T>;
  const auto a = Matrix<T>::random(400, 500, Seed{3}, Distribution::Special, static_cast<T>(0.01), static_cast<T>(0.2));
  int nan = 0, plus = 0, minus = 0, zero = 0, minus_zero = 0, subnormal = 0, least = 0, normal = 0, largest = 0,
      huge = 0, tiny = 0, plain = 0;
  for (Index i = 0; i < a.rows(); ++i)
    for (const T x : a.row(i)) {
      const T size = std::abs(x);
      nan += std::isnan(x);
      plus += x == Limits::infinity();
      minus += x == -Limits::infinity();
      zero += x == 0 && !std::signbit(x);
      minus_zero += x == 0 && std::signbit(x);
      least += size == Limits::denorm_min();
      subnormal += size > Limits::denorm_min() && size < Limits::min();
      normal += size == Limits::min();
      tiny += size > Limits::min() && size * size == 0;
      largest += size == Limits::max();
      huge += size < Limits::max() && size > 1 && std::isinf(size * size);
      plain += size >= Limits::epsilon() / 4 && x >= -1 && x < 1;
    }
  const auto expect = [&](const char* kind, int count, double share) {
    const double n = share * static_cast<double>(a.size());
    BOOST_TEST(std::abs(count - n) < 5 * std::sqrt(n), kind << ": " << count << " instead of " << n);
  };
  expect("NaN", nan, 0.01 / 2);
  expect("Inf", plus, 0.01 / 4);
  expect("-Inf", minus, 0.01 / 4);
  expect("0", zero, 0.2 / 8);
  expect("-0", minus_zero, 0.2 / 8);
  expect("smallest subnormal", least, 0.2 / 8);
  expect("subnormal", subnormal, 0.2 / 8);
  expect("smallest normal", normal, 0.2 / 8);
  expect("tiny", tiny, 0.2 / 8);
  expect("huge", huge, 0.2 / 8);
  expect("largest", largest, 0.2 / 8);
  expect("plain", plain, 0.79);
}

namespace {

/// Ranges in which low + u·(high − low) rounds to high, below low or beyond the type, or has few numbers; and usual
/// ones.
template <class T>
std::vector<std::pair<Scalar<T>, Scalar<T>>> ranges() {
  using S = Scalar<T>;
  using Limits = std::numeric_limits<T>;
  const auto largest = static_cast<S>(Limits::max()), least = static_cast<S>(Limits::denorm_min());
  const auto next = static_cast<S>(neighbour(static_cast<T>(1), true));
  return {{S{0}, S{1}},     {S{-1}, S{1}},      {S{100}, S{101}},         {S{-101}, S{-100}},
          {S{1}, next},     {-next, S{-1}},     {S{1000}, S{1008}},       {-largest, largest},
          {S{0}, largest},  {-largest, S{0}},   {-largest, -largest / 2}, {S{0}, least},
          {-least, S{0}},   {-least, least},    {-least, S{-0.0}},        {-3 * least, 5 * least},
          {S(0.1), S(0.3)}, {S(-0.7), S(1e-3)}, {largest / 2, largest},   {S{3}, S{3}}};
}

} // namespace

using AllElements = std::tuple<float, double, f16, bf16>;

BOOST_AUTO_TEST_CASE_TEMPLATE(uniform_numbers_stay_in_their_range, T, AllElements) {
  for (const auto& [low, high] : ranges<T>()) {
    const auto a = Matrix<T>::random(100, 200, Seed{7}, low, high);
    long outside = 0;
    for (Index i = 0; i < a.rows(); ++i)
      for (const T x : a.row(i)) {
        const auto value = static_cast<Scalar<T>>(x);
        outside += !(low == high ? value == low : value >= low && value < high);
      }
    BOOST_TEST(outside == 0, outside << " of 20000 are outside [" << low << ", " << high << ")");
  }
}

/// The ends of the range are drawn as often as the numbers between them.
BOOST_AUTO_TEST_CASE_TEMPLATE(uniform_numbers_fill_wide_ranges, T, AllElements) {
  const auto largest = static_cast<Scalar<T>>(std::numeric_limits<T>::max());
  const auto a = Matrix<T>::random(100, 200, Seed{7}, -largest, largest);
  int quarters[4]{};
  for (Index i = 0; i < a.rows(); ++i)
    for (const T x : a.row(i))
      ++quarters[std::clamp(static_cast<int>(2 * (static_cast<double>(x) / static_cast<double>(largest) + 1)), 0, 3)];
  for (const int count : quarters) BOOST_TEST(std::abs(count - 5000) < 5 * 61); // five standard deviations
}

BOOST_AUTO_TEST_CASE_TEMPLATE(integers_stay_in_their_range, T, AllElements) {
  using S = Scalar<T>;
  // Beyond this number the type does not have every whole number.
  const S wide = static_cast<S>(std::ldexp(1.0, std::min(24, std::numeric_limits<T>::digits)));
  for (const auto& [low, high] : {std::pair<S, S>{-3, 4}, {wide - 7, wide + 1}, {-wide - 1, wide}, {5, 5}}) {
    const auto a = Matrix<T>::random(100, 100, Seed{1}, Distribution::Integers, low, high);
    for (Index i = 0; i < a.rows(); ++i)
      for (const T x : a.row(i)) BOOST_REQUIRE((static_cast<S>(x) >= low && static_cast<S>(x) <= high));
  }
}

BOOST_AUTO_TEST_CASE(the_bits_of_usual_ranges_stay) {
  for (const std::uint64_t e : {0u, 1u, 5u, 1000u, 123457u}) {
    const PhiloxBlock block = philox4x32(9, e / 4), wide = philox4x32(9, e / 2);
    const float u = unit_uniform(block, static_cast<int>(e % 4), float{});
    const double v = unit_uniform(wide, static_cast<int>(e % 2), double{});
    BOOST_TEST(random_element<float>(Distribution::Uniform, 9, e, 0, 1) == u);
    BOOST_TEST(random_element<float>(Distribution::Uniform, 9, e, -1, 1) == std::fma(u, 2.0f, -1.0f));
    BOOST_TEST(random_element<double>(Distribution::Uniform, 9, e, 0, 1) == v);
    BOOST_TEST(random_element<double>(Distribution::Uniform, 9, e, -0.1, 0.3) == std::fma(v, 0.3 - -0.1, -0.1));
    BOOST_TEST((random_element<f16>(Distribution::Uniform, 9, e, -1, 1) == f16(std::fma(u, 2.0f, -1.0f))));
  }
}

BOOST_AUTO_TEST_CASE(neighbours) {
  BOOST_TEST(neighbour(1.0f, true) == std::nextafter(1.0f, 2.0f));
  BOOST_TEST(neighbour(-1.0, true) == std::nextafter(-1.0, 0.0));
  BOOST_TEST(neighbour(0.0, false) == -std::numeric_limits<double>::denorm_min());
  BOOST_TEST(neighbour(-0.0f, true) == std::numeric_limits<float>::denorm_min());
  BOOST_TEST(neighbour(std::numeric_limits<float>::denorm_min(), false) == 0.0f);
  BOOST_TEST((neighbour(f16(65504), true) == f16(HUGE_VALF)));
}

BOOST_AUTO_TEST_CASE(a_seed_gives_one_matrix_and_another_seed_another) {
  BOOST_TEST((Matrix<float>::random(9, 9, Seed{5}) == Matrix<float>::random(9, 9, Seed{5})));
  BOOST_TEST(!(Matrix<float>::random(9, 9, Seed{5}) == Matrix<float>::random(9, 9, Seed{6})));
}

BOOST_AUTO_TEST_CASE(limits_that_make_no_sense_are_refused) {
  const auto draw = [](Distribution distribution, double low, double high) {
    return [=] { static_cast<void>(Matrix<double>::random(2, 2, Seed{1}, distribution, low, high)); };
  };
  expect_error<InvalidArgument>(draw(Distribution::Uniform, 2, 1), {"low = 2", "high = 1"});
  expect_error<InvalidArgument>(draw(Distribution::Uniform, NAN, 1), {"not finite"});
  expect_error<InvalidArgument>(draw(Distribution::Uniform, 0, HUGE_VAL), {"not finite"});
  expect_error<InvalidArgument>(draw(Distribution::Integers, 0.5, 3), {"not whole", "low = 0.5"});
  expect_error<InvalidArgument>(draw(Distribution::Integers, 0, 0x1p40), {"2^32"});
  expect_error<InvalidArgument>(draw(Distribution::Normal, HUGE_VAL, 1), {"not finite"});
  expect_error<InvalidArgument>(draw(Distribution::Wide, 0.5, 3), {"not whole", "low = 0.5"});
  expect_error<InvalidArgument>(draw(Distribution::Wide, -1023, 3), {"-1022", "1023", "low = -1023"});
  expect_error<InvalidArgument>(
      [] { static_cast<void>(Matrix<float>::random(2, 2, Seed{1}, Distribution::Wide, 0, 128)); }, {"f32", "127"});
  const auto draw_f16 = [](Distribution distribution, float low, float high) {
    return [=] { static_cast<void>(Matrix<f16>::random(2, 2, Seed{1}, distribution, low, high)); };
  };
  constexpr double largest = std::numeric_limits<double>::max();
  expect_error<InvalidArgument>(draw_f16(Distribution::Uniform, -1e6f, 1e6f),
                                {"low is beyond", "f16", "65504", "1000000"});
  expect_error<InvalidArgument>(draw_f16(Distribution::Uniform, 0, 65505), {"high is beyond", "f16", "65504"});
  expect_error<InvalidArgument>(draw_f16(Distribution::Integers, 0, 70000), {"high is beyond", "f16"});
  expect_error<InvalidArgument>(draw_f16(Distribution::Integers, 4097, 4099), {"no number of f16", "4097"});
  static_cast<void>(Matrix<f16>::random(2, 2, Seed{1}, Distribution::Integers, 4097, 4100));
  expect_error<InvalidArgument>(draw_f16(Distribution::Uniform, 1.0001f, 1.0002f), {"no number of f16", "1.0001"});
  expect_error<InvalidArgument>(draw_f16(Distribution::Normal, 0, 65504), {"6 deviations", "f16", "65504"});
  expect_error<InvalidArgument>(draw(Distribution::Normal, 0, largest), {"6 deviations", "f64"});
  expect_error<InvalidArgument>(draw(Distribution::Normal, largest, 1e300), {"6 deviations", "f64"});
  static_cast<void>(Matrix<double>::random(2, 2, Seed{1}, Distribution::Normal, 0, largest / 6));
  expect_error<InvalidArgument>(draw(Distribution::Special, 0.75, 0.5), {"shares", "0.75"});
  expect_error<InvalidArgument>(draw(Distribution::Special, -0.25, 0.5), {"shares", "-0.25"});
}

BOOST_AUTO_TEST_SUITE_END()
