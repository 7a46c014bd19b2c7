/// Reductions have the bits of the contract's model, whatever runs them, with any number of threads.

#include <cmath>
#include <cstring>
#include <limits>
#include <random>

#include <boost/test/unit_test.hpp>

#include "memory.hpp"
#include "model.hpp"
#include "terms.hpp"

namespace tessera::test {
namespace {

using conformance::options;
using conformance::subject;

template <class T>
std::vector<T> numbers(Index n, unsigned seed) {
  std::mt19937_64 generator(seed);
  std::vector<T> all(static_cast<std::size_t>(n));
  for (T& x : all) {
    if constexpr (std::is_integral_v<T>)
      x = static_cast<T>(generator()); // sums wrap
    else
      x = static_cast<T>(std::ldexp(static_cast<double>(static_cast<std::int64_t>(generator())),
                                    -63 + static_cast<int>(generator() % 8)));
  }
  return all;
}

template <class T>
bool same_bits(const T& x, const T& y) {
  return std::memcmp(&x, &y, sizeof x) == 0;
}

const int thread_numbers[] = {0, 1, 2, 3, 7};

template <class T>
void check_sums() {
  for (const Index n : sizes(!options().quick)) {
    const std::vector<T> x = numbers<T>(n, static_cast<unsigned>(n));
    const SubjectMemory<T> memory(x);
    const Values<T> f{read<T>(memory.data(), 1, n, n, subject())};
    const T expected = model_reduction<T>(x, T{0}, model_add<T>);
    for (const int threads : thread_numbers)
      BOOST_TEST(same_bits(sum(subject(), n, f, {.threads = threads}), expected),
                 "n = " << n << ", threads " << threads);
    BOOST_TEST(same_bits(sum(subject(), n, f, {.threads = 2, .grain = 1}), expected), "n = " << n << ", grain 1");
  }
}

template <class T>
void check_extrema(std::vector<T> x) {
  const Index n = static_cast<Index>(x.size());
  const SubjectMemory<T> memory(x);
  const Values<T> f{read<T>(memory.data(), 1, n, n, subject())};
  Index smallest = 0, largest = 0;
  for (Index i = 1; i < n; ++i) {
    const T value = x[static_cast<std::size_t>(i)];
    const T low = x[static_cast<std::size_t>(smallest)], high = x[static_cast<std::size_t>(largest)];
    if (!(low != low) && (value != value || value < low)) smallest = i;
    if (!(high != high) && (value != value || value > high)) largest = i;
  }
  for (const int threads : thread_numbers) {
    const Extremum<T> low = min(subject(), n, f, {.threads = threads}),
                      high = max(subject(), n, f, {.threads = threads});
    BOOST_TEST(low.row == 0);
    BOOST_TEST(low.col == smallest);
    BOOST_TEST(high.col == largest);
    BOOST_TEST(same_bits(low.value, x[static_cast<std::size_t>(smallest)]));
    BOOST_TEST(same_bits(high.value, x[static_cast<std::size_t>(largest)]));
  }
}

BOOST_AUTO_TEST_SUITE(reductions)

BOOST_AUTO_TEST_CASE(sums_of_f32) { check_sums<float>(); }
BOOST_AUTO_TEST_CASE(sums_of_f64) { check_sums<double>(); }
BOOST_AUTO_TEST_CASE(sums_of_i64) { check_sums<std::int64_t>(); }

BOOST_AUTO_TEST_CASE(sums_over_two_indices_and_of_blocks_and_transposes) {
  const std::pair<Index, Index> shapes[] = {{1, 1}, {3, 5}, {7, 1024}, {1024, 7}, {33, 31}, {1025, 3}, {200, 333}};
  for (const auto& [rows, cols] : shapes) {
    const Matrix x = Matrix<float>::random(rows + 2, cols + 3, Seed{static_cast<std::uint64_t>(rows * cols)});
    for (const auto& view : {x.block(1, 2, rows, cols), x.block(2, 1, rows, cols).transposed()}) {
      std::vector<double> squares;
      for (Index i = 0; i < view.rows(); ++i)
        for (Index j = 0; j < view.cols(); ++j) squares.push_back(double(view(i, j)) * view(i, j));
      const double expected = model_reduction<double>(squares, 0.0, model_add<double>);
      BOOST_TEST(sum(subject(), view.rows(), view.cols(), Square{read(view, subject())}) == expected);
      BOOST_TEST(Matrix(view).sum_of_squares() == expected); // the order of the library's own reductions
    }
  }
}

BOOST_AUTO_TEST_CASE(large_sums_without_memory) {
  constexpr Index more_than_a_block_combines = 32 * 1024 * 1024 + 1025; // on a device
  std::vector<Index> lengths{100003};
  if (!options().quick) lengths.insert(lengths.end(), {3000017, more_than_a_block_combines});
  for (const Index n : lengths) {
    std::vector<double> x(static_cast<std::size_t>(n));
    for (Index i = 0; i < n; ++i) x[static_cast<std::size_t>(i)] = Sine{}(i);
    BOOST_TEST(sum(subject(), n, Sine{}) == model_reduction<double>(x, 0.0, model_add<double>), "n = " << n);
  }
}

BOOST_AUTO_TEST_CASE(extrema_with_their_first_places) {
  for (const Index n : {1, 2, 31, 33, 1023, 1024, 1025, 5000, 70001}) {
    check_extrema(numbers<float>(n, 5));
    check_extrema(numbers<double>(n, 6));
    check_extrema(numbers<std::int64_t>(n, 7));
  }
}

BOOST_AUTO_TEST_CASE(equal_values_zeros_and_nan) {
  const double nan = std::numeric_limits<double>::quiet_NaN(), infinite = std::numeric_limits<double>::infinity();
  std::vector<double> x(3000, 1.0);
  check_extrema(x);
  x[2000] = x[2900] = -1.0;
  check_extrema(x);
  x[1500] = -0.0;
  x[100] = 0.0;
  check_extrema(x);
  check_extrema(std::vector<double>(1030, -0.0));
  x[50] = infinite;
  x[51] = -infinite;
  check_extrema(x);
  x[2500] = x[2999] = nan;
  check_extrema(x);
  x[0] = nan;
  check_extrema(x);
}

BOOST_AUTO_TEST_CASE(extrema_over_two_indices) {
  Matrix<float> x(70, 50, 1.0f);
  x(69, 49) = 3;
  x(40, 2) = x(41, 1) = -2;
  const Extremum<double> high = max(subject(), 70, 50, Square{read(x, subject())});
  BOOST_TEST(high.value == 9);
  BOOST_TEST(high.row == 69);
  BOOST_TEST(high.col == 49);
  const Extremum<float> low = min(subject(), 70, 50, Values<float>{read(x, subject())});
  BOOST_TEST(low.row == 40);
  BOOST_TEST(low.col == 2);
}

BOOST_AUTO_TEST_CASE(an_operation_of_ones_own) {
  for (const Index n : sizes(false)) {
    const std::vector<double> x = numbers<double>(n, 11);
    const SubjectMemory<double> memory(x);
    std::vector<Pair> pairs;
    for (const double value : x) pairs.push_back({value, static_cast<float>(value), 1});
    const AddPairs add;
    const Pair expected = model_reduction<Pair>(pairs, add.identity(), add);
    for (const int threads : thread_numbers)
      BOOST_TEST(same_bits(
          reduce(subject(), n, PairOf{read<double>(memory.data(), 1, n, n, subject())}, add, {.threads = threads}),
          expected));
  }
}

BOOST_AUTO_TEST_CASE(no_values) {
  const Values<double> f{};
  BOOST_TEST(sum(subject(), 0, f) == 0.0);
  BOOST_TEST(sum(subject(), 0, 5, f) == 0.0);
  BOOST_TEST(reduce(subject(), 0, PairOf{}, AddPairs{}).count == 0);
  BOOST_CHECK_THROW(min(subject(), 0, f), InvalidArgument);
  BOOST_CHECK_THROW(max(subject(), 3, 0, f), InvalidArgument);
}

BOOST_AUTO_TEST_SUITE_END()

} // namespace
} // namespace tessera::test
