#pragma once

/// Compares the bits of products whose operands begin anywhere and have any leading dimension.

#include <limits>
#include <memory>
#include <string>
#include <vector>

#include <boost/test/unit_test.hpp>

#include <tessera/tessera.hpp>

#include "on_device.hpp"

namespace tessera::test {

/// Where operands lie, in elements: what a leading dimension has beyond a row's length, and where the first row begins
/// in memory that is aligned.
struct LinesOf {
  Index more_a = 0, more_b = 0, first_a = 0, first_b = 0;
};

/// Checks that a kernel's products have the bits of z_order's, for all transposes. There are zeros of both signs among
/// the numbers, and NaNs between the rows.
template <class T>
void check_lines(const std::string& kernel, Index m, Index n, Index k, const LinesOf& lines) {
  using cuda_test::check_ok;
  Executor& device = executor(Backend::Cuda);
  const auto operand = [&](Index rows, Index cols, Index ld, Index first, Seed seed) {
    const Matrix<T> numbers = Matrix<T>::random(rows, cols, seed);
    std::vector<T> stored(static_cast<std::size_t>(first + rows * ld), std::numeric_limits<T>::quiet_NaN());
    for (Index i = 0; i < rows; ++i)
      for (Index j = 0; j < cols; ++j) {
        const T x = numbers.row(i)[static_cast<std::size_t>(j)];
        stored[static_cast<std::size_t>(first + i * ld + j)] = i % 3 == 0 ? 0 * x : x;
      }
    auto there = std::make_unique<cuda_test::OnDevice>(device, dtype_of<T>, 1, first + rows * ld);
    const std::size_t width = stored.size() * sizeof(T);
    check_ok(device.copy_in(device.default_queue(), there->data(), width, stored.data(), width, width, 1));
    return there;
  };
  for (const Op op_a : {Op::None, Op::Transpose})
    for (const Op op_b : {Op::None, Op::Transpose}) {
      const bool turned_a = op_a == Op::Transpose, turned_b = op_b == Op::Transpose;
      const Index lda = (turned_a ? m : k) + lines.more_a, ldb = (turned_b ? k : n) + lines.more_b;
      const auto a = operand(turned_a ? k : m, turned_a ? m : k, lda, lines.first_a, Seed{1});
      const auto b = operand(turned_b ? n : k, turned_b ? k : n, ldb, lines.first_b, Seed{2});
      const auto product = [&](const std::string& by) {
        const cuda_test::OnDevice c(device, dtype_of<T>, m, n);
        const GemmCall call{{.type = dtype_of<T>,
                             .op_a = op_a,
                             .op_b = op_b,
                             .m = m,
                             .n = n,
                             .k = k,
                             .alpha = -1.5,
                             .a = static_cast<const T*>(a->data()) + lines.first_a,
                             .lda = lda,
                             .b = static_cast<const T*>(b->data()) + lines.first_b,
                             .ldb = ldb,
                             .c = c.data(),
                             .ldc = n},
                            dtype_of<T>};
        check_ok(device.gemm(device.default_queue(), call, by.c_str()));
        return c.bytes();
      };
      BOOST_TEST((product(kernel) == product("z_order")), kernel << ", " << m << "x" << n << "x" << k << ", "
                                                                 << to_string(op_a) << ", " << to_string(op_b)
                                                                 << ", rows of " << lda << " and " << ldb << " from "
                                                                 << lines.first_a << " and " << lines.first_b << " on");
    }
}

} // namespace tessera::test
