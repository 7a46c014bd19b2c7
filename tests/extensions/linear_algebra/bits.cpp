/// Tests that blocked algorithms have the bits of the contract's formulas, whatever the shape, the data and the
/// threads.

#include <vector>

#include <boost/mpl/list.hpp>
#include <boost/test/unit_test.hpp>

#include "systems.hpp"

namespace tessera::test {
namespace {

/// Sizes around panels and segments, and some of no kind.
std::vector<Index> sizes() { return {1, 2, 3, 17, 63, 64, 65, 100, 129, 200}; }

/// Sizes of one segment, and of more. A complex segment is half as long.
template <class T>
std::vector<Index> large_sizes() {
  if (conformance::options().quick) return {};
  return is_complex<T> ? std::vector<Index>{512, 513, 700} : std::vector<Index>{1024, 1025, 1100};
}

template <class T>
void same_factors(const Matrix<T>& a, const SolveOptions& options) {
  const Lu lu(a, options), expected(a, formulas);
  BOOST_TEST(differing(lu.packed(), expected.packed()) == 0);
  BOOST_TEST(lu.pivots() == expected.pivots(), boost::test_tools::per_element());
  BOOST_TEST(lu.is_singular() == expected.is_singular());
}

/// Memory may hold the transpose, as LAPACK's does.
template <class T>
void same_factors_by_columns(const Matrix<T>& a) {
  const Lu expected(a, formulas);
  for (const SolveOptions& options : {tested(), formulas}) {
    Matrix<T> turned(a.transposed());
    std::vector<Index> pivots(expected.pivots().size());
    detail::factor_lu(detail::number_type_of<T>, Op::Transpose, a.rows(), a.cols(), turned.data(), turned.ld(),
                      detail::RowNumbers(pivots.data()), options);
    BOOST_TEST(differing(turned, Matrix<T>(expected.packed().transposed())) == 0);
    BOOST_TEST(pivots == expected.pivots(), boost::test_tools::per_element());
  }
}

/// A triangle of the matrix or of its transpose becomes L or its transpose, and the other triangle stays.
template <class T>
void same_triangles(const Matrix<T>& a) {
  const Index n = a.rows();
  const Matrix<T> l = Cholesky(a, Triangle::Lower, formulas).l();
  Matrix<T> expected(a.view());
  for (Index i = 0; i < n; ++i)
    for (Index j = 0; j <= i; ++j) expected(i, j) = l(i, j);
  for (const SolveOptions& options : {tested(), formulas})
    for (const Triangle triangle : {Triangle::Lower, Triangle::Upper}) {
      const bool is_lower = triangle == Triangle::Lower;
      Matrix<T> memory(is_lower ? a.view() : a.transposed());
      BOOST_TEST(detail::factor_cholesky(detail::number_type_of<T>, triangle, n, memory.data(), memory.ld(), options) ==
                 n);
      BOOST_TEST(differing(is_lower ? memory : Matrix<T>(memory.view().transposed()), expected) == 0);
    }
}

template <class T>
void same_solutions(const Matrix<T>& t, const Matrix<T>& b) {
  for (const Triangle triangle : {Triangle::Lower, Triangle::Upper})
    for (const Diagonal diagonal : {Diagonal::Stored, Diagonal::Unit})
      BOOST_TEST_CONTEXT("triangle " << static_cast<int>(triangle) << ", diagonal " << static_cast<int>(diagonal)) {
        const auto same = [&](const auto& matrix, const auto& right, Side side) {
          BOOST_TEST(differing(triangular_solve(triangle, matrix, right, side, diagonal, tested()),
                               triangular_solve(triangle, matrix, right, side, diagonal, formulas)) == 0);
        };
        same(t, b, Side::Left);
        same(t.transposed(), b, Side::Left);
        same(t, b.transposed(), Side::Right);
        same(t.transposed(), b.transposed(), Side::Right);
      }
}

/// Numbers whose magnitudes lie far apart, with some that are not finite, subnormal or zero.
template <class T>
Matrix<T> hard(Index rows, Index cols, Seed seed, bool special) {
  using P = Part<T>;
  return special ? Matrix<T>::random(rows, cols, seed, Distribution::Special, P(0.001), P(0.05))
                 : Matrix<T>::random(rows, cols, seed, Distribution::Wide, P(-30), P(30));
}

} // namespace

BOOST_AUTO_TEST_SUITE(bits)

BOOST_AUTO_TEST_CASE_TEMPLATE(of_every_size, T, Systems) {
  for (const Index n : sizes()) BOOST_TEST_CONTEXT("n = " << n) {
      const Matrix<T> a = Matrix<T>::random(n, n, Seed{1}), b = Matrix<T>::random(n, n % 90 + 1, Seed{2});
      same_factors(a, tested());
      same_factors_by_columns(a);
      const Matrix<T> symmetric = positive<T>(n, Seed{3});
      same_triangles(symmetric);
      const Cholesky cholesky(symmetric, Triangle::Lower, tested());
      BOOST_TEST(differing(cholesky.l(), Cholesky(symmetric, Triangle::Lower, formulas).l()) == 0);
      BOOST_TEST(differing(cholesky.l(), Cholesky(symmetric, Triangle::Upper, tested()).l()) == 0);
      same_solutions(dominant<T>(n, Seed{4}), b);
      BOOST_TEST(differing(solve(a, b, tested()), solve(a, b, formulas)) == 0);
      BOOST_TEST(differing(cholesky.solve(b), Cholesky(symmetric, Triangle::Lower, formulas).solve(b)) == 0);
    }
}

/// Systems with one right-hand side are quick to solve by the formulas.
BOOST_AUTO_TEST_CASE_TEMPLATE(of_several_segments, T, Systems) {
  for (const Index n : large_sizes<T>()) BOOST_TEST_CONTEXT("n = " << n) {
      const Matrix<T> t = dominant<T>(n, Seed{14});
      same_solutions(t, Matrix<T>::random(n, 1, Seed{15}));
      same_triangles(positive<T>(n, Seed{16}));
    }
}

BOOST_AUTO_TEST_CASE_TEMPLATE(of_every_shape, T, Systems) {
  for (const auto& [m, n] : {std::pair<Index, Index>{300, 7}, {7, 300}, {130, 200}, {200, 130}, {65, 64}, {64, 65}})
    BOOST_TEST_CONTEXT(m << "×" << n) {
      const Matrix<T> a = Matrix<T>::random(m, n, Seed{5});
      same_factors(a, tested());
      same_factors_by_columns(a);
    }
  if (conformance::options().quick) return;
  const Index size = is_complex<T> ? 520 : 1030;
  for (const auto& [m, n] : {std::pair<Index, Index>{size, size + 70}, {size + 70, size}, {2100, 40}, {40, 2100}})
    BOOST_TEST_CONTEXT(m << "×" << n) {
      const Matrix<T> a = Matrix<T>::random(m, n, Seed{6});
      same_factors(a, tested());
      same_factors_by_columns(a);
    }
}

BOOST_AUTO_TEST_CASE_TEMPLATE(of_hard_data, T, Systems) {
  for (const Index n : {30, 150})
    for (const bool special : {false, true}) BOOST_TEST_CONTEXT(n << ", special: " << special) {
        const Matrix<T> a = hard<T>(n, n, Seed{7}, special);
        same_factors(a, tested());
        same_factors_by_columns(a);
        same_solutions(hard<T>(n, n, Seed{8}, special), hard<T>(n, 20, Seed{9}, special));
      }
}

BOOST_AUTO_TEST_CASE_TEMPLATE(of_singular_matrices, T, Systems) {
  for (const Index n : {5, 70, 140}) BOOST_TEST_CONTEXT(n) {
      auto a = Matrix<T>::random(n, n, Seed{10}, Distribution::Integers, -3, 3);
      for (Index i = 0; i < n; ++i) {
        a(i, n / 2) = 0;
        a(n - 1, i) = std::as_const(a)(0, i); // equal magnitudes, of which the first is taken
      }
      same_factors(a, tested());
      BOOST_TEST(Lu(a, tested()).is_singular());
    }
}

BOOST_AUTO_TEST_CASE_TEMPLATE(with_any_threads, T, Systems) {
  const Index n = conformance::options().quick ? 150 : 500;
  const Matrix<T> a = Matrix<T>::random(n, n, Seed{11}), symmetric = positive<T>(n, Seed{12});
  const Lu lu(a, tested(1));
  const Cholesky cholesky(symmetric, Triangle::Lower, tested(1));
  for (const int threads : {2, 3, 5}) BOOST_TEST_CONTEXT(threads) {
      BOOST_TEST(differing(Lu(a, tested(threads)).packed(), lu.packed()) == 0);
      BOOST_TEST(differing(Cholesky(symmetric, Triangle::Lower, tested(threads)).l(), cholesky.l()) == 0);
    }
}

BOOST_AUTO_TEST_CASE_TEMPLATE(of_symmetric_products, T, Elements) {
  for (const auto& [n, k] : {std::pair<Index, Index>{1, 1}, {3, 0}, {64, 5}, {65, 130}, {200, 70}, {70, 2100}})
    BOOST_TEST_CONTEXT(n << "×" << k) {
      const Matrix<T> a = hard<T>(n, k, Seed{17}, true);
      BOOST_TEST(differing(syrk(a, tested()), gemm(a, a.transposed(), Backend::Reference)) == 0);
      BOOST_TEST(differing(syrk(a.transposed(), tested()), gemm(a.transposed(), a, Backend::Reference)) == 0);
      const Matrix<T> before = Matrix<T>::random(n, n, Seed{18});
      Matrix<T> whole(before.view()), lower(before.view()), upper(before.view());
      if (k == 0) continue; // no memory to point at
      gemm(T(-0.7), a, a.transposed(), T(1.3), whole, {.backend = Backend::Reference});
      syrk(Triangle::Lower, Op::None, n, k, T(-0.7), a.data(), a.ld(), T(1.3), lower.data(), lower.ld(), tested());
      const Matrix<T> turned(a.transposed());
      syrk(Triangle::Upper, Op::Transpose, n, k, T(-0.7), turned.data(), turned.ld(), T(1.3), upper.data(), upper.ld(),
           tested());
      const auto halves = [n = n](const Matrix<T>& below, const Matrix<T>& above, Index diagonal) {
        Matrix<T> both(n, n);
        for (Index i = 0; i < n; ++i)
          for (Index j = 0; j < n; ++j) both(i, j) = (j < i + diagonal ? below : above)(i, j);
        return both;
      };
      BOOST_TEST(differing(lower, halves(whole, before, 1)) == 0);
      BOOST_TEST(differing(upper, halves(before, whole, 0)) == 0);
    }
}

BOOST_AUTO_TEST_CASE_TEMPLATE(of_views, T, Systems) {
  const Matrix<T> large = dominant<T>(300, Seed{13});
  const auto part = large.block(20, 20, 120, 120);
  const auto right = large.block(0, 200, 120, 33);
  BOOST_TEST(differing(solve(part, right, tested()), solve(Matrix<T>(part), Matrix<T>(right), formulas)) == 0);
  BOOST_TEST(differing(solve(part.transposed(), right, tested()),
                       solve(Matrix<T>(part.transposed()), Matrix<T>(right), formulas)) == 0);
}

BOOST_AUTO_TEST_SUITE_END()

} // namespace tessera::test
