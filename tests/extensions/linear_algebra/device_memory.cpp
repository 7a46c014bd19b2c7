/// Tests of linear algebra on elements that lie in an executor's memory already, and of the caller's host memory, whose
/// matrices a device computes as a whole.

#include <algorithm>
#include <vector>

#include <boost/test/unit_test.hpp>

#include <tessera/backend/panel.hpp>
#include <tessera/interop/executor_memory.hpp>

#include "elsewhere.hpp"
#include "support/expect.hpp"
#include "systems.hpp"

namespace tessera::test {

BOOST_AUTO_TEST_SUITE(device_memory)

BOOST_AUTO_TEST_CASE_TEMPLATE(elements_come_and_go, T, Systems) {
  const auto a = Matrix<T>::random(30, 20, Seed{1});
  const Elsewhere<T> there(a);
  const Matrix<T> x = there.matrix();
  Elsewhere<T> same(30, 20), turned(20, 30), part(7, 5);
  to_executor(x, device(), same.data(), same.ld());
  to_executor(x.transposed(), device(), turned.data(), turned.ld());
  to_executor(x.block(3, 2, 7, 5), device(), part.data(), part.ld());
  BOOST_TEST(differing(same.read(), a) == 0);
  BOOST_TEST(differing(turned.read(), Matrix<T>(a.transposed())) == 0);
  BOOST_TEST(differing(part.read(), Matrix<T>(a.block(3, 2, 7, 5))) == 0);
  BOOST_TEST(differing(x, a) == 0);
  BOOST_TEST(differing(conjugate_transpose(x), conjugate_transpose(a)) == 0);
  BOOST_TEST(differing(detail::identity_on<T>(device(), 9), Matrix<T>::identity(9)) == 0);
}

/// Steps of any size: every other element, backwards, and one row for all.
BOOST_AUTO_TEST_CASE_TEMPLATE(any_steps, T, Systems) {
  const auto a = Matrix<T>::random(30, 40, Seed{2});
  const Elsewhere<T> there(a);
  const auto take = [&](Index rows, Index cols, Index row, Index col, Index row_step, Index col_step) {
    auto z = Matrix<T>::uninitialized(rows, cols);
    const T* const first = there.data() + row * there.ld() + col;
    detail::copy_from_executor(device(), {first, row_step * there.ld(), col_step, is_complex<T>}, z.operand());
    Index wrong = 0;
    for (Index i = 0; i < rows; ++i)
      for (Index j = 0; j < cols; ++j)
        wrong += !same_bits(std::as_const(z)(i, j), a(row + i * row_step, col + j * col_step));
    BOOST_TEST(wrong == 0);
  };
  take(15, 13, 0, 1, 2, 3);
  take(30, 4, 29, 39, -1, -2);
  take(4, 30, 3, 1, 0, 1);
  take(9, 1, 2, 5, 3, 1);
  take(1, 9, 2, 5, 1, 4);
  auto z = Matrix<T>::uninitialized(40, 30);
  detail::copy_from_executor(device(), {there.data(), 1, there.ld(), is_complex<T>}, z.operand());
  BOOST_TEST(differing(z, Matrix<T>(a.transposed())) == 0);
}

BOOST_AUTO_TEST_CASE_TEMPLATE(systems_in_its_memory, T, Systems) {
  if (!has_room((is_complex<T> ? 16 : 8) * mebibyte)) return;
  const Index n = 200;
  const Matrix<T> a = Matrix<T>::random(n, n, Seed{3}), b = Matrix<T>::random(n, 5, Seed{4}),
                  p = positive<T>(n, Seed{5});
  const Elsewhere<T> there(a), right(b), symmetric(p);
  Elsewhere<T> x(n, 5), y(n, 5), inverted(n, n);
  Recorder recorder;
  const Matrix<T> solution = solve(there.matrix(), right.matrix(), tested());
  to_executor(solution, device(), x.data(), x.ld());
  to_executor(Cholesky(symmetric.matrix(), Triangle::Upper, tested()).solve(right.matrix()), device(), y.data(),
              y.ld());
  to_executor(Lu(there.matrix(), tested()).solve(detail::identity_on<T>(device(), n)), device(), inverted.data(),
              inverted.ld());
  if (keeps_all()) {
    BOOST_TEST(is_there(solution));
    BOOST_TEST(fetched(recorder) < static_cast<double>(n * n));
  }
  recorder.stop();
  BOOST_TEST(differing(x.read(), solve(a, b, formulas)) == 0);
  BOOST_TEST(differing(y.read(), Cholesky(p, Triangle::Lower, formulas).solve(b)) == 0);
  BOOST_TEST(differing(inverted.read(), inverse(a, formulas)) == 0);
}

BOOST_AUTO_TEST_CASE(what_is_refused) {
  Executor& memory = device();
  double number = 1;
  const Matrix<double> x(2, 3);
  expect_error<InvalidArgument>([&] { from_executor(memory, &number, -1, 2, 2); },
                                {"from_executor: sizes must not be negative", "-1×2"});
  expect_error<InvalidArgument>([&] { from_executor(memory, &number, 3, 4, 3); },
                                {"from_executor: ld = 3 is less than the 4 columns"});
  expect_error<InvalidArgument>([&] { to_executor(x, memory, nullptr, 3); },
                                {"to_executor: the address is null", "2×3"});
  expect_error<InvalidArgument>([&] { from_executor(memory, &number, 3, 1, Index{1} << 60); },
                                {"overflow the address space"});
  BOOST_TEST(from_executor(memory, static_cast<const float*>(nullptr), 0, 4, 0).cols() == 4);
  BOOST_TEST(number == 1);
}

/// Factors in the caller's memory, by rows and by columns, with ld above the rows' lengths. The other triangle of
/// Cholesky's, and what lies beyond the rows, stay as they were.
BOOST_AUTO_TEST_CASE_TEMPLATE(factors_of_the_callers_memory, T, Systems) {
  if (!has_room((is_complex<T> ? 8 : 1) * mebibyte)) return;
  for (const auto& [m, n] : {std::pair<Index, Index>{150, 150}, {300, 70}, {70, 300}, {40, 40}, {600, 530}})
    for (const Op stored : {Op::None, Op::Transpose}) BOOST_TEST_CONTEXT(m << "×" << n << ", stored " << int(stored)) {
        if (m == 600 && !has_room((is_complex<T> ? 16 : 8) * mebibyte)) continue;
        const Index lines = stored == Op::None ? m : n, length = stored == Op::None ? n : m, steps = std::min(m, n);
        const auto a = Matrix<T>::random(lines, length + 5, Seed{6});
        constexpr auto type = detail::number_type_of<T>;
        Matrix<T> x(a.view()), y(a.view()), tau_x(1, steps), tau_y(1, steps);
        std::vector<Index> rows(static_cast<std::size_t>(steps)), expected(rows);
        Recorder recorder;
        const Index found =
            detail::factor_lu(type, stored, m, n, x.data(), x.ld(), detail::RowNumbers(rows.data()), tested());
        const auto panels = recorder.of(tools::Kind::Panel).size();
        recorder.stop();
        BOOST_TEST((panels > 0) == (has_panels() && steps > most_panel_columns));
        BOOST_TEST(found == detail::factor_lu(type, stored, m, n, y.data(), y.ld(), detail::RowNumbers(expected.data()),
                                              formulas));
        BOOST_TEST(differing(x, y) == 0);
        BOOST_TEST(rows == expected, boost::test_tools::per_element());
        x = y = Matrix<T>(a.view());
        detail::factor_qr(type, stored, m, n, x.data(), x.ld(), tau_x.data(), tested());
        detail::factor_qr(type, stored, m, n, y.data(), y.ld(), tau_y.data(), formulas);
        BOOST_TEST(differing(x, y) == 0);
        BOOST_TEST(differing(tau_x, tau_y) == 0);
      }
}

BOOST_AUTO_TEST_CASE_TEMPLATE(cholesky_of_the_callers_memory, T, Elements) {
  if (!has_room(mebibyte)) return;
  for (const Index n : {65, 300, 513})
    for (const Triangle triangle : {Triangle::Lower, Triangle::Upper})
      for (const Index bad : {Index{-1}, n / 2}) BOOST_TEST_CONTEXT(n << ", " << int(triangle) << ", " << bad) {
          Matrix<T> a = positive<T>(n, Seed{7});
          if (bad >= 0) a(bad, bad) = -1;
          for (Index i = 0; i < n; ++i)
            for (Index j = 0; j < i; ++j)
              (triangle == Triangle::Lower ? a(j, i) : a(i, j)) = std::numeric_limits<T>::quiet_NaN();
          Matrix<T> x(a.view()), y(a.view());
          const auto factor = [&](Matrix<T>& z, const SolveOptions& options) {
            return detail::factor_cholesky(detail::number_type_of<T>, triangle, n, z.data(), z.ld(), options);
          };
          BOOST_TEST(factor(x, tested()) == factor(y, formulas));
          if (bad < 0) BOOST_TEST(differing(x, y) == 0);
        }
}

BOOST_AUTO_TEST_CASE_TEMPLATE(triangles_of_the_callers_memory, T, Elements) {
  if (!has_room(mebibyte)) return;
  const Index n = 260, count = 90;
  const Matrix<T> t = dominant<T>(n, Seed{8});
  for (const Side side : {Side::Left, Side::Right})
    for (const Triangle triangle : {Triangle::Lower, Triangle::Upper})
      for (const Op op : {Op::None, Op::Transpose})
        for (const T alpha : {T(1), T(-0.3)}) {
          const Index m = side == Side::Left ? n : count, cols = side == Side::Left ? count : n;
          Matrix<T> x = Matrix<T>::random(m, cols, Seed{9}), y(x.view());
          trsm(side, triangle, op, Diagonal::Stored, m, cols, alpha, t.data(), t.ld(), x.data(), x.ld(), tested());
          trsm(side, triangle, op, Diagonal::Stored, m, cols, alpha, t.data(), t.ld(), y.data(), y.ld(), formulas);
          BOOST_TEST(differing(x, y) == 0);
        }
}

BOOST_AUTO_TEST_SUITE_END()

} // namespace tessera::test
