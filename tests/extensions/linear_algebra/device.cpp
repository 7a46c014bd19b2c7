/// Tests of factorisations and systems that a device computes itself: their results stay there, and tall panels are
/// right. Backends without the steps refuse them.

#include <algorithm>
#include <atomic>
#include <thread>
#include <vector>

#include <boost/mpl/list.hpp>
#include <boost/test/unit_test.hpp>

#include <tessera/backend/panel.hpp>

#include "core/tools/recorder.hpp"
#include "device_steps.hpp"
#include "support/expect.hpp"
#include "systems.hpp"

namespace tessera::test {

BOOST_AUTO_TEST_SUITE(device_steps)

BOOST_AUTO_TEST_CASE_TEMPLATE(results_stay_on_the_device, T, Elements) {
  if (!keeps_all()) return;
  const Index n = 200;
  const Matrix<T> a = Matrix<T>::random(n, n, Seed{1}), b = Matrix<T>::random(n, 7, Seed{2}),
                  p = positive<T>(n, Seed{3});
  const Lu lu(a, tested());
  const Cholesky cholesky(p, Triangle::Lower, tested());
  BOOST_TEST(is_there(lu.packed()));
  BOOST_TEST(is_there(cholesky.l()));
  const Matrix<T> x = lu.solve(b), y = cholesky.solve(b), z = lu.solve_transposed(x);
  BOOST_TEST(is_there(x));
  BOOST_TEST(is_there(y));
  BOOST_TEST(is_there(z));
  BOOST_TEST(is_there(triangular_solve(Triangle::Upper, p, b, Side::Left, Diagonal::Stored, tested())));
  const Lu expected(a, formulas);
  BOOST_TEST(differing(z, expected.solve_transposed(expected.solve(b))) == 0);
  BOOST_TEST(differing(y, Cholesky(p, Triangle::Lower, formulas).solve(b)) == 0);
}

/// Operands that are on the device already decide where Auto computes, and are not changed.
BOOST_AUTO_TEST_CASE_TEMPLATE(operands_that_are_there, T, Elements) {
  if (!keeps_all()) return;
  const Matrix<T> a = gemm(Matrix<T>::random(150, 90, Seed{4}), Matrix<T>::random(90, 150, Seed{5}), tested_backend());
  BOOST_TEST(is_there(a));
  const Lu lu(a);
  BOOST_TEST(is_there(lu.packed()));
  BOOST_TEST(is_there(a));
  const Lu expected(a, formulas);
  BOOST_TEST(differing(lu.packed(), expected.packed()) == 0);
  BOOST_TEST(lu.pivots() == expected.pivots(), boost::test_tools::per_element());
  BOOST_TEST(lu.condition() == expected.condition());
}

/// More rows than one block of threads has, than a cluster of them has, and than a large one has.
BOOST_AUTO_TEST_CASE_TEMPLATE(tall_panels, T, Elements) {
  if (!has_panels()) return;
  for (const auto& [m, n] : {std::pair<Index, Index>{513, 33}, {8193, 20}, {9000, 64}, {16385, 17}, {20000, 70}})
    for (const bool integers : {false, true}) BOOST_TEST_CONTEXT(m << "×" << n << ", integers: " << integers) {
        const Matrix<T> a = integers ? Matrix<T>::random(m, n, Seed{6}, Distribution::Integers, -2, 2)
                                     : Matrix<T>::random(m, n, Seed{6});
        const Lu lu(a, tested()), expected(a, formulas);
        BOOST_TEST(differing(lu.packed(), expected.packed()) == 0);
        BOOST_TEST(lu.pivots() == expected.pivots(), boost::test_tools::per_element());
      }
}

/// Rows that are long enough to be exchanged some numbers at a time, if their length allows it.
BOOST_AUTO_TEST_CASE_TEMPLATE(long_rows, T, Elements) {
  if (!has_panels()) return;
  for (const auto& [m, n] : {std::pair<Index, Index>{68, 13000}, {70, 13002}, {67, 13001}, {130, 6400}})
    BOOST_TEST_CONTEXT(m << "×" << n) {
      const Matrix<T> a = Matrix<T>::random(m, n, Seed{9});
      const Lu lu(a, tested()), expected(a, formulas);
      BOOST_TEST(differing(lu.packed(), expected.packed()) == 0);
    }
}

/// The first failure counts, in whichever panel it is, and the norm is of the matrix before.
BOOST_AUTO_TEST_CASE_TEMPLATE(the_first_failure, T, Elements) {
  for (const Index bad : {0, 1, 63, 64, 130}) BOOST_TEST_CONTEXT("row " << bad) {
      Matrix<T> p = positive<T>(140, Seed{7});
      p(bad, bad) = -1;
      p(139, 139) = -1;
      try {
        const Cholesky cholesky(p, Triangle::Lower, tested());
        BOOST_ERROR("not positive definite, and no exception");
      } catch (const NotPositiveDefinite& error) {
        BOOST_TEST(error.minor() == bad + 1);
      }
      Matrix<T> a = Matrix<T>::random(140, 140, Seed{8});
      for (Index i = 0; i < 140; ++i) a(i, bad) = a(i, 139) = 0;
      try {
        static_cast<void>(solve(a, p, tested()));
        BOOST_ERROR("singular, and no exception");
      } catch (const SingularMatrix& error) {
        BOOST_TEST(error.pivot() == bad);
      }
    }
}

BOOST_AUTO_TEST_CASE(threads_share_factors) {
  if (!has_panels()) return;
  const Index n = 200;
  const Matrix<double> a = Matrix<double>::random(n, n, Seed{10}), b = Matrix<double>::random(n, 100, Seed{11}),
                       expected = Lu(a, formulas).solve(b);
  const Lu lu(a, tested());
  expect_shared_factors_to_stay([&] { return lu.solve(b); }, expected);
}

/// The same of products that bring one operand.
BOOST_AUTO_TEST_CASE(threads_share_an_operand) {
  const Index n = 180;
  for (int round = 0; round < 10; ++round) {
    const auto a = Matrix<float>::random(n, n, Seed{12}), b = Matrix<float>::random(n, n, Seed{13});
    const Matrix<float> row = Matrix<float>::random(1, n, Seed{14});
    const auto with_row = [&](const Matrix<float>& right, Backend backend) {
      Matrix<float> c(n, n);
      gemm(1.0F, a, right, 0.0F, c, MatrixEpilogue<float>{.bias = row.view()}, {.backend = backend});
      return c;
    };
    const Matrix<float> expected = gemm(a, b, Backend::Reference), biased = with_row(b, Backend::Reference),
                        sum = a + b;
    std::atomic<int> wrong = 0;
    std::vector<std::thread> threads;
    for (int t = 0; t < 4; ++t)
      threads.emplace_back([&] {
        try {
          const Matrix<float> mine(b.view());
          const Matrix<float> product = gemm(a, mine, tested_backend());
          wrong += differing(product, expected) != 0;
          wrong += differing(with_row(mine, tested_backend()), biased) != 0;
          wrong += differing(a + mine, sum) != 0;
        } catch (const OutOfMemory&) { // which is an answer
        }
      });
    for (std::thread& thread : threads) thread.join();
    BOOST_TEST(wrong == 0);
  }
}

BOOST_AUTO_TEST_CASE(tools_hear_of_steps) {
  if (!keeps_all()) return;
  const Matrix<double> a = Matrix<double>::random(100, 80, Seed{9});
  Recorder recorder;
  const Lu lu(a, tested());
  const auto steps = recorder.of(tools::Kind::Panel);
  const auto count = [&](const char* name) {
    return std::ranges::count_if(steps, [&](const auto& step) { return step.name == name; });
  };
  BOOST_TEST(count("lu_panel") == 2 * 2); // two panels, each with its begin and its end
  BOOST_TEST(count("column_sums") == 2);
}

BOOST_AUTO_TEST_CASE(backends_without_steps_refuse_them) {
  Executor& reference = executor(Backend::Reference);
  double number = 4;
  const auto clear = [&] {
    throw_if_failed(reference.panel(reference.default_queue(),
                                    {.op = PanelOp::ClearUpper, .rows = 1, .cols = 1, .a = &number, .lda = 1}));
  };
  expect_error<KernelRejected>(clear, {"reference", "no steps of factorisations"});
  BOOST_TEST(number == 4);
}

BOOST_AUTO_TEST_SUITE_END()

} // namespace tessera::test
