/// Every kernel that adds squares of whole numbers: the sum is exact, whatever the order of additions, or it is
/// refused.

#include <array>
#include <cmath>
#include <limits>
#include <string>
#include <vector>

#include <boost/test/unit_test.hpp>

#include "guarded.hpp"
#include "shapes.hpp"
#include "support/subject.hpp"

namespace tessera::conformance {
namespace {

using Whole = std::int32_t;
constexpr Whole smallest = std::numeric_limits<Whole>::min(); // its square is 2⁶²
constexpr Whole largest = std::numeric_limits<Whole>::max();

/// The squares of these four add up to 2⁶³ − 1, the largest sum that int64 holds.
constexpr std::array<Whole, 4> largest_sum{1982339383, 2084039977, -954969883, 196246030};

/// A sum that does not overflow: the units of 2³², and the rest.
struct Oracle {
  std::uint64_t upper = 0;
  std::uint64_t lower = 0;
  void add(Whole x) {
    const auto magnitude = static_cast<std::uint64_t>(std::abs(static_cast<std::int64_t>(x)));
    upper += magnitude * magnitude >> 32;
    lower += magnitude * magnitude & 0xFFFFFFFF;
    upper += lower >> 32;
    lower &= 0xFFFFFFFF;
  }
  bool fits() const { return upper < std::uint64_t{1} << 31; }
  std::int64_t value() const { return static_cast<std::int64_t>(upper << 32 | lower); }
};

/// Runs a kernel on a matrix in the executor's memory and checks its result, or its refusal. Between the rows of the
/// matrix and around it stand numbers that would change the sum.
void check_whole(const std::string& kernel, Shape shape, const std::vector<Whole>& numbers) {
  Guarded<Whole> x(subject(), shape.rows, shape.cols, {shape.rows % 2 == 0 ? 7 : 0, 64, shape.cols % 3 == 0});
  fill(x, [&](std::uint64_t e) { return numbers[e]; });
  x.upload();
  Oracle exact;
  for (const Whole number : numbers) exact.add(number);
  ReduceResult result;
  result.whole = -1;
  const ReduceCall call{.op = ReduceOp::SumOfSquares,
                        .type = DType::I32,
                        .rows = x.rows(),
                        .cols = x.cols(),
                        .x = x.data(),
                        .ldx = x.ld()};
  const Status status = subject().reduce(subject().default_queue(), call, result, kernel);
  const std::string name = (kernel.empty() ? "(any)" : kernel) + " of " + std::to_string(shape.rows) + "×" +
                           std::to_string(shape.cols) + " whole numbers";
  BOOST_TEST(x.unchanged(), name << " changed its input");
  if (!exact.fits()) {
    BOOST_TEST((status.code == StatusCode::InvalidArgument),
               name << ": " << result.whole << ", but the sum is 2^63 or more; " << status.why);
    BOOST_TEST(status.why.find("2^63") != std::string::npos, status.why);
    return;
  }
  BOOST_TEST(status.ok(), name << ": " << status.why);
  BOOST_TEST(result.whole == exact.value(), name << ": " << result.whole << ", must be exactly " << exact.value());
  BOOST_TEST(result.value == static_cast<double>(exact.value()), name << ": value " << result.value);
}

/// Returns numbers as large as their sum of squares lets them be, so that f64 would not hold the sum.
std::vector<Whole> large_numbers(Index count) {
  const double limit = std::min(std::sqrt(0x1p63 / std::max<double>(static_cast<double>(count), 1)), 0x1p31);
  std::vector<Whole> numbers;
  for (Index e = 0; e < count; ++e)
    numbers.push_back(static_cast<Whole>(limit * uniform<double>(53, static_cast<std::uint64_t>(e))));
  return numbers;
}

void check_sums(const std::string& kernel) {
  std::vector<Shape> all = shapes();
  for (const Index n : {31, 32, 33, 255, 256, 257, 1023, 1024, 1025, 8192, 65537}) all.push_back({1, n});
  all.push_back({3, 700});
  if (!options().quick) all.push_back({1031, 1031}); // more than 1024 chunks: two levels
  for (const Shape shape : all) check_whole(kernel, shape, large_numbers(shape.rows * shape.cols));
}

/// Sums at 2⁶³ and at its multiples, where 64 bits would wrap to a small number.
void check_limits(const std::string& kernel) {
  check_whole(kernel, {1, 1}, {smallest});
  check_whole(kernel, {2, 2}, {largest_sum.begin(), largest_sum.end()});
  for (const Index count : {2, 3, 4, 5, 8, 2048}) // 4 squares are 2⁶⁴
    check_whole(kernel, {1, count}, std::vector<Whole>(static_cast<std::size_t>(count), smallest));
  for (const std::size_t place : {0u, 1u, 999u, 40000u}) { // far apart, so that different threads add them
    std::vector<Whole> numbers(50001, 0);
    for (std::size_t e = 0; e < largest_sum.size(); ++e) numbers[place + e * 3000] = largest_sum[e];
    check_whole(kernel, {1, 50001}, numbers);
    numbers.back() = 1; // now the sum is 2⁶³
    check_whole(kernel, {1, 50001}, numbers);
  }
  check_whole(kernel, {3, 1367}, std::vector<Whole>(3 * 1367, largest));
}

} // namespace

BOOST_AUTO_TEST_SUITE(whole_reduction)

BOOST_AUTO_TEST_CASE(every_kernel_is_exact) {
  std::size_t found = 0;
  for (const ReduceKernel& kernel : subject().reduce_kernels()) {
    if (kernel.type != DType::I32) continue;
    ++found;
    BOOST_TEST((kernel.op == ReduceOp::SumOfSquares), kernel.name);
    BOOST_TEST((kernel.summation == Summation::Canonical),
               kernel.name << " is exact, so it has the bits of every other kernel");
    check_sums(kernel.name);
    check_limits(kernel.name);
  }
  BOOST_TEST(found > 0u, "the backend has no kernel of whole numbers");
}

/// What sum_of_squares() of matrix.hpp runs.
BOOST_AUTO_TEST_CASE(the_kernel_that_is_chosen_is_exact) {
  check_sums("");
  check_limits("");
}

BOOST_AUTO_TEST_CASE(each_number_of_threads_gives_the_sum) {
  const std::vector<Whole> numbers = large_numbers(300007);
  Guarded<Whole> x(subject(), 1, 300007, {});
  Oracle exact;
  for (const Whole number : numbers) exact.add(number);
  fill(x, [&](std::uint64_t e) { return numbers[e]; });
  x.upload();
  for (const int threads : {1, 2, 3, 7}) {
    ReduceResult result;
    throw_if_failed(subject().reduce(subject().default_queue(),
                                     {ReduceOp::SumOfSquares, DType::I32, 1, x.cols(), x.data(), x.ld(), threads},
                                     result));
    BOOST_TEST(result.whole == exact.value(), threads << " threads");
  }
}

BOOST_AUTO_TEST_CASE(other_reductions_of_whole_numbers_are_refused) {
  Guarded<Whole> x(subject(), 1, 4, {});
  x.upload();
  for (const ReduceOp op : {ReduceOp::SumAbs, ReduceOp::MaxAbs}) {
    ReduceResult result;
    const Status status =
        subject().reduce(subject().default_queue(), {op, DType::I32, 1, 4, x.data(), x.ld(), 0}, result);
    BOOST_TEST((status.code == StatusCode::Rejected));
    BOOST_TEST(status.why.find("i32") != std::string::npos, status.why);
  }
}

BOOST_AUTO_TEST_SUITE_END()

} // namespace tessera::conformance
