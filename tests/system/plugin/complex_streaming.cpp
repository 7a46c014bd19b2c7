/// Complex products that do not fit into the memory of a small device. Each case runs in a process of its own.

#include <complex>
#include <cstring>
#include <vector>

#include <boost/test/unit_test.hpp>

#include <tessera/complex.hpp>
#include <tessera/random.hpp>

#include "small_device.hpp"
#include "support/expect.hpp"

using namespace tessera;
using tessera::test::expect_error;
using tessera::test::use_small_device;

namespace {

using Numbers = std::vector<std::complex<double>>;

Numbers random_numbers(Index count, std::uint64_t seed) {
  const auto part = [&](std::uint64_t e) { return random_element<double>(Distribution::Uniform, seed, e, -1.0, 1.0); };
  Numbers numbers;
  for (std::uint64_t e = 0; e < static_cast<std::uint64_t>(count); ++e)
    numbers.emplace_back(part(2 * e), part(2 * e + 1));
  return numbers;
}

/// Compares a product of the device with the reference's. Rows have two numbers of padding.
void compare_with_reference(Op op_a, Op op_b, Index m, Index n, Index k, std::complex<double> alpha,
                            std::complex<double> beta) {
  const Index lda = (op_a == Op::None ? k : m) + 2, ldb = (op_b == Op::None ? n : k) + 2, ldc = n + 2;
  const Numbers a = random_numbers(lda * (op_a == Op::None ? m : k), 1);
  const Numbers b = random_numbers(ldb * (op_b == Op::None ? k : n), 2);
  Numbers streamed = random_numbers(ldc * m, 3), whole = streamed;
  for (auto* c : {&streamed, &whole})
    gemm(op_a, op_b, m, n, k, alpha, a.data(), lda, b.data(), ldb, beta, c->data(), ldc,
         {.backend = c == &streamed ? Backend::Cuda : Backend::Reference});
  BOOST_TEST(std::memcmp(streamed.data(), whole.data(), whole.size() * sizeof(whole[0])) == 0,
             to_string(op_a) << ' ' << to_string(op_b) << ' ' << m << "×" << n << "×" << k);
}

} // namespace

BOOST_AUTO_TEST_SUITE(complex_streaming)

BOOST_AUTO_TEST_CASE(complex_bits_are_those_of_one_piece) { // 8 MiB
  use_small_device();
  compare_with_reference(Op::None, Op::None, 300, 200, 800, 1.0, 0.0);
  compare_with_reference(Op::ConjugateTranspose, Op::None, 130, 450, 600, {0.5, -2.0}, 1.0);
  compare_with_reference(Op::Transpose, Op::ConjugateTranspose, 450, 130, 600, 2.0, {1.0, 0.25});
  compare_with_reference(Op::None, Op::Transpose, 700, 800, 3, 0.0, {0.5, 0.25});
}

BOOST_AUTO_TEST_CASE(a_device_that_is_too_small_for_complex_numbers) { // SMALL_DEVICE is set
  use_small_device();
  const Numbers a = random_numbers(100 * 1000, 1);
  Numbers c(100 * 100, 5.0);
  const auto product = [&] {
    gemm(Op::None, Op::Transpose, 100, 100, 1000, 1.0, a.data(), 1000, a.data(), 1000, 1.0, c.data(), 100,
         {.backend = Backend::Cuda});
  };
  expect_error<OutOfMemory>(product, {"the small device is full"});
  BOOST_TEST((c == Numbers(100 * 100, 5.0)));
  gemm(Op::None, Op::None, 1, 1, 2, 1.0, a.data(), 2, c.data(), 1, 0.0, c.data() + 2, 1, {.backend = Backend::Cuda});
  BOOST_TEST((c[2] != std::complex<double>(5.0)));
}

BOOST_AUTO_TEST_SUITE_END()
