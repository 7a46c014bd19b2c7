/// Tests inverses by factors: the bits of the formulas written out here, with any threads; and their bounds.

#include <cmath>
#include <limits>
#include <vector>

#include <boost/test/unit_test.hpp>
#include <tessera/linear_algebra/inverse.hpp>

#include "inverse_formulas.hpp"

namespace tessera::test {
namespace {

/// Returns `inside` where the triangle is, and else `outside`.
template <class T>
Matrix<T> joined(Triangle triangle, bool has_diagonal, const Matrix<T>& inside, const Matrix<T>& outside) {
  Matrix<T> both(outside.view());
  const Numbered<T> from(inside);
  for (Index i = 0; i < both.rows(); ++i)
    for (Index j = 0; j < both.cols(); ++j)
      if (i == j ? has_diagonal : (triangle == Triangle::Lower) == (i > j)) both(i, j) = from(i, j);
  return both;
}

/// The lines of a matrix of n lines whose formulas are computed: all, or some of a large matrix.
std::vector<Index> lines_of(Index n) {
  std::vector<Index> lines;
  for (Index i = 0; i < n; ++i)
    if (n <= 200 || i % 257 == 0 || i % 512 == 511 || i % 512 == 0 || i == n - 1) lines.push_back(i);
  return lines;
}

/// The lower triangle of A, and the upper one of Aᵀ, whose results are the formulas' and which leave the rest as it
/// was.
template <class T>
void same_triangles(const Matrix<T>& a, const SolveOptions& options) {
  const Index n = a.rows();
  const Matrix<T> turned(a.transposed());
  const Numbered<T> numbers(a);
  // Calls function(triangle, x) for both; compare(order, x) takes the lower triangle of the result.
  const auto results = [&](bool keeps_diagonal, const auto& function, const auto& compare) {
    Matrix<T> lower(a.view()), upper(turned.view());
    function(Triangle::Lower, lower);
    function(Triangle::Upper, upper);
    BOOST_TEST(differing(upper, joined(Triangle::Upper, !keeps_diagonal, upper, turned)) == 0);
    BOOST_TEST(differing(lower, joined(Triangle::Lower, !keeps_diagonal, lower, a)) == 0);
    BOOST_TEST(compare(true, lower) == 0);
    BOOST_TEST(compare(false, Matrix<T>(std::as_const(upper).transposed())) == 0);
  };
  for (const bool is_unit : {false, true})
    results(
        is_unit,
        [&](Triangle triangle, Matrix<T>& x) {
          detail::invert_triangle(triangle, is_unit ? Diagonal::Unit : Diagonal::Stored, n, x.data(), x.ld(), options);
        },
        [&](bool is_lower, const Matrix<T>& inverse) {
          Index other = 0;
          for (const Index j : lines_of(n)) {
            const std::vector<T> expected =
                column_of_inverse<T>(is_lower ? Order::Straight : Order::Turned, numbers, n, is_unit, j);
            for (Index i = j + is_unit; i < n; ++i)
              other += !same_bits(inverse(i, j), expected[static_cast<std::size_t>(i)]);
          }
          return other;
        });
  results(
      false,
      [&](Triangle triangle, Matrix<T>& x) { detail::multiply_by_transpose(triangle, n, x.data(), x.ld(), options); },
      [&](bool is_lower, const Matrix<T>& square) {
        Index other = 0;
        for (const Index j : lines_of(n))
          for (Index i = 0; i <= j; ++i) {
            const T expected = element_of_square<T>(
                is_lower ? Order::Turned : Order::Straight, [&](Index r, Index k) { return numbers(k, r); }, n, i, j);
            other += !same_bits(square(j, i), expected);
          }
        return other;
      });
}

template <class T>
Matrix<T> inverse_by_lu(const Lu<T>& lu, bool by_rows, const SolveOptions& options) {
  Matrix<T> x(by_rows ? Matrix<T>(lu.packed().view()) : Matrix<T>(lu.packed().transposed()));
  std::vector<Index> pivots(lu.pivots().begin(), lu.pivots().end());
  std::vector<T> work(pivots.size());
  detail::invert_by_lu(by_rows ? Op::None : Op::Transpose, x.rows(), x.data(), x.ld(),
                       detail::RowNumbers(pivots.data()), work.data(), options);
  return by_rows ? x : Matrix<T>(x.transposed());
}

template <class T>
void same_inverses(const Matrix<T>& a, const SolveOptions& options) {
  const Lu<T> lu(a, options);
  for (const bool by_rows : {true, false}) {
    const Matrix<T> inverse = inverse_by_lu(lu, by_rows, options);
    Index other = 0;
    for (const Index i : lines_of(a.rows())) {
      const std::vector<T> expected =
          row_of_inverse<T>(by_rows ? Order::Turned : Order::Straight, Numbered<T>(lu.packed()), lu.pivots(), i);
      for (Index j = 0; j < a.cols(); ++j) other += !same_bits(inverse(i, j), expected[static_cast<std::size_t>(j)]);
    }
    BOOST_TEST(other == 0);
  }
}

/// Random numbers of a distribution in each part.
template <class T>
Matrix<T> distributed(Index n, Seed seed, Distribution distribution, double low, double high) {
  using P = Part<T>;
  const auto draw = [&](Seed from) {
    return Matrix<P>::random(n, n, from, distribution, static_cast<P>(low), static_cast<P>(high));
  };
  const Matrix<P> re = draw(seed);
  if constexpr (is_complex<T>) {
    const Matrix<P> im = draw(Seed{seed.value + 100});
    Matrix<T> a(n, n);
    for (Index i = 0; i < n; ++i)
      for (Index j = 0; j < n; ++j) a(i, j) = {re(i, j), im(i, j)};
    return a;
  } else {
    return re;
  }
}

std::vector<Index> sizes() {
  return conformance::options().quick ? std::vector<Index>{1, 65} : std::vector<Index>{1, 2, 3, 31, 64, 65, 129, 200};
}

/// A type in which sums of products of T are far more precise than the bounds.
template <class T>
using Precise = std::conditional_t<sizeof(Part<T>) == 4, double, long double>;
template <class T>
using PreciseNumber = std::conditional_t<is_complex<T>, std::complex<Precise<T>>, Precise<T>>;

/// A product, and the product of the magnitudes.
template <class T>
struct Product {
  Product(const Matrix<T>& x) : cols(x.cols()) {
    for (Index i = 0; i < x.rows(); ++i)
      for (Index j = 0; j < cols; ++j) {
        value.push_back(static_cast<PreciseNumber<T>>(x(i, j)));
        size.push_back(std::abs(value.back()));
      }
  }
  Product(Index count, Index columns) : cols(columns), value(static_cast<std::size_t>(count)), size(value.size()) {}
  Product times(const Product& y) const {
    const Index rows = static_cast<Index>(value.size()) / cols;
    Product result(rows * y.cols, y.cols);
    for (Index i = 0; i < rows; ++i)
      for (Index k = 0; k < cols; ++k)
        for (Index j = 0; j < y.cols; ++j) {
          const auto from = static_cast<std::size_t>(i * cols + k), with = static_cast<std::size_t>(k * y.cols + j),
                     to = static_cast<std::size_t>(i * y.cols + j);
          result.value[to] += value[from] * y.value[with];
          result.size[to] += size[from] * y.size[with];
        }
    return result;
  }
  Index cols;
  std::vector<PreciseNumber<T>> value;
  std::vector<Precise<T>> size;
};

/// Returns the largest of |C − P| / (γ·S), where S is P's product of magnitudes, or another one that bounds it.
template <class T>
double over_bound(const Matrix<T>& c, const Product<T>& p, const Product<T>& bound, Index roundings) {
  const Precise<T> nu = static_cast<Precise<T>>(roundings) * std::numeric_limits<Part<T>>::epsilon() / 2;
  const Precise<T> factor(is_complex<T> ? 1.43 : 1.01); // √2, or 1, and a little for the sums of this test
  const Precise<T> gamma = factor * nu / (1 - nu);
  double largest = 0;
  for (Index i = 0; i < c.rows(); ++i)
    for (Index j = 0; j < c.cols(); ++j) {
      const auto at = static_cast<std::size_t>(i * c.cols() + j);
      const Precise<T> rest = std::abs(static_cast<PreciseNumber<T>>(c(i, j)) - p.value[at]);
      if (rest != 0) largest = std::max(largest, static_cast<double>(rest / (gamma * bound.size[at])));
    }
  return largest;
}

} // namespace

BOOST_AUTO_TEST_SUITE(inverses)

BOOST_AUTO_TEST_CASE_TEMPLATE(of_every_size, T, Systems) {
  for (const Index n : sizes())
    for (const SolveOptions& options : {tested(), formulas}) BOOST_TEST_CONTEXT("n = " << n) {
        same_triangles(dominant<T>(n, Seed{1}), options);
        same_inverses(Matrix<T>::random(n, n, Seed{2}), options);
      }
}

/// The formulas as the library has them are slow, and compared with the test's where they are the backend under test.
BOOST_AUTO_TEST_CASE_TEMPLATE(of_several_segments, T, Systems) {
  if (conformance::options().quick) return;
  const std::vector<Index> large = tested_backend() == Backend::Reference
                                       ? std::vector<Index>{is_complex<T> ? 530 : 1030}
                                   : is_complex<T> ? std::vector<Index>{430, 600, 1030}
                                                   : std::vector<Index>{430, 1100, 2060};
  for (const Index n : large) BOOST_TEST_CONTEXT("n = " << n) {
      same_triangles(dominant<T>(n, Seed{3}), tested());
      if (n < (is_complex<T> ? 1000 : 2000)) same_inverses(Matrix<T>::random(n, n, Seed{4}), tested());
    }
}

/// Numbers that are not finite, subnormal or zero, some of them on the diagonal.
BOOST_AUTO_TEST_CASE_TEMPLATE(of_hard_data, T, Systems) {
  for (const Index n : {30, 150})
    for (const SolveOptions& options : {tested(), formulas}) BOOST_TEST_CONTEXT(n) {
        same_triangles(distributed<T>(n, Seed{7}, Distribution::Special, 0.001, 0.05), options);
        same_triangles(distributed<T>(n, Seed{8}, Distribution::Wide, -30, 30), options);
        Matrix<T> zero = dominant<T>(n, Seed{9});
        zero(n / 2, n / 2) = 0;
        same_triangles(zero, options);
        zero(n / 2, n / 2) = std::numeric_limits<Part<T>>::denorm_min(); // its inverse overflows
        same_triangles(zero, options);
        same_inverses(distributed<T>(n, Seed{10}, Distribution::Wide, -30, 30), options);
      }
}

BOOST_AUTO_TEST_CASE_TEMPLATE(with_any_threads, T, Systems) {
  const Index n = conformance::options().quick ? 150 : 700;
  const Matrix<T> a = Matrix<T>::random(n, n, Seed{11}), triangle = dominant<T>(n, Seed{12});
  const Lu<T> lu(a, tested());
  const auto triangles = [&](int threads) {
    Matrix<T> x(triangle.view());
    detail::invert_triangle(Triangle::Lower, Diagonal::Stored, n, x.data(), x.ld(), tested(threads));
    detail::multiply_by_transpose(Triangle::Lower, n, x.data(), x.ld(), tested(threads));
    return x;
  };
  const Matrix<T> expected = inverse_by_lu(lu, false, tested(1)), expected_triangles = triangles(1);
  for (const int threads : {2, 3, 5}) BOOST_TEST_CONTEXT(threads) {
      BOOST_TEST(differing(inverse_by_lu(lu, false, tested(threads)), expected) == 0);
      BOOST_TEST(differing(triangles(threads), expected_triangles) == 0);
    }
}

/// The bounds of docs/linear_algebra.md.
BOOST_AUTO_TEST_CASE_TEMPLATE(within_bounds, T, Systems) {
  for (const Index n : {1, 10, 120}) BOOST_TEST_CONTEXT(n) {
      const Index roundings = is_complex<T> ? 2 * n + 9 : n + 1; // c(n)
      const Matrix<T> zero(n, n), unit = Matrix<T>::identity(n);
      const Matrix<T> low = joined(Triangle::Lower, true, dominant<T>(n, Seed{13}), zero);
      Matrix<T> x(low.view());
      detail::invert_triangle(Triangle::Lower, Diagonal::Stored, n, x.data(), x.ld(), tested());
      const Product<T> left = Product<T>(low).times(Product<T>(x));
      BOOST_TEST(over_bound(unit, left, left, roundings) <= 1);
      Matrix<T> with_real_diagonal(low.view());
      for (Index i = 0; i < n; ++i) with_real_diagonal(i, i) = std::real(with_real_diagonal(i, i));
      const Matrix<T> up = conjugate_transpose(with_real_diagonal);
      const Product<T> whole = Product<T>(up).times(Product<T>(with_real_diagonal));
      Matrix<T> square(up.view());
      detail::multiply_by_transpose(Triangle::Upper, n, square.data(), square.ld(), tested());
      for (Index i = 0; i < n; ++i)
        for (Index j = 0; j < i; ++j) square(i, j) = conjugate(std::as_const(square)(j, i));
      BOOST_TEST(over_bound(square, whole, whole, roundings) <= 1);
      const Matrix<T> a = Matrix<T>::random(n, n, Seed{14});
      const Lu<T> lu(a, tested());
      const Matrix<T> inverse = inverse_by_lu(lu, true, tested()),
                      l = joined(Triangle::Lower, false, lu.packed(), unit),
                      u = joined(Triangle::Upper, true, lu.packed(), zero);
      Matrix<T> unpermuted(inverse.view()); // X of X·L·U = I
      for (Index j = 0; j < n; ++j)
        for (Index i = 0; i < n; ++i)
          std::swap(unpermuted(i, j), unpermuted(i, lu.pivots()[static_cast<std::size_t>(j)]));
      BOOST_TEST(over_bound(unit, Product<T>(inverse).times(Product<T>(a)),
                            Product<T>(unpermuted).times(Product<T>(l)).times(Product<T>(u)), 3 * roundings) <= 1);
    }
}

BOOST_AUTO_TEST_SUITE_END()

} // namespace tessera::test
