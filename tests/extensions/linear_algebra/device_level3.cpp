/// Tests of level 3 in an executor's memory, and of the caller's host memory where a device computes a product as a
/// whole.

#include <algorithm>
#include <complex>
#include <limits>
#include <vector>

#include <boost/mpl/list.hpp>
#include <boost/test/unit_test.hpp>

#include <tessera/linear_algebra/executor_level3.hpp>

#include "elsewhere.hpp"
#include "support/expect.hpp"

namespace tessera::test {
namespace {

/// Returns factors of a product: 1, and one that is not real where numbers are complex.
template <class T>
T some_factor() {
  if constexpr (is_complex<T>)
    return {Part<T>(-0.3), Part<T>(0.7)};
  else
    return T(-0.3);
}
template <class T>
const T not_a_number{std::numeric_limits<Part<T>>::quiet_NaN()};

/// Fills one triangle, without the diagonal, with NaN: it is not to be read.
template <class T>
void spoil(Triangle triangle, Matrix<T>& x) {
  for (Index i = 0; i < x.rows(); ++i)
    for (Index j = 0; j < i; ++j) (triangle == Triangle::Lower ? x(i, j) : x(j, i)) = not_a_number<T>;
}
constexpr Triangle other(Triangle triangle) { return triangle == Triangle::Lower ? Triangle::Upper : Triangle::Lower; }

struct TriangleCase {
  Side side;
  Triangle triangle;
  Op op;
  Diagonal diagonal;
};
template <class T>
std::vector<TriangleCase> triangle_cases() {
  std::vector<TriangleCase> cases;
  for (const Side side : {Side::Left, Side::Right})
    for (const Triangle triangle : {Triangle::Lower, Triangle::Upper})
      for (const Op op : {Op::None, Op::Transpose, Op::ConjugateTranspose})
        for (const Diagonal diagonal : {Diagonal::Stored, Diagonal::Unit})
          if (is_complex<T> || op != Op::ConjugateTranspose) cases.push_back({side, triangle, op, diagonal});
  return cases;
}

/// Compares trmm in the executor's memory, and of host memory with the tested backend, with the formulas.
template <class T>
void expect_product(const TriangleCase& form, Matrix<T> t, const Matrix<T>& b, T alpha) {
  const auto& [side, triangle, op, diagonal] = form;
  BOOST_TEST_CONTEXT(t.rows() << ", " << b.rows() << "×" << b.cols() << ", side " << int(side) << ", triangle "
                              << int(triangle) << ", op " << int(op) << ", diagonal " << int(diagonal)) {
    spoil(other(triangle), t);
    if (diagonal == Diagonal::Unit)
      for (Index i = 0; i < t.rows(); ++i) t(i, i) = not_a_number<T>;
    const Elsewhere<T> there(t);
    Elsewhere<T> x(b);
    Matrix<T> y(b.view()), z(b.view());
    const Index m = b.rows(), n = b.cols();
    trmm(side, triangle, op, diagonal, m, n, alpha, t.data(), t.ld(), y.data(), y.ld(), formulas);
    trmm(device(), side, triangle, op, diagonal, m, n, alpha, there.data(), there.ld(), x.data(), x.ld());
    BOOST_TEST(differing(x.read(), y) == 0);
    trmm(side, triangle, op, diagonal, m, n, alpha, t.data(), t.ld(), z.data(), z.ld(), tested());
    BOOST_TEST(differing(z, y) == 0);
  }
}

bool multiplies_triangles() { return has_panels() || device().capabilities().host_memory; }

/// Numbers whose products underflow, to zeros of either sign. Some are of moderate size.
template <class T>
Matrix<T> tiny(Index rows, Index cols, Seed seed) {
  auto x = Matrix<T>::random(rows, cols, seed, -1.0, 1.0);
  for (Index i = 0; i < rows; ++i)
    for (Index j = 0; j < cols; ++j)
      if ((i + 3 * j) % 11 != 0) x(i, j) *= std::ldexp(Part<T>(1), -std::numeric_limits<Part<T>>::max_exponent * 3 / 4);
  return x;
}

} // namespace

BOOST_AUTO_TEST_SUITE(device_level3)

BOOST_AUTO_TEST_CASE_TEMPLATE(triangles_in_its_memory, T, Systems) {
  if (!has_room((is_complex<T> ? 16 : 8) * mebibyte) || !(has_panels() || device().capabilities().host_memory)) return;
  const Index n = 150, count = 40;
  const Matrix<T> t = dominant<T>(n, Seed{10});
  const Elsewhere<T> triangle(t);
  for (const Side side : {Side::Left, Side::Right})
    for (const Op op : {Op::None, Op::Transpose, Op::ConjugateTranspose})
      for (const T alpha : {T(1), some_factor<T>(), T(0)}) {
        if (op == Op::ConjugateTranspose && !is_complex<T>) continue;
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
  expect_error<KernelRejected>(
      [&] {
        trmm(device(), Side::Left, Triangle::Lower, Op::None, Diagonal::Unit, 3, 3, 1, t.data(), t.ld(), x.data(),
             x.ld());
      },
      {"trmm: backend", "has no steps of factorisations"});
}

/// Sizes around the blocks on the diagonal, and around segments, of which a complex one is half as long.
BOOST_AUTO_TEST_CASE_TEMPLATE(products_with_triangles, T, Systems) {
  if (!multiplies_triangles() || !has_room((is_complex<T> ? 16 : 8) * mebibyte)) return;
  for (const auto& [n, count] : {std::pair<Index, Index>{1, 1}, {2, 3}, {64, 65}, {130, 70}})
    for (const TriangleCase& form : triangle_cases<T>()) {
      const bool is_left = form.side == Side::Left;
      const auto t = Matrix<T>::random(n, n, Seed{21}, -1.0, 1.0);
      const auto b = Matrix<T>::random(is_left ? n : count, is_left ? count : n, Seed{22}, -1.0, 1.0);
      expect_product<T>(form, t, b, some_factor<T>());
      if (n == 130) expect_product<T>(form, t, b, T(1));
      if (n == 2) expect_product<T>(form, t, b, T(0));
    }
}

BOOST_AUTO_TEST_CASE_TEMPLATE(products_of_several_segments, T, Systems) {
  if (!multiplies_triangles() || !has_room(256 * mebibyte)) return;
  // On a host the formulas take most of the time, and every line is computed alike.
  const Index segment = is_complex<T> ? 512 : 1024, count = device().capabilities().host_memory ? 6 : 70;
  for (const TriangleCase& form : triangle_cases<T>()) {
    const bool is_left = form.side == Side::Left, is_short = form.diagonal == Diagonal::Unit;
    if (is_short && form.op != Op::None) continue;
    const Index n = is_short ? segment + 1 : 2 * segment + 200;
    expect_product<T>(form, Matrix<T>::random(n, n, Seed{23}, -1.0, 1.0),
                      Matrix<T>::random(is_left ? n : count, is_left ? count : n, Seed{24}, -1.0, 1.0), T(1));
  }
}

/// Zeros stand for the other triangle in the device's products. They must not show: where a chain rounds to −0, and
/// where numbers that the triangle does not meet are infinite or NaN.
BOOST_AUTO_TEST_CASE_TEMPLATE(zeros_do_not_show, T, Systems) {
  if (!multiplies_triangles() || !has_room((is_complex<T> ? 16 : 8) * mebibyte)) return;
  constexpr Part<T> infinite = std::numeric_limits<Part<T>>::infinity();
  const Index n = 150, count = 66;
  for (const TriangleCase& form : triangle_cases<T>()) {
    const bool is_left = form.side == Side::Left;
    const Index rows = is_left ? n : count, cols = is_left ? count : n;
    const Matrix<T> t = tiny<T>(n, n, Seed{25});
    Matrix<T> b = tiny<T>(rows, cols, Seed{26});
    expect_product<T>(form, t, b, T(1));
    expect_product<T>(form, t, Matrix<T>(rows, cols, T(-0.0)), some_factor<T>());
    const auto at = [&](Index number, Index line) -> T& { return is_left ? b(number, line) : b(line, number); };
    at(0, 1) = at(70, 2) = at(n - 1, 3) = T(infinite);
    at(64, 4) = at(100, 5) = T(-infinite);
    at(10, 6) = at(n - 2, 7) = not_a_number<T>;
    if constexpr (is_complex<T>) at(31, 8) = T(1, -infinite);
    expect_product<T>(form, t, b, T(1));
    expect_product<T>(form, Matrix<T>::random(n, n, Seed{27}, -1.0, 1.0), b, some_factor<T>());
  }
}

/// One triangle counts, and Hermitian matrices have real diagonals, whatever the memory has there.
BOOST_AUTO_TEST_CASE_TEMPLATE(symmetric_products, T, Systems) {
  if (!has_room((is_complex<T> ? 16 : 8) * mebibyte)) return;
  for (const Index n : {1, 64, 65, 150})
    for (const Triangle triangle : {Triangle::Lower, Triangle::Upper})
      for (const Side side : {Side::Left, Side::Right})
        for (const bool is_hermitian : {false, true})
          for (const T beta : {T(0), some_factor<T>()}) BOOST_TEST_CONTEXT(n << ", " << int(triangle)) {
              if (is_hermitian && !is_complex<T>) continue;
              const Index count = 70, m = side == Side::Left ? n : count, cols = side == Side::Left ? count : n;
              Matrix<T> a = Matrix<T>::random(n, n, Seed{31});
              spoil(other(triangle), a);
              if constexpr (is_complex<T>)
                if (is_hermitian) a(n / 2, n / 2).imag(std::numeric_limits<Part<T>>::quiet_NaN());
              const auto b = Matrix<T>::random(m, cols, Seed{32}), c = Matrix<T>::random(m, cols, Seed{33});
              const Elsewhere<T> left(a), right(b);
              Elsewhere<T> x(c);
              Matrix<T> y(c.view()), z(c.view());
              const auto multiply = [&](auto& to, const auto& by, const auto& with, const auto&... where) {
                constexpr T alpha(1);
                if constexpr (is_complex<T>)
                  if (is_hermitian)
                    return hemm(where..., side, triangle, m, cols, alpha, by.data(), by.ld(), with.data(), with.ld(),
                                beta, to.data(), to.ld());
                symm(where..., side, triangle, m, cols, alpha, by.data(), by.ld(), with.data(), with.ld(), beta,
                     to.data(), to.ld());
              };
              const auto multiply_by = [&](Matrix<T>& to, const SolveOptions& options) {
                detail::symmetric_multiply<T>({is_hermitian, side, triangle, m, cols, T(1), a.data(), a.ld(), b.data(),
                                               b.ld(), beta, to.data(), to.ld()},
                                              options);
              };
              multiply_by(y, formulas);
              multiply(x, left, right, std::ref(device()));
              BOOST_TEST(differing(x.read(), y) == 0);
              multiply_by(z, tested());
              BOOST_TEST(differing(z, y) == 0);
            }
}

/// The other triangle of C stays as it is.
BOOST_AUTO_TEST_CASE_TEMPLATE(updates, T, Systems) {
  if (!has_room((is_complex<T> ? 16 : 8) * mebibyte)) return;
  for (const auto& [n, k] : {std::pair<Index, Index>{1, 1}, {65, 70}, {150, 90}, {70, 0}})
    for (const Triangle triangle : {Triangle::Lower, Triangle::Upper})
      for (const bool is_turned : {false, true})
        for (const bool is_hermitian : {false, true})
          for (const bool has_b : {false, true})
            for (const bool is_plain : {false, true}) BOOST_TEST_CONTEXT(n << "×" << k << ", " << int(triangle)) {
                if (is_hermitian && !is_complex<T>) continue;
                const Op op = !is_turned ? Op::None : is_hermitian ? Op::ConjugateTranspose : Op::Transpose;
                const Index rows = is_turned ? k : n, cols = is_turned ? n : k;
                const T factor = is_plain ? T(1) : some_factor<T>(), beta = is_plain ? T(0) : some_factor<T>();
                const T alpha = is_hermitian && !has_b ? T(std::real(factor)) : factor;
                const auto a = Matrix<T>::random(rows, cols, Seed{41}), b = Matrix<T>::random(rows, cols, Seed{42});
                Matrix<T> c = Matrix<T>::random(n, n, Seed{43});
                spoil(other(triangle), c);
                const Elsewhere<T> left(a), right(b);
                Elsewhere<T> x(c);
                Matrix<T> y(c.view()), z(c.view());
                const auto call = [&](const T* from, Index lda, const T* second, Index ldb, T* to, Index ldc) {
                  return detail::RankUpdateCall<T>{is_hermitian,
                                                   has_b,
                                                   triangle,
                                                   op,
                                                   n,
                                                   k,
                                                   alpha,
                                                   from,
                                                   lda,
                                                   has_b ? second : nullptr,
                                                   ldb,
                                                   is_hermitian ? T(std::real(beta)) : beta,
                                                   to,
                                                   ldc};
                };
                detail::rank_update(call(a.data(), a.ld(), b.data(), b.ld(), y.data(), y.ld()), formulas);
                detail::rank_update_on(device(),
                                       call(left.data(), left.ld(), right.data(), right.ld(), x.data(), x.ld()));
                BOOST_TEST(differing(x.read(), y) == 0);
                detail::rank_update(call(a.data(), a.ld(), b.data(), b.ld(), z.data(), z.ld()), tested());
                BOOST_TEST(differing(z, y) == 0);
              }
}

/// The functions with these names pass on what the tests above compute with.
BOOST_AUTO_TEST_CASE(names_of_updates) {
  using T = std::complex<double>;
  if (!has_room(16 * mebibyte)) return;
  const Index n = 20, k = 9;
  const auto a = Matrix<T>::random(n, k, Seed{44}), b = Matrix<T>::random(n, k, Seed{45});
  const Elsewhere<T> left(a), right(b);
  const Triangle lower = Triangle::Lower;
  const T alpha(0.5, 2);
  Matrix<T> y(n, n);
  Elsewhere<T> x(y);
  syrk(lower, Op::None, n, k, alpha, a.data(), a.ld(), T(0), y.data(), y.ld(), formulas);
  syrk(device(), lower, Op::None, n, k, alpha, left.data(), left.ld(), T(0), x.data(), x.ld());
  BOOST_TEST(differing(x.read(), y) == 0);
  herk(lower, Op::None, n, k, 0.5, a.data(), a.ld(), 2.0, y.data(), y.ld(), formulas);
  herk(device(), lower, Op::None, n, k, 0.5, left.data(), left.ld(), 2.0, x.data(), x.ld());
  BOOST_TEST(differing(x.read(), y) == 0);
  syr2k(lower, Op::None, n, k, alpha, a.data(), a.ld(), b.data(), b.ld(), T(1), y.data(), y.ld(), formulas);
  syr2k(device(), lower, Op::None, n, k, alpha, left.data(), left.ld(), right.data(), right.ld(), T(1), x.data(),
        x.ld());
  BOOST_TEST(differing(x.read(), y) == 0);
  her2k(lower, Op::None, n, k, alpha, a.data(), a.ld(), b.data(), b.ld(), 1.0, y.data(), y.ld(), formulas);
  her2k(device(), lower, Op::None, n, k, alpha, left.data(), left.ld(), right.data(), right.ld(), 1.0, x.data(),
        x.ld());
  BOOST_TEST(differing(x.read(), y) == 0);
}

BOOST_AUTO_TEST_SUITE_END()

} // namespace tessera::test
