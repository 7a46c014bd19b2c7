/// Tests that the formulas of level 3 are gemm's, and that complex quotients and solutions are within their bounds.

#include <boost/test/unit_test.hpp>

#include <tessera/complex.hpp>
#include <tessera/linear_algebra/symm.hpp>

#include "drawn.hpp"

namespace tessera::test {
namespace {

/// gemm by the reference backend, of matrices as they are stored.
template <class T>
Stored<T> multiplied(Op op_a, Op op_b, T alpha, const Stored<T>& a, const Stored<T>& b, T beta, const Stored<T>& c) {
  Stored<T> result = c;
  const Index k = op_a == Op::None ? a.cols : a.rows;
  gemm(op_a, op_b, c.rows, c.cols, k, alpha, a.values.data(), a.ld, b.values.data(), b.ld, beta, result.values.data(),
       c.ld, {.backend = Backend::Reference});
  return result;
}

template <class T>
Index differing_in(Triangle triangle, Stored<T>& x, Stored<T>& y, bool real_diagonal) {
  std::vector<T> p, q;
  for (Index i = 0; i < x.rows; ++i)
    for (Index j = 0; j < x.cols; ++j)
      if (triangle == Triangle::Lower ? j <= i : j >= i) {
        p.push_back(x.at(i, j));
        q.push_back(y.at(i, j));
        if constexpr (is_complex<T>)
          if (real_diagonal && i == j) q.back() = T(q.back().real());
      }
  return differing(p, q);
}

} // namespace

BOOST_AUTO_TEST_SUITE(level3_values)

/// The formulas are gemm's, of the matrices that the triangles stand for.
BOOST_AUTO_TEST_CASE_TEMPLATE(of_gemm, T, Numbers) {
  Draw draw(4);
  for (const bool hermitian : {false, true}) {
    if (hermitian && !is_complex<T>) continue;
    const Op transposed = hermitian ? Op::ConjugateTranspose : Op::Transpose;
    for (const Index order : {5, 70, 600}) BOOST_TEST_CONTEXT(order << ", Hermitian: " << hermitian) {
        const Index m = order, n = 9;
        const T alpha = draw.number<T>(), beta = draw.number<T>();
        Stored<T> a(draw, m, m), whole(draw, m, m);
        const Stored<T> b(draw, m, n), c(draw, m, n), b2(draw, n, m), c2(draw, n, m);
        for (Index i = 0; i < m; ++i)
          for (Index j = 0; j <= i; ++j) {
            whole.at(i, j) = a.at(i, j);
            whole.at(j, i) = hermitian ? conjugate(a.at(i, j)) : a.at(i, j);
            if constexpr (is_complex<T>)
              if (hermitian && i == j) whole.at(i, i) = T(a.at(i, i).real());
          }
        const auto symmetric = [&](Side side, const Stored<T>& y, const Stored<T>& z) {
          Stored<T> result = z;
          detail::symmetric_multiply<T>({hermitian, side, Triangle::Lower, z.rows, z.cols, alpha, a.values.data(), a.ld,
                                         y.values.data(), y.ld, beta, result.values.data(), z.ld},
                                        tested());
          return result.values;
        };
        BOOST_TEST(differing(symmetric(Side::Left, b, c),
                             multiplied(Op::None, Op::None, alpha, whole, b, beta, c).values) == 0);
        BOOST_TEST(differing(symmetric(Side::Right, b2, c2),
                             multiplied(Op::None, Op::None, alpha, b2, whole, beta, c2).values) == 0);

        const Stored<T> x(draw, n, m), y(draw, n, m), before(draw, n, n);
        const T real = hermitian ? T(std::real(alpha)) : alpha, scale = hermitian ? T(std::real(beta)) : beta;
        Stored<T> one = before, two = before;
        detail::rank_update<T>({hermitian, false, Triangle::Upper, Op::None, n, m, real, x.values.data(), x.ld, nullptr,
                                1, scale, one.values.data(), one.ld},
                               tested());
        detail::rank_update<T>({hermitian, true, Triangle::Upper, Op::None, n, m, alpha, x.values.data(), x.ld,
                                y.values.data(), y.ld, scale, two.values.data(), two.ld},
                               tested());
        Stored<T> first = multiplied(Op::None, transposed, real, x, x, scale, before);
        BOOST_TEST(differing_in(Triangle::Upper, one, first, hermitian) == 0);
        first = multiplied(Op::None, transposed, alpha, x, y, scale, before);
        Stored<T> second = multiplied(Op::None, transposed, hermitian ? conjugate(alpha) : alpha, y, x, T(1), first);
        BOOST_TEST(differing_in(Triangle::Upper, two, second, hermitian) == 0);
      }
  }
  // A product with a triangle is gemm's of the triangle with zeros, but for the sign of zeros and what is not finite.
  for (const Triangle triangle : {Triangle::Lower, Triangle::Upper})
    for (const Side side : {Side::Left, Side::Right})
      for (const Index order : {7, 100, 1100}) BOOST_TEST_CONTEXT(order << ", " << static_cast<int>(triangle)) {
          Stored<T> t(draw, order, order), whole = t;
          const Stored<T> b = side == Side::Left ? Stored<T>(draw, order, 3) : Stored<T>(draw, 3, order);
          for (Index i = 0; i < order; ++i)
            for (Index j = 0; j < order; ++j)
              if (triangle == Triangle::Lower ? j > i : j < i) whole.at(i, j) = 0;
          Stored<T> got = b;
          const T alpha = draw.number<T>();
          trmm(side, triangle, Op::None, Diagonal::Stored, b.rows, b.cols, alpha, t.values.data(), t.ld,
               got.values.data(), got.ld, tested());
          const Stored<T> expected = side == Side::Left ? multiplied(Op::None, Op::None, alpha, whole, b, T(0), b)
                                                        : multiplied(Op::None, Op::None, alpha, b, whole, T(0), b);
          BOOST_TEST((got.values == expected.values));
        }
}

/// (T + E)·x = b with |E| within the bound of docs/linear_algebra.md.
BOOST_AUTO_TEST_CASE_TEMPLATE(complex_residuals, T, Elements) {
  using Number = std::complex<T>;
  using Wide = std::complex<long double>;
  Draw draw(6);
  for (const Index n : {1, 30, 300}) BOOST_TEST_CONTEXT(n) {
      Stored<Number> t(draw, n, n), b(draw, n, 2), x = b;
      for (Index i = 0; i < n; ++i) t.at(i, i) *= T(2 * n);
      trsm(Side::Left, Triangle::Lower, Op::None, Diagonal::Stored, n, 2, 1, t.values.data(), t.ld, x.values.data(),
           x.ld, tested());
      const auto roundings = static_cast<long double>(std::min<Index>(2 * n, 1024) + (n + 511) / 512 + 8);
      const long double nu = roundings * std::numeric_limits<T>::epsilon() / 2, gamma = nu / (1 - nu);
      for (Index i = 0; i < n; ++i)
        for (Index l = 0; l < 2; ++l) {
          Wide rest = Wide(b.at(i, l));
          long double size = 0;
          for (Index k = 0; k <= i; ++k) {
            const Wide product = Wide(t.at(i, k)) * Wide(x.at(k, l));
            rest -= product;
            size += std::abs(product);
          }
          BOOST_TEST(std::abs(rest) <= std::sqrt(2.0L) * gamma * size);
        }
    }
}

/// Quotients of complex systems of one unknown are near the quotient, also where |d|² is beyond the range.
BOOST_AUTO_TEST_CASE_TEMPLATE(quotients, T, Elements) {
  using Number = std::complex<T>;
  using Limits = std::numeric_limits<T>;
  Draw draw(5);
  const auto divide = [](Number x, Number d) {
    trsm(Side::Left, Triangle::Lower, Op::None, Diagonal::Stored, 1, 1, Number(1), &d, 1, &x, 1, tested());
    return x;
  };
  for (int round = 0; round < 3000; ++round) {
    const int most = Limits::max_exponent - 2, e = static_cast<int>(draw.index(-most, most)),
              f = static_cast<int>(draw.index(-40, 40));
    const auto scaled = [](Number x, int exponent) {
      return Number(std::ldexp(x.real(), exponent), std::ldexp(x.imag(), exponent));
    };
    const Number quotient = draw.template number<Number>(), d = draw.template number<Number>();
    if (std::abs(d) < T(0.01) || std::abs(e + f) > most) continue;
    const std::complex<long double> exact = std::complex<long double>(quotient) / std::complex<long double>(d);
    const Number got = scaled(divide(scaled(quotient, e + f), scaled(d, e)), -f);
    BOOST_TEST(std::abs(std::complex<long double>(got) - exact) <= 4 * Limits::epsilon() * std::abs(exact));
  }
  const T largest = Limits::max(), least = Limits::denorm_min();
  BOOST_TEST((divide({largest, largest}, {largest, largest}).real()) == 1);
  BOOST_TEST((divide({least, least}, {least, least}).real()) == 1);
  BOOST_TEST((divide({3, 5}, {2, 0}) == Number(T(1.5), T(2.5))));
  BOOST_TEST(std::isinf(divide({3, 5}, {0, 0}).real()));
}

BOOST_AUTO_TEST_SUITE_END()

} // namespace tessera::test
