/// Batches whose products verify themselves.

#include <vector>

#include <boost/test/unit_test.hpp>

#include <tessera/gemm_batch.hpp>

#include "planted.hpp"
#include "support/expect.hpp"

using namespace tessera;
using test::equal_bits;
using test::expect_error;
using test::FaultKind;
using test::faulty;
using test::plant;

namespace {

/// Products of several shapes.
struct Products {
  std::vector<Matrix<double>> a, b, c;

  explicit Products(Index count) {
    for (Index i = 0; i < count; ++i) {
      a.push_back(Matrix<double>::random(10 + i, 20, Seed{1 + static_cast<std::uint64_t>(i)}));
      b.push_back(Matrix<double>::random(20, 30, Seed{100 + static_cast<std::uint64_t>(i)}));
      c.push_back(Matrix<double>::random(10 + i, 30, Seed{200 + static_cast<std::uint64_t>(i)}));
    }
  }
  std::vector<Matrix<double>> multiply(const GemmOptions& options) const {
    std::vector<Matrix<double>> results = c;
    gemm_batch(2.0, std::span(a), std::span(b), -1.0, std::span(results), options);
    return results;
  }
};

} // namespace

BOOST_AUTO_TEST_SUITE(verify_batch)

BOOST_AUTO_TEST_CASE(each_product_verifies_itself) {
  const Products products(5);
  const auto right = products.multiply({.backend = Backend::Reference});
  const VerifyCounts before = verify_counts();
  plant({});
  const auto sound = products.multiply({.backend = faulty(), .verify = Verify::Detect});
  BOOST_TEST(verify_counts().products == before.products + 5);
  plant({.kind = FaultKind::ResultBits, .row = 3, .col = 4, .bit = 62});
  const auto repaired = products.multiply({.backend = faulty(), .verify = Verify::Repair});
  for (std::size_t i = 0; i < right.size(); ++i) {
    BOOST_TEST(equal_bits(sound[i], right[i]));
    BOOST_TEST(equal_bits(repaired[i], right[i]));
  }
  plant({.kind = FaultKind::ResultBits, .row = 3, .col = 4, .bit = 62});
  expect_error<DataCorruption>(
      [&] { static_cast<void>(products.multiply({.backend = faulty(), .verify = Verify::Detect})); },
      {"gemm batch, product 0: ", "the product is wrong", "c(3, 4) is"});
}

BOOST_AUTO_TEST_CASE(groups_of_raw_memory) {
  const Index n = 12, count = 4;
  const auto a = Matrix<float>::random(n * count, n, Seed{1}), b = Matrix<float>::random(n, n, Seed{2});
  const auto multiply = [&](const GemmOptions& options) {
    Matrix<float> c(n * count, n);
    gemm_batch(Op::None, Op::None, n, n, n, 1.0F, a.data(), a.ld(), n * a.ld(), b.data(), b.ld(), 0, 0.0F, c.data(),
               c.ld(), n * c.ld(), count, options);
    return c;
  };
  const Matrix<float> right = multiply({.backend = Backend::Reference});
  for (const Verify verify : {Verify::Detect, Verify::Repair}) {
    plant({});
    BOOST_TEST(equal_bits(multiply({.backend = faulty(), .verify = verify}), right));
  }
  plant({.kind = FaultKind::ResultNan, .row = 1, .col = 1});
  BOOST_TEST(equal_bits(multiply({.backend = faulty(), .verify = Verify::Repair}), right));
  plant({.kind = FaultKind::ResultNan, .row = 1, .col = 1, .always = true});
  expect_error<DataCorruption>([&] { static_cast<void>(multiply({.backend = faulty(), .verify = Verify::Repair})); },
                               {"gemm batch, product 0: ", "did not repair it"});
  plant({});
}

BOOST_AUTO_TEST_SUITE_END()
