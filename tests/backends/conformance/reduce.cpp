/// Every kernel of the reduction ladder: kernels that keep the contract give the reference's bits, the other kernels
/// stay within γ_n.

#include <array>
#include <iostream>
#include <optional>
#include <set>

#include <boost/test/unit_test.hpp>

#include "bound.hpp"
#include "guarded.hpp"
#include "shapes.hpp"
#include "support/subject.hpp"

namespace tessera::conformance {
namespace {

constexpr std::array<ReduceOp, 3> reductions{ReduceOp::SumOfSquares, ReduceOp::SumAbs, ReduceOp::MaxAbs};

std::vector<Shape> reduced_shapes() {
  std::vector<Shape> all = shapes();
  for (const Index n : {31, 32, 33, 1023, 1024, 1025, 2048}) all.push_back({1, n});
  all.push_back({3, 700});
  if (!options().quick) all.push_back({1031, 1031}); // more than 1024 chunks: two levels
  return all;
}

/// A matrix in the executor's memory. The special value, if there is one, stands in its middle.
template <class T>
struct Input {
  Guarded<T> x;
  Input(Executor& executor, Shape shape, std::optional<T> special)
      : x(executor, shape.rows, shape.cols, {shape.rows % 2 == 0 ? 7 : 0, 64, shape.cols % 3 == 0}) {
    fill(x, [](std::uint64_t e) { return uniform<T>(31, e); });
    if (special && shape.rows > 0 && shape.cols > 0) x.at(shape.rows / 2, shape.cols / 2) = *special;
    x.upload();
  }
  ReduceCall call(ReduceOp op) const { return {op, dtype_of<T>, x.rows(), x.cols(), x.data(), x.ld(), 0}; }
};

/// Returns the result, or nothing where the kernel rejects.
std::optional<double> value(Executor& executor, const ReduceCall& call, const char* kernel) {
  ReduceResult result;
  const Status status = executor.reduce(executor.default_queue(), call, result, kernel);
  if (status.code == StatusCode::Rejected) {
    static std::set<std::string> shown;
    if (shown.insert(kernel).second) std::cout << kernel << " rejected: " << status.why << '\n';
    return std::nullopt;
  }
  throw_if_failed(status);
  return result.value;
}

template <class T>
void check(const ReduceKernel& kernel, bool by_name, Shape shape, std::optional<T> special) {
  Input<T> here(subject(), shape, special);
  Input<T> there(reference(), shape, special);
  const std::optional<double> got = value(subject(), here.call(kernel.op), by_name ? kernel.name : "");
  if (!got) return;
  const double expected = value(reference(), there.call(kernel.op), "").value();
  BOOST_TEST(here.x.unchanged(), kernel.name << " changed its input");
  const double n = static_cast<double>(shape.rows * shape.cols);
  const bool exact =
      kernel.summation == Summation::Canonical || kernel.op == ReduceOp::MaxAbs || !std::isfinite(expected);
  // Each of the two results may have an error of this size.
  const double limit = exact ? 0 : 2 * gamma(n + 1, 0x1p-53) * expected;
  const bool right = exact ? same(*got, expected) : std::abs(*got - expected) <= limit;
  BOOST_TEST(right, kernel.name << " op " << static_cast<int>(kernel.op) << ' ' << to_string(kernel.type) << ' '
                                << shape.rows << "×" << shape.cols << ": " << *got << ", must be " << expected << " ± "
                                << limit);
}

template <class T>
void check_all(const ReduceKernel& kernel, bool by_name) {
  for (const Shape shape : reduced_shapes()) check<T>(kernel, by_name, shape, std::nullopt);
  for (const T special : {std::numeric_limits<T>::quiet_NaN(), std::numeric_limits<T>::infinity(),
                          static_cast<T>(-std::numeric_limits<T>::infinity()), std::numeric_limits<T>::denorm_min()})
    for (const Shape shape : {Shape{1, 1}, Shape{37, 41}}) check<T>(kernel, by_name, shape, special);
}

} // namespace

BOOST_AUTO_TEST_SUITE(reduction)

BOOST_AUTO_TEST_CASE_TEMPLATE(every_kernel_is_right, T, ElementTypes) {
  for (const ReduceKernel& kernel : subject().reduce_kernels())
    if (kernel.type == dtype_of<T>) check_all<T>(kernel, true);
}

/// Norms must not depend on the backend that has the matrix.
BOOST_AUTO_TEST_CASE_TEMPLATE(the_kernel_that_is_chosen_keeps_the_contract, T, ElementTypes) {
  for (const ReduceOp op : reductions) {
    ReduceKernel any;
    any.name = "(any)";
    any.op = op;
    any.type = dtype_of<T>;
    any.summation = Summation::Canonical;
    check_all<T>(any, false);
  }
}

BOOST_AUTO_TEST_SUITE_END()

} // namespace tessera::conformance
