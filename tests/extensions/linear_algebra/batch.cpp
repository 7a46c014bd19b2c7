/// Tests that each system of a batch has the bits that it has alone, that systems without a solution do not touch the
/// others, and what is refused.

#include <limits>

#include <boost/test/unit_test.hpp>

#include <tessera/linear_algebra/batch.hpp>

#include "drawn.hpp"

namespace tessera::test {
namespace {

/// Matrices of one size in one memory, with gaps between rows and between matrices, or in any order by pointers.
template <class T>
struct Stack {
  Stack(Draw& draw, Index m, Index n, Index number)
      : rows(m),
        cols(n),
        count(number),
        ld(std::max<Index>(1, n) + draw.index(0, 3)),
        stride(std::max<Index>(1, m) * ld + draw.index(0, 5)),
        values(static_cast<std::size_t>(std::max<Index>(1, count) * stride)) {
    for (T& value : values) value = draw.number<T>();
    if (draw.yes()) { // from the last one in memory to the first
      start = (std::max<Index>(1, count) - 1) * stride;
      stride = -stride;
    }
    for (Index i = 0; i < count; ++i) all.push_back(first() + i * stride);
  }
  Stack(const Stack& other) : Stack(other, 0) {}
  Stack& operator=(const Stack&) = delete;

  T* first() { return values.data() + start; }
  T& at(Index k, Index i, Index j) { return all[static_cast<std::size_t>(k)][i * ld + j]; }
  Matrix<T> matrix(Index k) {
    return Matrix<T>(MatrixView<const T>::wrap(all[static_cast<std::size_t>(k)], rows, cols, ld));
  }
  void set(Index k, const Matrix<T>& from) {
    for (Index i = 0; i < rows; ++i)
      for (Index j = 0; j < cols; ++j) at(k, i, j) = from(i, j);
  }
  T* const* pointers() { return all.data(); }
  const T* const* readable() { return all.data(); }

  Index rows, cols, count, ld, stride, start = 0;
  std::vector<T> values;
  std::vector<T*> all;

