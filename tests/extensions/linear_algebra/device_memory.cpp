/// Tests of linear algebra on elements that lie in an executor's memory already, and of the caller's host memory, whose
/// matrices a device computes as a whole.

#include <algorithm>
#include <vector>

#include <boost/test/unit_test.hpp>

#include <tessera/backend/panel.hpp>
#include <tessera/interop/executor_memory.hpp>
#include <tessera/linear_algebra/executor_level3.hpp>

#include "core/tools/recorder.hpp"
#include "device_steps.hpp"
#include "support/expect.hpp"
#include "systems.hpp"

namespace tessera::test {
namespace {

/// Elements in the tested executor's memory, whose rows are `ld` apart. What lies between them is NaN.
template <class T>
class Elsewhere {
 public:
  Elsewhere(Index rows, Index cols) : rows_(rows), cols_(cols), ld_(cols + 3), host_(Matrix<T>(rows, ld_, nan)) {
    throw_if_failed(device().allocate(static_cast<std::size_t>(rows * ld_) * sizeof(T), memory_));
    put();
  }
  explicit Elsewhere(const Matrix<T>& from) : Elsewhere(from.rows(), from.cols()) {
    for (Index i = 0; i < rows_; ++i) std::ranges::copy(from.row(i), host_.row(i).begin());
    put();
  }
  ~Elsewhere() { device().free(memory_); }
  Elsewhere(const Elsewhere&) = delete;
  Elsewhere& operator=(const Elsewhere&) = delete;

  T* data() const { return static_cast<T*>(memory_); }
  Index ld() const { return ld_; }
  Matrix<T> matrix() const { return from_executor(device(), data(), rows_, cols_, ld_); }
  /// Reads the elements, and expects NaN between them.
  Matrix<T> read() {
    throw_if_failed(device().copy_out(device().default_queue(), host_.data(), pitch(host_.ld()), memory_, pitch(ld_),
                                      pitch(ld_), static_cast<std::size_t>(rows_)));
    for (Index i = 0; i < rows_; ++i)
      for (Index j = cols_; j < ld_; ++j) BOOST_TEST(std::isnan(std::real(host_(i, j))));
    return Matrix<T>(host_.block(0, 0, rows_, cols_));
  }

 private:
  static constexpr T nan = std::numeric_limits<Part<T>>::quiet_NaN();
  static std::size_t pitch(Index elements) { return static_cast<std::size_t>(elements) * sizeof(T); }
  void put() {
    throw_if_failed(device().copy_in(device().default_queue(), memory_, pitch(ld_), host_.data(), pitch(host_.ld()),
                                     pitch(ld_), static_cast<std::size_t>(rows_)));
  }

