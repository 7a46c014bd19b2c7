/// The model of Hopper's matrix units: what its description says, on sums that can be worked out by hand.

#include <array>
#include <cmath>
#include <limits>
#include <vector>

#include <boost/test/unit_test.hpp>

#include <tessera/detail/matrix_unit.hpp>
#include <tessera/half.hpp>
#include <tessera/random.hpp>

using namespace tessera;
using namespace tessera::detail::hopper;

BOOST_AUTO_TEST_SUITE(matrix_unit)

BOOST_AUTO_TEST_CASE(sums_that_fit_are_exact) {
  for (std::uint64_t round = 0; round < 200; ++round) {
    std::vector<float> a(64), b(64);
    double exact = 0;
    for (std::size_t i = 0; i < a.size(); ++i) {
      a[i] = random_element<float>(Distribution::Integers, 2 * round, i, -30, 30);
      b[i] = random_element<float>(Distribution::Integers, 2 * round + 1, i, -30, 30);
      exact += static_cast<double>(a[i]) * b[i];
    }
    for (const OperandFormat& format : {f16_operands, bf16_operands, tf32_operands})
      BOOST_TEST(dot(a, b, 5.0f, format) == static_cast<float>(exact + 5));
  }
}

BOOST_AUTO_TEST_CASE(terms_are_cut_25_bits_after_the_largest_one) {
  const std::array one{1.0f, 0.0f};
  const auto sum_with = [&](float term, float c) {
    return multiply_add(std::array{1.0f, term}, std::array{c, 1.0f}, 0.0f, tf32_operands);
  };
  BOOST_TEST(multiply_add(one, one, 0x1p-23f, bf16_operands) == 1 + 0x1p-23f);
  BOOST_TEST(multiply_add(one, one, -0x1p-25f, bf16_operands) == 1 - 0x1p-24f); // cut from 1 − 2⁻²⁵
  BOOST_TEST(multiply_add(one, one, -0x1p-26f, bf16_operands) == 1.0f);         // the term itself is cut
  BOOST_TEST(sum_with(-0x1p-26f, 1.0f) == 1.0f);
  BOOST_TEST(sum_with(-0x1p-26f, 0.5f) == 0.5f - 0x1p-25f);
  // Four terms of 2⁻²⁵ make 2⁻²³; four of 2⁻²⁶ nothing. Added one after the other, all are cut.
  for (const float term : {0x1p-25f, 0x1p-26f}) {
    const std::vector<float> terms{1, term, term, term, term}, ones(5, 1.0f);
    BOOST_TEST(multiply_add(terms, ones, 0.0f, bf16_operands) == (term == 0x1p-25f ? 1 + 0x1p-23f : 1.0f));
    float chain = 1;
    for (int i = 0; i < 4; ++i) chain = multiply_add(std::array{term}, std::array{1.0f}, chain, bf16_operands);
    BOOST_TEST(chain == 1.0f);
  }
  // A product of 1.5 · 1.5 is 2.25, but its exponent counts as 0.
  BOOST_TEST(multiply_add(std::array{1.5f}, std::array{1.5f}, 0x1p-25f, bf16_operands) == 2.25f);
  const std::array signs{1.5f, -1.5f, -1.0f};
  BOOST_TEST(multiply_add(std::array{1.5f, 1.5f, 0x1p-25f}, signs, 0.0f, bf16_operands) == -0x1p-25f);
  BOOST_TEST(multiply_add(std::array{1.5f, 1.5f, 0x1p-26f}, signs, 0.0f, bf16_operands) == 0.0f);
}

BOOST_AUTO_TEST_CASE(steps_of_k_are_a_chain) {
  std::vector<float> a(32, 0.0f), b(32, 1.0f);
  a[0] = 1;
  a[15] = 0x1p-24f; // with a[0] in one step of 16-bit operands, but not of tf32
  a[14] = 0x1p-24f;
  BOOST_TEST(dot(a, b, 0.0f, bf16_operands) == 1 + 0x1p-23f);
  a[14] = 0;
  a[16] = 0x1p-24f;
  BOOST_TEST(dot(a, b, 0.0f, bf16_operands) == 1.0f);
}

BOOST_AUTO_TEST_CASE(small_numbers_and_large_ones) {
  constexpr float tiny = 0x1p-149f, infinity = std::numeric_limits<float>::infinity();
  const std::array one{1.0f};
  BOOST_TEST(multiply_add(one, std::array{0x1p-133f}, 0.0f, bf16_operands) == 0x1p-133f); // a subnormal bf16
  BOOST_TEST(multiply_add(one, std::array{0.0f}, tiny, bf16_operands) == tiny);
  BOOST_TEST(multiply_add(std::array{0x1p-75f}, std::array{0x1p-75f}, 0.0f, bf16_operands) == 0.0f);
  BOOST_TEST(multiply_add(std::array{0x1p-75f}, std::array{0x1p-74f}, 0.0f, bf16_operands) == tiny);
  BOOST_TEST(multiply_add(std::array{0x1p-24f}, std::array{0x1p-24f}, 0.0f, f16_operands) == 0x1p-48f);
  BOOST_TEST(multiply_add(std::array{0x1p127f, 0x1p127f}, std::array{1.0f, 1.0f}, 0.0f, bf16_operands) == infinity);
  BOOST_TEST(multiply_add(std::array{0x1p127f, 0x1p127f}, std::array{2.0f, -2.0f}, 3.0f, bf16_operands) == 0.0f);
  BOOST_TEST(multiply_add(one, std::array{-infinity}, 3.0f, bf16_operands) == -infinity);
  BOOST_TEST(std::isnan(multiply_add(std::array{0.0f}, std::array{infinity}, 3.0f, bf16_operands)));
  BOOST_TEST(std::isnan(multiply_add(one, std::array{-infinity}, infinity, bf16_operands)));
  BOOST_TEST(std::isnan(multiply_add(one, one, std::nanf(""), bf16_operands)));
}

BOOST_AUTO_TEST_CASE(tf32_cuts_what_f16_has_not) {
  BOOST_TEST(cut_to_tf32(1 + 0x1p-10f + 0x1p-11f) == 1 + 0x1p-10f);
  BOOST_TEST(cut_to_tf32(-1 - 0x1p-11f) == -1.0f);
}

BOOST_AUTO_TEST_SUITE_END()
