/// Products of few results in f32 and f64 (fma_small). The bits must be z_order's, which has one segment of k after the
/// other in one thread.

#include <cmath>
#include <limits>

#include <boost/mpl/list.hpp>
#include <boost/test/unit_test.hpp>

#include <tessera/tessera.hpp>

#include "bits.hpp"
#include "few_results.hpp"
#include "is_hopper.hpp"
#include "lines.hpp"

using namespace tessera;
using cuda_test::is_hopper;

namespace {

using Types = boost::mpl::list<float, double>;

} // namespace

BOOST_AUTO_TEST_SUITE(few_results)

BOOST_AUTO_TEST_CASE_TEMPLATE(every_tile_and_every_part_of_k, T, Types) {
  if (!is_hopper()) return; // other GPUs take other products; choices.cpp checks which ones Hopper takes
  for (const auto& product : test::products_of_few_results)
    for (const Op op_a : {Op::None, Op::Transpose})
      for (const Op op_b : {Op::None, Op::Transpose})
        if (test::runs("fma_small", test::packed_call(dtype_of<T>, product, op_a, op_b)))
          test::check_bits<T>("fma_small", product.m, product.n, product.k, op_a, op_b);
  test::check_bits<T>("fma_small", 8, 64, 5312, Op::None, Op::None, std::numeric_limits<T>::min()); // subnormal sums
  test::check_bits<T>("fma_small", 8, 64, 2100, Op::None, Op::None, 1, 0);
}

BOOST_AUTO_TEST_CASE_TEMPLATE(lines_begin_anywhere, T, Types) {
  if (!is_hopper()) return;
  test::check_lines<T>("fma_small", 48, 40, 1000, {});
  test::check_lines<T>("fma_small", 48, 40, 1000, {.more_a = 1, .more_b = 2});
  test::check_lines<T>("fma_small", 47, 39, 1003, {.more_a = 2, .more_b = 1});
  test::check_lines<T>("fma_small", 16, 64, 2500, {.more_a = 4, .first_a = 1, .first_b = 2});
  test::check_lines<T>("fma_small", 9, 8, 4099, {.first_a = 2, .first_b = 3});
  test::check_lines<T>("fma_small", 64, 5, 333, {.more_b = 3, .first_a = 4});
}

/// Each product is so small that a sum becomes −0. Nothing may be added to it past the end of k.
BOOST_AUTO_TEST_CASE_TEMPLATE(sums_of_negative_zero, T, Types) {
  if (!is_hopper()) return;
  for (const Index k : {100, 200, 449, 1025, 2100}) {
    const auto filled = [](Index rows, Index cols, T x) {
      Matrix<T> matrix(rows, cols);
      for (Index i = 0; i < rows; ++i)
        for (T& element : matrix.row(i)) element = x;
      return matrix;
    };
    const Matrix<T> a = filled(7, k, -std::numeric_limits<T>::min()), b = filled(k, 9, std::numeric_limits<T>::min());
    const Matrix<T> at = filled(k, 7, a.row(0)[0]), bt = filled(9, k, b.row(0)[0]);
    for (const bool turned : {false, true}) {
      Matrix<T> c = filled(7, 9, 1);
      gemm(T(1), turned ? at.transposed() : a.view(), turned ? bt.transposed() : b.view(), T(0), c,
           {.backend = Backend::Cuda, .kernel = "fma_small"});
      Index positive = 0;
      for (Index i = 0; i < c.rows(); ++i)
        for (const T x : c.row(i)) positive += x != 0 || !std::signbit(x);
      BOOST_TEST(positive == 0, k << (turned ? ", transposed: " : ": ") << positive << " results are not -0");
    }
  }
}

BOOST_AUTO_TEST_SUITE_END()