  Index rows_, cols_, ld_;
  Matrix<T> host_;
  void* memory_ = nullptr;
};

constexpr std::size_t mebibyte = std::size_t{1} << 20;

/// Has the executor's memory room for the elements of a test, and for what is computed of them?
bool has_room(std::size_t bytes) {
  const Capabilities& facts = device().capabilities();
  return facts.host_memory || facts.memory_bytes >= bytes;
}

/// Returns the bytes that went from the device to the host.
double fetched(Recorder& recorder) {
  double bytes = 0;
  for (const Told& told : recorder.of(tools::Kind::CopyOut))
    if (!told.is_end) bytes += static_cast<double>(told.operation.bytes);
  return bytes;
}

} // namespace

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

BOOST_AUTO_TEST_CASE_TEMPLATE(triangles_in_its_memory, T, Elements) {
  if (!has_room(8 * mebibyte) || !(has_panels() || device().capabilities().host_memory)) return;
  const Index n = 150, count = 40;
  const Matrix<T> t = dominant<T>(n, Seed{10});
  const Elsewhere<T> triangle(t);
  for (const Side side : {Side::Left, Side::Right})
    for (const Op op : {Op::None, Op::Transpose})
      for (const T alpha : {T(1), T(-0.3), T(0)}) {
        const Index m = side == Side::Left ? n : count, cols = side == Side::Left ? count : n;
        Matrix<T> y = Matrix<T>::random(m, cols, Seed{11});
        Elsewhere<T> x(y);
        trsm(device(), side, Triangle::Upper, op, Diagonal::Stored, m, cols, alpha, triangle.data(), triangle.ld(),
             x.data(), x.ld());
        trsm(side, Triangle::Upper, op, Diagonal::Stored, m, cols, alpha, t.data(), t.ld(), y.data(), y.ld(), formulas);
        BOOST_TEST(differing(x.read(), y) == 0);
      }
  expect_error<InvalidArgument>(
      [&] {
        trsm(device(), Side::Left, Triangle::Lower, Op::None, Diagonal::Unit, n, 2, 1, triangle.data(), n - 1,
             triangle.data(), n);
      },
      {"trsm", "ld"});
}

/// Sizes around the copies' blocks. The other triangles hold NaN, are not looked at, and stay as they are.
BOOST_AUTO_TEST_CASE_TEMPLATE(symmetric_matrices_in_its_memory, T, Elements) {
  if (!has_room(8 * mebibyte)) return;
  constexpr T nan = std::numeric_limits<T>::quiet_NaN();
  for (const Index n : {1, 2, 63, 64, 65, 127, 150, 200})
    for (const Triangle triangle : {Triangle::Lower, Triangle::Upper}) BOOST_TEST_CONTEXT(n << ", " << int(triangle)) {
        Matrix<T> half = Matrix<T>::random(n, n, Seed{12});
        for (Index i = 0; i < n; ++i)
          for (Index j = 0; j < i; ++j) (triangle == Triangle::Lower ? half(j, i) : half(i, j)) = nan;
        const Elsewhere<T> symmetric(half);
        for (const auto& [k, op, alpha, beta] : {std::tuple<Index, Op, T, T>{40, Op::None, T(1), T(0)},
                                                 {33, Op::Transpose, T(-0.7), T(1.3)},
                                                 {0, Op::None, T(2), T(0.5)},
                                                 {9, Op::None, T(0), T(0)}}) {
          const Matrix<T> a = op == Op::None ? Matrix<T>::random(n, k, Seed{13}) : Matrix<T>::random(k, n, Seed{13});
          const Elsewhere<T> left(a);
          Elsewhere<T> x(half);
          Matrix<T> y(half.view());
          syrk(device(), triangle, op, n, k, alpha, left.data(), left.ld(), beta, x.data(), x.ld());
          syrk(triangle, op, n, k, alpha, a.data(), a.ld(), beta, y.data(), y.ld(), formulas);
          BOOST_TEST(differing(x.read(), y) == 0);
        }
        for (const Side side : {Side::Left, Side::Right})
          for (const T alpha : {T(1), T(0)}) {
            const Index m = side == Side::Left ? n : 20, cols = side == Side::Left ? 20 : n;
            const Matrix<T> b = Matrix<T>::random(m, cols, Seed{14});
            Matrix<T> y = Matrix<T>::random(m, cols, Seed{15});
            const Elsewhere<T> right(b);
            Elsewhere<T> x(y);
            symm(device(), side, triangle, m, cols, alpha, symmetric.data(), symmetric.ld(), right.data(), right.ld(),
                 T(0.25), x.data(), x.ld());
            symm(side, triangle, m, cols, alpha, half.data(), half.ld(), b.data(), b.ld(), T(0.25), y.data(), y.ld(),
                 formulas);
            BOOST_TEST(differing(x.read(), y) == 0);
          }
      }
  const Elsewhere<T> a(Matrix<T>(5, 5, T(1)));
  expect_error<InvalidArgument>(
      [&] { syrk(device(), Triangle::Lower, Op::None, 5, 5, T(1), a.data(), a.ld(), T(0), a.data(), a.ld()); },
      {"syrk", "c", "a"});
}

/// A device that has no such steps says so.
BOOST_AUTO_TEST_CASE(devices_without_steps_refuse_triangles) {
  if (has_panels() || device().capabilities().host_memory) return;
  const Elsewhere<double> t(Matrix<double>(3, 3, 1.0)), x(Matrix<double>(3, 3, 1.0));
  expect_error<KernelRejected>(
      [&] {
        trsm(device(), Side::Left, Triangle::Lower, Op::None, Diagonal::Unit, 3, 3, 1, t.data(), t.ld(), x.data(),
             x.ld());
      },
      {"trsm: backend", "has no steps of factorisations"});
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
  if (!has_room(mebibyte)) return;
  for (const auto& [m, n] : {std::pair<Index, Index>{150, 150}, {300, 70}, {70, 300}, {40, 40}, {600, 530}})
    for (const Op stored : {Op::None, Op::Transpose}) BOOST_TEST_CONTEXT(m << "×" << n << ", stored " << int(stored)) {
        if (m == 600 && !has_room(8 * mebibyte)) continue;
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