 private:
  Stack(const Stack& other, int)
      : rows(other.rows),
        cols(other.cols),
        count(other.count),
        ld(other.ld),
        stride(other.stride),
        start(other.start),
        values(other.values) {
    for (Index i = 0; i < count; ++i) all.push_back(first() + i * stride);
  }
};

/// Makes the matrices symmetric or Hermitian, and positive definite.
template <class T>
void make_positive(Stack<T>& a) {
  for (Index k = 0; k < a.count; ++k)
    for (Index i = 0; i < a.rows; ++i) {
      for (Index j = 0; j < i; ++j) a.at(k, j, i) = conjugate(a.at(k, i, j));
      a.at(k, i, i) += static_cast<Part<T>>(2 * a.rows);
    }
}

struct Shape {
  Index n, columns, count;
};
/// Sizes in lanes and beyond, and numbers of systems that do not fill them.
std::vector<Shape> shapes(Draw& draw) {
  std::vector<Shape> all{{1, 1, 1},  {1, 3, 40}, {2, 1, 33}, {3, 9, 5},  {4, 4, 16}, {5, 1, 1},
                         {8, 2, 17}, {31, 1, 9}, {64, 1, 3}, {65, 2, 9}, {130, 2, 3}};
  if (!conformance::options().quick) all.push_back({90, 20, 4});
  for (int i = 0; i < 8; ++i) all.push_back({draw.index(1, 40), draw.index(1, 20), draw.index(1, 40)});
  return all;
}

template <class T>
void same_lu(Draw& draw, const Shape& shape, bool by_pointers, int threads) {
  const auto [n, columns, count] = shape;
  const Index m = draw.yes() ? n : draw.index(1, 2 * n), steps = std::min(m, n);
  Stack<T> a(draw, m, n, count);
  if (count > 2)
    for (Index i = 0; i < m; ++i) a.at(1, i, steps / 2) = 0; // a singular one
  Stack<T> expected(a);
  std::vector<Index> pivots(static_cast<std::size_t>(steps * count)), info(static_cast<std::size_t>(count), -7),
      expected_pivots, expected_info;
  for (Index k = 0; k < count; ++k) {
    const Lu<T> one(a.matrix(k), tested());
    expected.set(k, one.packed());
    expected_pivots.insert(expected_pivots.end(), one.pivots().begin(), one.pivots().end());
    Index zero = 0;
    for (Index j = steps; j-- > 0;)
      if (one.packed()(j, j) == T(0)) zero = j + 1;
    expected_info.push_back(zero);
  }
  if (by_pointers)
    lu_batch(m, n, a.pointers(), a.ld, pivots.data(), info.data(), count, tested(threads));
  else
    lu_batch(m, n, a.first(), a.ld, a.stride, pivots.data(), info.data(), count, tested(threads));
  BOOST_TEST(differing(a.values, expected.values) == 0);
  BOOST_TEST(pivots == expected_pivots, boost::test_tools::per_element());
  BOOST_TEST(info == expected_info, boost::test_tools::per_element());
}

template <class T>
void same_lu_solutions(Draw& draw, const Shape& shape, bool by_pointers, int threads) {
  const auto [n, columns, count] = shape;
  Stack<T> a(draw, n, n, count), b(draw, n, columns, count), lu(a), x(b), expected(b), before(a);
  for (Index k = 0; k < count; ++k) expected.set(k, solve(a.matrix(k), b.matrix(k), tested()));
  if (by_pointers)
    solve_batch(n, columns, a.readable(), a.ld, x.pointers(), x.ld, nullptr, count, tested(threads));
  else
    solve_batch(n, columns, a.first(), a.ld, a.stride, x.first(), x.ld, x.stride, nullptr, count, tested(threads));
  BOOST_TEST(differing(x.values, expected.values) == 0);
  BOOST_TEST(differing(a.values, before.values) == 0);

  std::vector<Index> pivots(static_cast<std::size_t>(n * count));
  lu_batch(n, n, lu.first(), lu.ld, lu.stride, pivots.data(), nullptr, count, tested(threads));
  for (const Op op : {Op::None, Op::Transpose, Op::ConjugateTranspose}) {
    for (Index k = 0; k < count; ++k) {
      const Lu<T> one(a.matrix(k), tested());
      const Matrix<T> right = b.matrix(k);
      expected.set(k, op == Op::None        ? one.solve(right)
                      : op == Op::Transpose ? one.solve_transposed(right)
                                            : one.solve_conjugate_transposed(right));
    }
    Stack<T> y(b);
    if (by_pointers)
      lu_solve_batch(op, n, columns, lu.readable(), lu.ld, pivots.data(), y.pointers(), y.ld, count, tested(threads));
    else
      lu_solve_batch(op, n, columns, lu.first(), lu.ld, lu.stride, pivots.data(), y.first(), y.ld, y.stride, count,
                     tested(threads));
    BOOST_TEST(differing(y.values, expected.values) == 0);
  }
  Stack<T> inverses(draw, n, n, count), expected_inverses(inverses);
  for (Index k = 0; k < count; ++k) expected_inverses.set(k, inverse(a.matrix(k), tested()));
  if (by_pointers)
    inverse_batch(n, a.readable(), a.ld, inverses.pointers(), inverses.ld, nullptr, count, tested(threads));
  else
    inverse_batch(n, a.first(), a.ld, a.stride, inverses.first(), inverses.ld, inverses.stride, nullptr, count,
                  tested(threads));
  BOOST_TEST(differing(inverses.values, expected_inverses.values) == 0);

  // All systems with the first matrix.
  Stack<T> shared(b);
  solve_batch<T>(n, columns, a.first(), a.ld, 0, shared.first(), shared.ld, shared.stride, nullptr, count,
                 tested(threads));
  for (Index k = 0; k < count; ++k) expected.set(k, solve(a.matrix(0), b.matrix(k), tested()));
  BOOST_TEST(differing(shared.values, expected.values) == 0);
}

template <class T>
void same_positive(Draw& draw, const Shape& shape, bool by_pointers, int threads) {
  const auto [n, columns, count] = shape;
  Stack<T> a(draw, n, n, count), b(draw, n, columns, count);
  make_positive(a);
  if (count > 3) a.at(2, n / 2, n / 2) = -1;
  for (const Triangle triangle : {Triangle::Lower, Triangle::Upper}) {
    const bool is_lower = triangle == Triangle::Lower;
    Stack<T> factors(a), expected(a), x(b), solutions(b), again(b), by_factors(b);
    std::vector<Index> info(static_cast<std::size_t>(count), -7), solve_info(info), expected_info;
    for (Index k = 0; k < count; ++k) {
      Matrix<T> one = a.matrix(k);
      const Index done =
          detail::factor_cholesky(detail::number_type_of<T>, triangle, n, one.data(), one.ld(), tested());
      expected_info.push_back(done == n ? 0 : done + 1);
      if (done < n) continue;
      expected.set(k, one);
      solutions.set(k, Cholesky<T>(a.matrix(k), triangle, tested()).solve(b.matrix(k)));
      Matrix<T> right = b.matrix(k);
      for (const Op op : {is_lower ? Op::None : Op::ConjugateTranspose, is_lower ? Op::ConjugateTranspose : Op::None})
        trsm(Side::Left, triangle, op, Diagonal::Stored, n, columns, T(1), one.data(), one.ld(), right.data(),
             right.ld(), tested());
      by_factors.set(k, right);
    }
    if (by_pointers) {
      cholesky_batch(triangle, n, factors.pointers(), factors.ld, info.data(), count, tested(threads));
      solve_positive_batch(triangle, n, columns, a.readable(), a.ld, x.pointers(), x.ld, solve_info.data(), count,
                           tested(threads));
    } else {
      cholesky_batch(triangle, n, factors.first(), factors.ld, factors.stride, info.data(), count, tested(threads));
      solve_positive_batch(triangle, n, columns, a.first(), a.ld, a.stride, x.first(), x.ld, x.stride,
                           solve_info.data(), count, tested(threads));
    }
    BOOST_TEST(info == expected_info, boost::test_tools::per_element());
    BOOST_TEST(solve_info == expected_info, boost::test_tools::per_element());
    BOOST_TEST(differing(factors.values, expected.values) == 0); // the other triangle and the failed one stay
    BOOST_TEST(differing(x.values, solutions.values) == 0);
    for (Index k = 0; k < count; ++k) {
      if (info[static_cast<std::size_t>(k)] != 0) continue;
      const T* const factor = factors.pointers()[k];
      T* const right = again.pointers()[k];
      if (by_pointers)
        cholesky_solve_batch(triangle, n, columns, &factor, factors.ld, &right, again.ld, 1, tested(threads));
      else
        cholesky_solve_batch(triangle, n, columns, factor, factors.ld, 0, right, again.ld, 0, 1, tested(threads));
    }
    BOOST_TEST(differing(again.values, by_factors.values) == 0);
    Stack<T> shared(b);
    solve_positive_batch<T>(triangle, n, columns, a.first(), a.ld, 0, shared.first(), shared.ld, shared.stride, nullptr,
                            count, tested(threads));
    const Cholesky<T> one(a.matrix(0), triangle, tested());
    for (Index k = 0; k < count; ++k) solutions.set(k, one.solve(b.matrix(k)));
    BOOST_TEST(differing(shared.values, solutions.values) == 0);
  }
}

} // namespace

BOOST_AUTO_TEST_SUITE(batch)

BOOST_AUTO_TEST_CASE_TEMPLATE(bits_of_single_systems, T, Numbers) {
  Draw draw(1);
  for (const Shape& shape : shapes(draw))
    BOOST_TEST_CONTEXT(shape.count << " systems of " << shape.n << " rows, " << shape.columns << " columns") {
      const bool by_pointers = draw.yes();
      const int threads = static_cast<int>(draw.index(0, 3));
      same_lu<T>(draw, shape, by_pointers, threads);
      same_lu_solutions<T>(draw, shape, by_pointers, threads);
      same_positive<T>(draw, shape, by_pointers, threads);
    }
}

/// A lane with NaN, Inf or subnormal numbers does not touch its neighbours.
BOOST_AUTO_TEST_CASE_TEMPLATE(hard_numbers, T, Numbers) {
  Draw draw(2);
  using Limits = std::numeric_limits<Part<T>>;
  const Part<T> hard[] = {Limits::quiet_NaN(), Limits::infinity(), Limits::denorm_min(), Limits::max(), 0, -Part<T>(0)};
  for (const Index n : {1, 3, 6, 17, 66}) BOOST_TEST_CONTEXT(n) {
      Stack<T> a(draw, n, n, 50), b(draw, n, 2, 50);
      auto* const parts = reinterpret_cast<Part<T>*>(a.values.data());
      for (std::size_t i = 0; i < a.values.size() * sizeof(T) / sizeof(Part<T>);
           i += static_cast<std::size_t>(draw.index(1, 4 * n)))
        parts[i] = hard[draw.index(0, 5)];
      Stack<T> expected(b), x(b);
      std::vector<Index> info(50), expected_info(50);
      for (Index k = 0; k < a.count; ++k) try {
          expected.set(k, solve(a.matrix(k), b.matrix(k), tested()));
        } catch (const SingularMatrix& error) {
          expected_info[static_cast<std::size_t>(k)] = error.pivot() + 1;
        }
      solve_batch<T>(n, 2, a.first(), a.ld, a.stride, x.first(), x.ld, x.stride, info.data(), 50, tested());
      BOOST_TEST(info == expected_info, boost::test_tools::per_element());
      BOOST_TEST(differing(x.values, expected.values) == 0);
    }
}

/// Small whole numbers: many pivots are as large as others, and many systems are singular.
BOOST_AUTO_TEST_CASE_TEMPLATE(equal_pivots, T, Numbers) {
  Draw draw(3);
  for (const Index n : {2, 3, 5, 8}) BOOST_TEST_CONTEXT(n) {
      Stack<T> a(draw, n, n, 100), b(draw, n, 1, 100);
      for (T& value : a.values) {
        value = static_cast<T>(static_cast<Part<T>>(draw.index(-1, 1)));
        if constexpr (is_complex<T>) value.imag(static_cast<Part<T>>(draw.index(-1, 1)));
      }
      Stack<T> lu(a), expected(b), x(b);
      std::vector<Index> info(100), expected_info(100), pivots(static_cast<std::size_t>(100 * n)), expected_pivots;
      for (Index k = 0; k < a.count; ++k) {
        const Lu<T> one(a.matrix(k), tested());
        expected_pivots.insert(expected_pivots.end(), one.pivots().begin(), one.pivots().end());
        if (!one.is_singular()) expected.set(k, one.solve(b.matrix(k)));
        for (Index j = n; j-- > 0;)
          if (one.packed()(j, j) == T(0)) expected_info[static_cast<std::size_t>(k)] = j + 1;
      }
      if (n <= 3) BOOST_TEST(std::ranges::count(expected_info, 0) < 100);
      lu_batch(n, n, lu.first(), lu.ld, lu.stride, pivots.data(), nullptr, 100, tested());
      BOOST_TEST(pivots == expected_pivots, boost::test_tools::per_element());
      solve_batch<T>(n, 1, a.first(), a.ld, a.stride, x.first(), x.ld, x.stride, info.data(), 100, tested());
      BOOST_TEST(info == expected_info, boost::test_tools::per_element());
      BOOST_TEST(differing(x.values, expected.values) == 0);
    }
}

BOOST_AUTO_TEST_SUITE_END()

} // namespace tessera::test
