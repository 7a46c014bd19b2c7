/// Tests inverses by factors: the bits of the formulas written out here, with any threads; and their bounds.

#include <bit>
#include <cmath>
#include <limits>
#include <vector>

#include <boost/test/unit_test.hpp>
#include <tessera/linear_algebra/inverse.hpp>

#include "systems.hpp"

namespace tessera::test {
namespace {

constexpr Index segment = 1024;

/// a − s with s of x(k)·y(k), k = begin … end − 1, in segments that are cut at multiples of 1024.
template <class T, class X, class Y>
T less_sum(T a, Index begin, Index end, const X& x, const Y& y) {
  for (Index first = begin / segment * segment; first < end; first += segment) {
    T chain = 0;
    for (Index k = std::max(begin, first); k < std::min(end, first + segment); ++k) chain = std::fma(x(k), y(k), chain);
    a -= chain;
  }
  return a;
}

/// A matrix as its numbers, which are quick to look at.
template <class T>
struct Numbered {
  explicit Numbered(const Matrix<T>& from) : data(from.data()), ld(from.ld()) {}
  T operator()(Index i, Index j) const { return data[i * ld + j]; }
  const T* data;
  Index ld;
};

/// Returns column j of the X of L·X = I; `l` is read below the diagonal, and on it unless that is ones.
template <class T, class L>
std::vector<T> column_of_inverse(const L& l, Index n, bool is_unit, Index j) {
  std::vector<T> x(static_cast<std::size_t>(n));
  const auto at = [&](Index k) { return x[static_cast<std::size_t>(k)]; };
  for (Index i = j; i < n; ++i) {
    const T rest = less_sum(
        T(i == j), j, i, [&](Index k) { return l(i, k); }, at);
    x[static_cast<std::size_t>(i)] = is_unit ? rest : rest / l(i, i);
  }
  return x;
}

/// Returns element (i, j), j ≥ i, of U·Uᵀ.
template <class T, class U>
T element_of_square(const U& u, Index n, Index i, Index j) {
  T sum = 0;
  for (Index first = j / segment * segment; first < n; first += segment) {
    T chain = 0;
    for (Index k = std::max(j, first); k < std::min(n, first + segment); ++k) chain = std::fma(u(i, k), u(j, k), chain);
    sum = first <= j ? chain : sum + chain;
  }
  return sum;
}

/// Returns row i of the inverse by LU's packed factors: X·U = I, then X·L = that, from the last column on; then the
/// columns change places.
template <class T, class F>
std::vector<T> row_of_inverse(const F& packed, std::span<const Index> pivots, Index i) {
  const auto n = static_cast<Index>(pivots.size());
  std::vector<T> x = column_of_inverse<T>([&](Index r, Index k) { return packed(k, r); }, n, false, i);
  const auto from_last = [&](Index k) { return x[static_cast<std::size_t>(n - 1 - k)]; };
  for (Index j = n - 1; j >= 0; --j)
    x[static_cast<std::size_t>(j)] = less_sum(x[static_cast<std::size_t>(j)], 0, n - 1 - j, from_last,
                                              [&](Index k) { return packed(n - 1 - k, j); });
  for (std::size_t j = x.size(); j-- > 0;) std::swap(x[j], x[static_cast<std::size_t>(pivots[j])]);
  return x;
}

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

bool same_bits(auto x, decltype(x) y) {
  using Bits = std::conditional_t<sizeof(x) == 4, std::uint32_t, std::uint64_t>;
  return std::bit_cast<Bits>(x) == std::bit_cast<Bits>(y) || (std::isnan(x) && std::isnan(y));
}

/// The lines of a matrix of n lines whose formulas are computed: all, or some of a large matrix.
std::vector<Index> lines_of(Index n) {
  std::vector<Index> lines;
  for (Index i = 0; i < n; ++i)
    if (n <= 200 || i % 257 == 0 || i == segment - 1 || i == segment || i == n - 1) lines.push_back(i);
  return lines;
}

/// The lower triangle of A, and the upper one of Aᵀ, which must have transposed results and leave the rest as it was.
template <class T>
void same_triangles(const Matrix<T>& a, const SolveOptions& options) {
  const Index n = a.rows();
  const Matrix<T> turned(a.transposed());
  const Numbered<T> numbers(a);
  const auto results = [&](bool keeps_diagonal, const auto& function) {
    Matrix<T> lower(a.view()), upper(turned.view());
    function(Triangle::Lower, lower);
    function(Triangle::Upper, upper);
    BOOST_TEST(differing(upper, joined(Triangle::Upper, !keeps_diagonal, Matrix<T>(lower.transposed()), turned)) == 0);
    BOOST_TEST(differing(lower, joined(Triangle::Lower, !keeps_diagonal, lower, a)) == 0);
    return lower;
  };
  for (const bool is_unit : {false, true}) {
    const Matrix<T> inverse = results(is_unit, [&](Triangle triangle, Matrix<T>& x) {
      detail::invert_triangle(triangle, is_unit ? Diagonal::Unit : Diagonal::Stored, n, x.data(), x.ld(), options);
    });
    Index other = 0;
    for (const Index j : lines_of(n)) {
      const std::vector<T> expected = column_of_inverse<T>(numbers, n, is_unit, j);
      for (Index i = j + is_unit; i < n; ++i) other += !same_bits(inverse(i, j), expected[static_cast<std::size_t>(i)]);
    }
    BOOST_TEST(other == 0);
  }
  const Matrix<T> square = results(false, [&](Triangle triangle, Matrix<T>& x) {
    detail::multiply_by_transpose(triangle, n, x.data(), x.ld(), options);
  });
  Index other = 0;
  for (const Index j : lines_of(n))
    for (Index i = 0; i <= j; ++i)
      other += !same_bits(square(j, i), element_of_square<T>([&](Index r, Index k) { return numbers(k, r); }, n, i, j));
  BOOST_TEST(other == 0);
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
  const Matrix<T> inverse = inverse_by_lu(lu, true, options);
  BOOST_TEST(differing(inverse_by_lu(lu, false, options), inverse) == 0);
  Index other = 0;
  for (const Index i : lines_of(a.rows())) {
    const std::vector<T> expected = row_of_inverse<T>(Numbered<T>(lu.packed()), lu.pivots(), i);
    for (Index j = 0; j < a.cols(); ++j) other += !same_bits(inverse(i, j), expected[static_cast<std::size_t>(j)]);
  }
  BOOST_TEST(other == 0);
}

std::vector<Index> sizes() {
  return conformance::options().quick ? std::vector<Index>{1, 65} : std::vector<Index>{1, 2, 3, 31, 64, 65, 129, 200};
}

/// A type in which sums of products of T are far more precise than the bounds.
template <class T>
using Precise = std::conditional_t<sizeof(T) == 4, double, long double>;

/// A product, and the product of the magnitudes.
template <class T>
struct Product {
  Product(const Matrix<T>& x) : cols(x.cols()) {
    for (Index i = 0; i < x.rows(); ++i)
      for (Index j = 0; j < cols; ++j) {
        value.push_back(x(i, j));
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
  std::vector<Precise<T>> value, size;
};

/// Returns the largest of |C − P| / (γ·S), where S is P's product of magnitudes, or another one that bounds it.
template <class T>
double over_bound(const Matrix<T>& c, const Product<T>& p, const Product<T>& bound, Index roundings) {
  const Precise<T> nu = static_cast<Precise<T>>(roundings) * std::numeric_limits<T>::epsilon() / 2;
  const Precise<T> gamma = Precise<T>(1.01) * nu / (1 - nu); // and a little for the sums of this test
  double largest = 0;
  for (Index i = 0; i < c.rows(); ++i)
    for (Index j = 0; j < c.cols(); ++j) {
      const auto at = static_cast<std::size_t>(i * c.cols() + j);
      const Precise<T> rest = std::abs(c(i, j) - p.value[at]);
      if (rest != 0) largest = std::max(largest, static_cast<double>(rest / (gamma * bound.size[at])));
    }
  return largest;
}

} // namespace

BOOST_AUTO_TEST_SUITE(inverses)

BOOST_AUTO_TEST_CASE_TEMPLATE(of_every_size, T, Elements) {
  for (const Index n : sizes())
    for (const SolveOptions& options : {tested(), formulas}) BOOST_TEST_CONTEXT("n = " << n) {
        same_triangles(dominant<T>(n, Seed{1}), options);
        same_inverses(Matrix<T>::random(n, n, Seed{2}), options);
      }
}

/// The formulas as the library has them are slow, and compared with the test's where they are the backend under test.
BOOST_AUTO_TEST_CASE_TEMPLATE(of_several_segments, T, Elements) {
  if (conformance::options().quick) return;
  const std::vector<Index> large =
      tested_backend() == Backend::Reference ? std::vector<Index>{1030} : std::vector<Index>{430, 1100, 2060};
  for (const Index n : large) BOOST_TEST_CONTEXT("n = " << n) {
      same_triangles(dominant<T>(n, Seed{3}), tested());
      if (n < 2000) same_inverses(Matrix<T>::random(n, n, Seed{4}), tested());
    }
}

/// Numbers that are not finite, subnormal or zero, some of them on the diagonal.
BOOST_AUTO_TEST_CASE_TEMPLATE(of_hard_data, T, Elements) {
  for (const Index n : {30, 150})
    for (const SolveOptions& options : {tested(), formulas}) BOOST_TEST_CONTEXT(n) {
        same_triangles(Matrix<T>::random(n, n, Seed{7}, Distribution::Special, T(0.001), T(0.05)), options);
        same_triangles(Matrix<T>::random(n, n, Seed{8}, Distribution::Wide, T(-30), T(30)), options);
        Matrix<T> zero = dominant<T>(n, Seed{9});
        zero(n / 2, n / 2) = 0;
        same_triangles(zero, options);
        zero(n / 2, n / 2) = std::numeric_limits<T>::denorm_min(); // its inverse overflows
        same_triangles(zero, options);
        same_inverses(Matrix<T>::random(n, n, Seed{10}, Distribution::Wide, T(-30), T(30)), options);
      }
}

BOOST_AUTO_TEST_CASE_TEMPLATE(with_any_threads, T, Elements) {
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
BOOST_AUTO_TEST_CASE_TEMPLATE(within_bounds, T, Elements) {
  for (const Index n : {1, 10, 120}) BOOST_TEST_CONTEXT(n) {
      const Index roundings = n + 1; // c(n)
      const Matrix<T> zero(n, n), unit = Matrix<T>::identity(n);
      const Matrix<T> low = joined(Triangle::Lower, true, dominant<T>(n, Seed{13}), zero);
      Matrix<T> x(low.view());
      detail::invert_triangle(Triangle::Lower, Diagonal::Stored, n, x.data(), x.ld(), tested());
      const Product<T> left = Product<T>(low).times(Product<T>(x));
      BOOST_TEST(over_bound(unit, left, left, roundings) <= 1);
      const Matrix<T> up(low.transposed());
      const Product<T> whole = Product<T>(up).times(Product<T>(low));
      Matrix<T> square(up.view());
      detail::multiply_by_transpose(Triangle::Upper, n, square.data(), square.ld(), tested());
      for (Index i = 0; i < n; ++i)
        for (Index j = 0; j < i; ++j) square(i, j) = std::as_const(square)(j, i);
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
