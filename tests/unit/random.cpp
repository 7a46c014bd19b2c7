#include <tessera/random.hpp>

#include <array>
#include <cmath>
#include <limits>
#include <set>

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
  expect_error<InvalidArgument>(draw(Distribution::Special, 0.75, 0.5), {"shares", "0.75"});
  expect_error<InvalidArgument>(draw(Distribution::Special, -0.25, 0.5), {"shares", "-0.25"});
}

BOOST_AUTO_TEST_SUITE_END()
