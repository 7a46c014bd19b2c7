/// Tests certificates of f16 results beside the largest f16 number, 65504: sums are added in f32, so that only the last
/// rounding can give infinities.

#include <tessera/checking/check.hpp>

#include <cmath>
#include <limits>
#include <optional>

#include <boost/test/unit_test.hpp>

#include <tessera/gemm.hpp>
#include <tessera/half.hpp>

using namespace tessera;

namespace {

/// A product with numbers up to `most`, with a bias or without one, as a right kernel gives it.
struct Large {
  static constexpr Index m = 70, n = 300, k = 200;
  Matrix<f16> a, b, bias, c;

  Large(float most, bool with_bias)
      : a(Matrix<f16>::random(m, k, Seed{1}, -most, most)),
        b(Matrix<f16>::random(k, n, Seed{2}, -most, most)),
        bias(Matrix<f16>::random(1, n, Seed{3})) {
    const Matrix<float> sums = gemm<float>(a, b, Backend::Reference);
    c = Matrix<f16>(m, n);
    for (Index i = 0; i < m; ++i)
      for (Index j = 0; j < n; ++j) c(i, j) = f16(sums(i, j) + (with_bias ? static_cast<float>(bias(0, j)) : 0.0f));
    if (with_bias) operands.bias = checked(bias);
    operands.a = checked(a);
    operands.b = checked(b);
  }
  Large(const Large&) = delete;
  Large& operator=(const Large&) = delete;

  Index infinities() const {
    Index count = 0;
    for (Index i = 0; i < m; ++i)
      for (Index j = 0; j < n; ++j) count += std::isinf(static_cast<float>(c.at(i, j))) ? 1 : 0;
    return count;
  }
  Certificate answer(Index rows = 2) const { return check(operands, checked(c), {.rows = rows, .vectors = 16}); }
  double bound(Index row) const {
    return Certifier({operands}, CheckedType::F16, {.rows = 2, .vectors = 16}).row_bound(0, row);
  }

  CheckedProduct operands;
};

} // namespace

BOOST_AUTO_TEST_SUITE(certificates)

/// The magnitudes of the terms of a row, even of one element, add up to more than 65504; no element is that large.
BOOST_AUTO_TEST_CASE(rows_with_large_sums_of_magnitudes_are_judged) {
  for (const bool with_bias : {false, true}) {
    Large product(32, with_bias);
    BOOST_TEST_REQUIRE(product.infinities() == 0);
    BOOST_TEST(product.answer().right(), to_text(product.answer()));
    BOOST_TEST(product.answer().rows_judged == Large::m);
    const float off = static_cast<float>(2.1 * product.bound(33));
    BOOST_TEST_REQUIRE(off < 40000);
    product.c(33, 7) = f16(static_cast<float>(product.c(33, 7)) + off);
    const Certificate answer = product.answer();
    BOOST_TEST_REQUIRE(answer.rows_beyond.size() == 1u);
    BOOST_TEST(answer.rows_beyond[0].row == 33);
  }
}

BOOST_AUTO_TEST_CASE(infinities_are_right_where_f16_ends) {
  for (const bool with_bias : {false, true}) {
    const Large product(100, with_bias);
    BOOST_TEST_REQUIRE(product.infinities() > Large::m); // in each row, but not everywhere
    BOOST_TEST_REQUIRE(product.infinities() < Large::m * Large::n / 2);
    for (const Index rows : {Index{2}, Large::m}) {
      const Certificate answer = product.answer(rows);
      BOOST_TEST(answer.right(), to_text(answer));
      BOOST_TEST(answer.rows_judged == 0);
    }
  }
}

/// A compared element may be infinite only where its own value is beside the end of f16.
BOOST_AUTO_TEST_CASE(infinities_are_wrong_elsewhere) {
  Large product(100, false);
  Index col = 0;
  while (std::abs(static_cast<float>(product.c(0, col))) > 50000) ++col;
  product.c(0, col) = std::numeric_limits<f16>::infinity();
  const Certificate answer = product.answer(Large::m);
  BOOST_TEST(!answer.right());
  BOOST_TEST_REQUIRE(!answer.worst.empty());
  BOOST_TEST(answer.worst[0].element.row == 0);
  BOOST_TEST(answer.worst[0].element.col == col);
}

/// NaN never comes from finite sums, so that Freivalds' check finds it in any row.
BOOST_AUTO_TEST_CASE(nan_is_found_beside_infinities) {
  Large product(100, false);
  product.c(33, 7) = std::numeric_limits<f16>::quiet_NaN();
  const Certificate answer = product.answer();
  BOOST_TEST(!answer.right());
  BOOST_TEST_REQUIRE(answer.rows_beyond.size() == 1u);
  BOOST_TEST(answer.rows_beyond[0].row == 33);
}

/// Where no element can be near 65504, an infinity is wrong in each row.
BOOST_AUTO_TEST_CASE(infinities_among_small_numbers_are_found) {
  Large product(1, true);
  product.c(33, 7) = std::numeric_limits<f16>::infinity();
  const Certificate answer = product.answer();
  BOOST_TEST_REQUIRE(answer.rows_beyond.size() == 1u);
  BOOST_TEST(answer.rows_beyond[0].row == 33);
}

BOOST_AUTO_TEST_SUITE_END()
