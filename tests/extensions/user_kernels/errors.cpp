/// Bad input is an error that says what was wrong and what to do, on every backend.

#include <limits>
#include <stdexcept>

#include <boost/test/unit_test.hpp>

#include "support/expect.hpp"

#include "memory.hpp"
#include "terms.hpp"

namespace tessera::test {
namespace {

using conformance::subject;

/// Throws at some indices. It is in no plug-in: on a device it cannot run at all.
struct Throwing {
  static constexpr char name[] = "throwing";
  Index first;
  void operator()(Index i) const {
    if (i >= first) throw std::runtime_error("index " + std::to_string(i) + " threw");
  }
  double operator()(Index i, Index) const {
    if (i >= first) throw std::out_of_range("row " + std::to_string(i));
    return 1;
  }
};

BOOST_AUTO_TEST_SUITE(errors)

BOOST_AUTO_TEST_CASE(an_exception_reaches_the_caller_once) {
  if (!subject().capabilities().host_memory) return; // device code throws nothing
  for (const int threads : {1, 2, 5}) {
    expect_error<std::runtime_error>([&] { for_each(subject(), 100000, Throwing{70000}, {.threads = threads}); },
                                     {"threw"});
    expect_error<std::out_of_range>([&] { sum(subject(), 5000, 3, Throwing{17}, {.threads = threads}); }, {"row "});
    for_each(subject(), 1000, Throwing{1000}, {.threads = threads}); // and the next loop runs
    BOOST_TEST(sum(subject(), 500, 3, Throwing{500}, {.threads = threads}) == 1500.0);
  }
}

BOOST_AUTO_TEST_CASE(sizes) {
  expect_error<InvalidArgument>([] { for_each(subject(), -1, Triad{}); }, {"triad", "negative", "1×-1"});
  expect_error<InvalidArgument>([] { sum(subject(), -3, 4, Square{}); }, {"square", "-3×4"});
  constexpr Index huge = std::numeric_limits<Index>::max() / 2;
  expect_error<InvalidArgument>([] { sum(subject(), huge, 3, Square{}); }, {"square", "overflows"});
  float numbers[4] = {};
  expect_error<InvalidArgument>([&] { static_cast<void>(read<float>(numbers, -1, 2, 2, subject())); }, {"-1×2"});
  expect_error<InvalidArgument>([&] { static_cast<void>(read<float>(numbers, 2, 2, 1, subject())); },
                                {"ld = 1", "2 col"});
  expect_error<InvalidArgument>([&] { static_cast<void>(write<float>(nullptr, 2, 2, 2, subject())); }, {"null", "2×2"});
}

BOOST_AUTO_TEST_CASE(numbers_of_threads_and_grains) {
  Matrix<float> y(20, 20, 1.0f), z(20, 20, 7.0f);
  for (const auto& [wrong, part] :
       {std::pair{LoopOptions{.threads = -1}, "options.threads = -1"},
        std::pair{LoopOptions{.grain = -1}, "options.grain = -1"},
        std::pair{LoopOptions{.grain = std::numeric_limits<Index>::min()}, "options.grain = -9223372036854775808"}}) {
    const LoopOptions& options = wrong;
    expect_error<InvalidArgument>(
        [&] {
          for_each(subject(), 20, 20, Saxpy{read(y, subject()), update(z, subject()), 2.0f}, options);
        },
        {"saxpy", part, "is negative"});
    expect_error<InvalidArgument>([&] { for_each(subject(), 0, Triad{}, options); }, {"triad", part});
    expect_error<InvalidArgument>([&] { sum(subject(), 0, 4, Square{}, options); }, {"square", part});
  }
  BOOST_TEST(z == Matrix<float>(20, 20, 7.0f));
}

BOOST_AUTO_TEST_CASE(views_that_share_elements_in_another_layout) {
  Matrix<float> y(20, 20, 1.0f);
  const auto run = [&](const In<float>& x, const InOut<float>& out) {
    for_each(subject(), 10, 10, Saxpy{x, out, 2.0f});
  };
  const auto all = update(y, subject());
  run(read(y, subject()), all); // the same elements in the same layout: an index reads what it writes
  expect_error<InvalidArgument>([&] { run(read(y.transposed(), subject()), all); },
                                {"saxpy", "In, 20×20, strides 1 and", "InOut, 20×20", "shares elements"});
  expect_error<InvalidArgument>([&] { run(read(y.block(1, 0, 10, 10), subject()), all); }, {"saxpy", "In, 10×10"});
  run(read(y.block(0, 10, 10, 10), subject()), update(y.block(0, 0, 10, 10), subject())); // blocks side by side
  run(read(y.block(10, 0, 10, 10), subject()), update(y.block(0, 0, 10, 10), subject()));
}

BOOST_AUTO_TEST_CASE(views_of_no_memory) {
  const Matrix<float> x(3, 3);
  Saxpy f{read(x, subject()), {}, 1.0f};
  for_each(subject(), 0, 0, f);
  f.y = InOut<float>(x.data(), 3, 3, 3, 1, Backend::Auto);
  expect_error<InvalidArgument>([&] { for_each(subject(), 3, 3, f); }, {"not made by read(), write() or update()"});
}

BOOST_AUTO_TEST_CASE(host_executors_share_their_memory) {
  if (!subject().capabilities().host_memory) return;
  Matrix<float> x(5, 5, 1.0f), y(5, 5, 1.0f);
  for_each(subject(), 5, 5, Saxpy{read(x, executor(Backend::Reference)), update(y, subject()), 1.0f});
  BOOST_TEST(y(4, 4) == 2.0f);
}

BOOST_AUTO_TEST_SUITE_END()

} // namespace
} // namespace tessera::test
