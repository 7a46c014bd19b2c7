/// Tests sums of squares of whole numbers: the public function, its errors, and that nothing else takes whole numbers.

#include <cstdint>
#include <limits>
#include <vector>

#include <boost/test/unit_test.hpp>

#include <tessera/backend.hpp>
#include <tessera/checking/compare.hpp>
#include <tessera/executor.hpp>
#include <tessera/matrix.hpp>
#include <tessera/status.hpp>

#include "support/expect.hpp"

using namespace tessera;
using tessera::test::expect_error;

namespace {
constexpr std::int32_t smallest_whole = std::numeric_limits<std::int32_t>::min();

std::int64_t sum_of(const std::vector<std::int32_t>& numbers, Backend backend = Backend::Auto) {
  return sum_of_squares(numbers, backend);
}
} // namespace

BOOST_AUTO_TEST_SUITE(whole_numbers_of_reductions)

BOOST_AUTO_TEST_CASE(sums_are_exact) {
  for (const Backend backend : {Backend::Auto, Backend::Reference}) {
    BOOST_TEST(sum_of({}, backend) == 0);
    BOOST_TEST(sum_of({3, -4}, backend) == 25);
    BOOST_TEST(sum_of({smallest_whole}, backend) == std::int64_t{1} << 62);
    BOOST_TEST(sum_of({1982339383, 2084039977, -954969883, 196246030}, backend) ==
               std::numeric_limits<std::int64_t>::max());
    BOOST_TEST(sum_of(std::vector<std::int32_t>(1000000, 46340), backend) == std::int64_t{46340} * 46340 * 1000000);
  }
}

BOOST_AUTO_TEST_CASE(a_sum_that_int64_does_not_hold_is_refused) {
  expect_error<InvalidArgument>([] { sum_of({smallest_whole, smallest_whole}); }, {"2 whole numbers", "2^63"});
  expect_error<InvalidArgument>([] { sum_of({1982339383, 2084039977, -954969883, 196246030, 1}); }, {"2^63 - 1"});
  const std::vector<std::int32_t> wraps(4, smallest_whole); // 4·2⁶² is 0 in 64 bits
  expect_error<InvalidArgument>([&] { sum_of(wraps, Backend::Reference); }, {"4 whole numbers", "f64"});
  for (const std::size_t count : {65537u, 1000003u})
    expect_error<InvalidArgument>([&] { sum_of(std::vector<std::int32_t>(count, smallest_whole)); }, {"2^63"});
}

BOOST_AUTO_TEST_CASE(the_judges_reference_is_exact) {
  const auto judge = [](const std::vector<std::int32_t>& x, ReduceOp op = ReduceOp::SumOfSquares) {
    const auto count = static_cast<Index>(x.size());
    return reduce_reference({op, DType::I32, 1, count, x.data(), count, 0});
  };
  BOOST_TEST(judge({3, -4}).whole.value() == 25);
  BOOST_TEST(judge({3, -4}).bound == 0.0);
  BOOST_TEST(judge({1982339383, 2084039977, -954969883, 196246030}).whole.value() ==
             std::numeric_limits<std::int64_t>::max());
  BOOST_TEST(!judge({smallest_whole, smallest_whole}).whole.has_value());
  BOOST_TEST(judge(std::vector<std::int32_t>(4, smallest_whole)).value == 0x1p64);
  expect_error<InvalidArgument>([&] { judge({1}, ReduceOp::MaxAbs); }, {"i32", "sum of squares"});
}

BOOST_AUTO_TEST_CASE(they_are_no_element_type) {
  BOOST_TEST(to_string(DType::I32) == "i32");
  BOOST_TEST(size_of(DType::I32) == sizeof(std::int32_t));
  BOOST_TEST(!is_element_type(DType::I32));
  expect_error<InvalidArgument>([] { static_cast<void>(parse_dtype("i32")); }, {"i32", "f32"});
  Executor& reference = executor(Backend::Reference);
  std::int32_t x = 1;
  const GemmCall call{
      {.type = DType::I32, .m = 1, .n = 1, .k = 1, .a = &x, .lda = 1, .b = &x, .ldb = 1, .c = &x, .ldc = 1}};
  expect_error<InvalidArgument>([&] { throw_if_failed(reference.gemm(reference.default_queue(), call)); },
                                {"unsupported element type", "f32, f64, f16 or bf16"});
}

BOOST_AUTO_TEST_SUITE_END()
