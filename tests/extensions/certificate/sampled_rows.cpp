/// Tests that the compared rows do not depend on the pass over B that sums them: Freivalds' pass, or one of their own.

#include <tessera/checking/check.hpp>

#include <array>
#include <tuple>

#include <boost/test/unit_test.hpp>

#include <tessera/half.hpp>
#include <tessera/random.hpp>

#include "support/every_test.hpp"

using namespace tessera;

namespace {

/// Returns the certificate of a C that is wrong everywhere, whose rows are all compared.
template <class T>
Certificate answer_of(Index m, Index n, Index k, bool transposed, int vectors) {
  const Matrix<T> a = Matrix<T>::random(transposed ? k : m, transposed ? m : k, Seed{1});
  const Matrix<T> b = Matrix<T>::random(transposed ? n : k, transposed ? k : n, Seed{2});
  const Matrix<T> before = Matrix<T>::random(m, n, Seed{3}), c = Matrix<T>::random(m, n, Seed{4});
  CheckedProduct product{checked(a), checked(b), checked(before)};
  if (transposed) product.a.op = product.b.op = Op::Transpose;
  return check(product, checked(c), {.alpha = 1.5, .beta = -0.5, .rows = m, .vectors = vectors, .threads = 2});
}

} // namespace

BOOST_AUTO_TEST_SUITE(sampled_rows)

using Elements = std::tuple<float, double, f16>;

/// Up to 32 rows are summed beside Freivalds' check, 33 are not.
BOOST_AUTO_TEST_CASE_TEMPLATE(both_passes_agree, T, Elements) {
  const auto close = boost::test_tools::tolerance(1e-12);
  for (const Index m : {1, 2, 3, 4, 5, 32, 33})
    for (const auto& [n, k] : {std::array<Index, 2>{1, 1}, {33, 256}, {1030, 700}, {2100, 257}})
      for (const bool transposed : {false, true}) {
        if (test::has_fewer_cases() && n > 1000 && m != 5 && m != 33) continue;
        const Certificate beside = answer_of<T>(m, n, k, transposed, 16);
        const Certificate alone = answer_of<T>(m, n, k, transposed, -1);
        BOOST_REQUIRE(beside.rows_sampled == m);
        BOOST_REQUIRE(beside.rows_judged == m);
        BOOST_REQUIRE(alone.rows_judged == 0);
        BOOST_REQUIRE(!alone.worst.empty());
        BOOST_REQUIRE(beside.worst.size() == alone.worst.size());
        for (std::size_t w = 0; w < alone.worst.size(); ++w) {
          const WorstElement &expected = alone.worst[w].element, &found = beside.worst[w].element;
          BOOST_TEST(found.row == expected.row);
          BOOST_TEST(found.col == expected.col);
          BOOST_TEST(found.exact == expected.exact, close);
          BOOST_TEST(found.bound == expected.bound, close);
        }
        BOOST_TEST(beside.error.total_abs == alone.error.total_abs, close);
        BOOST_TEST(beside.error.mean_rel == alone.error.mean_rel, close);
        BOOST_TEST(beside.error.componentwise == alone.error.componentwise, close);
      }
}

BOOST_AUTO_TEST_SUITE_END()
