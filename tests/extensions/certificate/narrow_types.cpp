/// Tests certificates of products whose operands are whole numbers or floats of 8 bits.

#include <tessera/checking/check.hpp>

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

#include <boost/test/unit_test.hpp>

#include <tessera/half.hpp>
#include <tessera/random.hpp>
#include <tessera/status.hpp>

#include "support/expect.hpp"

using namespace tessera;
using namespace tessera::test;

namespace {

/// A matrix of 8-bit or 32-bit elements.
template <class T>
struct Raw {
  std::vector<T> elements;
  CheckedType type;
  Index rows, cols;
  CheckedMatrix view(Op op = Op::None) const { return {type, elements.data(), rows, cols, cols, op}; }
};

template <class T, class Make>
Raw<T> raw(CheckedType type, Index rows, Index cols, const Make& make) {
  Raw<T> x{{}, type, rows, cols};
  for (Index e = 0; e < rows * cols; ++e)
    x.elements.push_back(static_cast<T>(make(philox4x32(rows + 7, static_cast<std::uint64_t>(e)).word[0])));
  return x;
}

} // namespace

BOOST_AUTO_TEST_SUITE(certificates)

BOOST_AUTO_TEST_CASE(whole_numbers_are_exact) {
  const auto byte = [](std::uint32_t bits) { return static_cast<int>(bits & 0xFF) - 128; };
  const Raw<std::int8_t> a = raw<std::int8_t>(CheckedType::I8, 40, 700, byte);
  const Raw<std::int8_t> b = raw<std::int8_t>(CheckedType::I8, 700, 30, byte);
  Raw<std::int32_t> c = raw<std::int32_t>(CheckedType::I32, 40, 30, [](std::uint32_t) { return 0; });
  for (std::size_t i = 0; i < 40; ++i)
    for (std::size_t j = 0; j < 30; ++j)
      for (std::size_t p = 0; p < 700; ++p) c.elements[i * 30 + j] += a.elements[i * 700 + p] * b.elements[p * 30 + j];
  const CheckedProduct product{a.view(), b.view()};
  BOOST_TEST(check(product, c.view()).right());
  BOOST_TEST(check(product, c.view(), {.rows = 1, .vectors = 16}).right());
  for (const std::size_t place : {std::size_t{0}, std::size_t{617}, std::size_t{1199}}) {
    c.elements[place] += 1; // the least there is
    for (const CheckOptions& options : {CheckOptions{}, CheckOptions{.rows = 1, .vectors = 16}}) {
      const Certificate answer = check(product, c.view(), options);
      BOOST_TEST_REQUIRE(!answer.right());
      BOOST_TEST(answer.worst[0].element.row == static_cast<Index>(place) / 30);
      BOOST_TEST(answer.worst[0].element.col == static_cast<Index>(place) % 30);
      BOOST_TEST(answer.worst[0].element.computed == answer.worst[0].element.exact + 1);
    }
    c.elements[place] -= 1;
  }
  Raw<float> wide = raw<float>(CheckedType::F32, 40, 30, [](std::uint32_t) { return 0; });
  std::copy(c.elements.begin(), c.elements.end(), wide.elements.begin());
  BOOST_TEST(check(product, wide.view(), {.rows = 5, .vectors = 16}).right());
}

/// Sums that pass 2³¹ wrap around on some machines and not on others, so that they are not judged.
BOOST_AUTO_TEST_CASE(whole_numbers_that_overflow_are_not_judged) {
  const auto most = [](std::uint32_t) { return -128; };
  const Raw<std::int8_t> a = raw<std::int8_t>(CheckedType::I8, 1, 200000, most);
  const Raw<std::int8_t> b = raw<std::int8_t>(CheckedType::I8, 200000, 1, most);
  const Raw<std::int32_t> c = raw<std::int32_t>(CheckedType::I32, 1, 1, [](std::uint32_t) { return 12345; });
  const Certificate answer = check({a.view(), b.view()}, c.view());
  BOOST_TEST((answer.verdict == Verdict::Unknown));
  BOOST_TEST(answer.error.unjudged == 1);
}

