/// Tests complex products whose sizes are zero or too large to be doubled: they return at once, or say what is wrong.

#include <complex>
#include <limits>
#include <string>

#include <boost/test/unit_test.hpp>

#include <tessera/backend.hpp>
#include <tessera/complex.hpp>

#include "support/expect.hpp"

using namespace tessera;
using tessera::test::expect_error;

BOOST_AUTO_TEST_SUITE(complex_arguments)

namespace {

using Number = std::complex<double>;

constexpr Index most = std::numeric_limits<Index>::max();

/// Multiplies an m×k matrix by a k×n one on every backend that is here.
void multiply_everywhere(Index m, Index n, Index k, Index lda, Index ldb, Index ldc, Number* c,
                         Number beta = {0.5, -2.0}) {
  for (const BackendInfo& info : available_backends()) {
    if (!info.available) continue;
    gemm(Op::None, Op::None, m, n, k, Number(1.0, 1.0), c, lda, c + 1, ldb, beta, c + 2, ldc,
         {.backend = info.backend});
  }
}

} // namespace

/// A loop over the rows of a result without columns would not end within a year.
BOOST_AUTO_TEST_CASE(no_columns_take_no_time) {
  Number memory[3] = {1.0, 2.0, 3.0};
  multiply_everywhere(Index{1} << 58, 0, 0, 1, 1, 1, memory);
  multiply_everywhere(Index{1} << 57, 0, 1, 1, 1, 1, memory);
  multiply_everywhere(0, Index{1} << 58, 0, 1, Index{1} << 58, Index{1} << 58, memory);
  BOOST_TEST(memory[2] == 3.0);
}

BOOST_AUTO_TEST_CASE(sizes_that_cannot_be_doubled) {
  Number memory[3] = {1.0, 2.0, 3.0};
  // Without rows a result may be as wide as its leading dimension says.
  for (const Index n : {most / 2 + 1, most}) multiply_everywhere(0, n, 0, 1, n, n, memory);
  for (const Index n : {most / 2 + 1, most}) multiply_everywhere(0, n, 0, 1, n, n, memory, 2.0);
  BOOST_TEST(memory[2] == 3.0);
  expect_error<InvalidArgument>([&] { multiply_everywhere(1, most, 1, 1, most, most, memory); }, {"b is too large"});
  expect_error<InvalidArgument>([&] { multiply_everywhere(1, 1, most / 2 + 1, most, 1, 1, memory); },
                                {"a is too large"});
  expect_error<InvalidArgument>([&] { multiply_everywhere(0, 0, most, most, 1, 1, memory); }, {"b is too large"});
  expect_error<InvalidArgument>([&] { multiply_everywhere(1, -1, 1, 1, 1, 1, memory); }, {"n = -1"});
  expect_error<InvalidArgument>([&] { multiply_everywhere(1, 1, std::numeric_limits<Index>::min(), 1, 1, 1, memory); },
                                {"k = -9223372036854775808"});
}

BOOST_AUTO_TEST_SUITE_END()