BOOST_AUTO_TEST_CASE(eight_bit_floats_are_widened_exactly) {
  const auto value = [](CheckedType type, int bits) {
    const auto byte = static_cast<std::uint8_t>(bits);
    const float one = 1, zero = 0;
    const CheckedMatrix x{type, &byte, 1, 1, 1}, y{CheckedType::E4M3, nullptr, 0, 0, 0};
    (void)y;
    const std::uint8_t unit = type == CheckedType::E4M3 ? 0x38 : 0x3C; // 1.0
    const CheckedMatrix u{type, &unit, 1, 1, 1};
    const CheckedMatrix c{CheckedType::F32, bits == 0 ? &one : &zero, 1, 1, 1};
    const Certificate answer = check({x, u}, c);
    return answer.worst.empty() ? 0.0 : answer.worst[0].element.exact; // zero and its own result agree
  };
  BOOST_TEST(value(CheckedType::E4M3, 0x38) == 1.0);
  BOOST_TEST(value(CheckedType::E4M3, 0xB8) == -1.0);
  BOOST_TEST(value(CheckedType::E4M3, 0x7E) == 448.0);
  BOOST_TEST(value(CheckedType::E4M3, 0x01) == 0x1p-9);
  BOOST_TEST(value(CheckedType::E4M3, 0x08) == 0x1p-6);
  BOOST_TEST(std::isnan(value(CheckedType::E4M3, 0x7F)));
  BOOST_TEST(value(CheckedType::E5M2, 0x3C) == 1.0);
  BOOST_TEST(value(CheckedType::E5M2, 0x7B) == 57344.0);
  BOOST_TEST(value(CheckedType::E5M2, 0x01) == 0x1p-16);
  BOOST_TEST(value(CheckedType::E5M2, 0xFC) == -std::numeric_limits<double>::infinity());
  BOOST_TEST(std::isnan(value(CheckedType::E5M2, 0x7D)));
}

BOOST_AUTO_TEST_CASE(products_of_eight_bit_floats_are_checked) {
  const auto finite = [](std::uint32_t bits) { return bits & 0xB7; }; // moderate numbers of both types
  const Raw<std::uint8_t> a = raw<std::uint8_t>(CheckedType::E4M3, 50, 60, finite);
  const Raw<std::uint8_t> b = raw<std::uint8_t>(CheckedType::E5M2, 40, 60, finite); // stored transposed
  const CheckedProduct product{a.view(), b.view(Op::Transpose)};
  Raw<float> c = raw<float>(CheckedType::F32, 50, 40, [](std::uint32_t) { return 0; });
  // The exact values come from the check itself, element by element, and are added here in another order.
  const auto widened = [](const Raw<std::uint8_t>& x, std::size_t place) {
    const int digits = x.type == CheckedType::E4M3 ? 3 : 2, bias = x.type == CheckedType::E4M3 ? 7 : 15;
    const int bits = x.elements[place], exponent = (bits & 0x7F) >> digits, fraction = bits & ((1 << digits) - 1);
    const double size = exponent == 0 ? std::ldexp(fraction, 1 - bias - digits)
                                      : std::ldexp(fraction + (1 << digits), exponent - bias - digits);
    return (bits & 0x80) != 0 ? -size : size;
  };
  for (std::size_t i = 0; i < 50; ++i)
    for (std::size_t j = 0; j < 40; ++j)
      for (std::size_t p = 60; p-- > 0;)
        c.elements[i * 40 + j] += static_cast<float>(widened(a, i * 60 + p) * widened(b, j * 60 + p));
  BOOST_TEST(check(product, c.view()).right(), to_text(check(product, c.view())));
  BOOST_TEST(check(product, c.view(), {.rows = 2, .vectors = 16}).right());
  c.elements[777] *= 1.5f;
  c.elements[777] += 1;
  const Certificate answer = check(product, c.view());
  BOOST_TEST_REQUIRE(!answer.right());
  BOOST_TEST(answer.worst[0].element.row == 777 / 40);
}

BOOST_AUTO_TEST_SUITE_END()
