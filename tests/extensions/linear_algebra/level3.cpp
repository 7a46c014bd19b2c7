/// Tests that the level 3 BLAS's blocked algorithms have the bits of the contract's formulas, and that the formulas are
/// gemm's: every form, random shapes, numbers that are hard, and memory beside the matrices.

#include <algorithm>
#include <complex>
#include <random>
#include <vector>

#include <boost/test/unit_test.hpp>

#include <tessera/complex.hpp>
#include <tessera/linear_algebra/symm.hpp>

#include "systems.hpp"

namespace tessera::test {
namespace {

using Numbers = std::tuple<float, double, std::complex<float>, std::complex<double>>;
template <class T>
inline constexpr bool is_complex = !std::is_floating_point_v<T>;
template <class T>
struct RealPart {
  using type = T;
};
template <class T>
struct RealPart<std::complex<T>> {
  using type = T;
};
template <class T>
using Part = typename RealPart<T>::type;

/// The random choices of a test, which are the same in each run.
class Draw {
 public:
  explicit Draw(unsigned seed) : engine_(seed) {}
  Index index(Index least, Index most) {
    return least + static_cast<Index>(engine_() % static_cast<unsigned>(most - least + 1));
  }
  bool yes() { return index(0, 1) == 1; }
  template <class T>
  T part() {
    return static_cast<T>(index(-1000000, 1000000)) / 1000000;
  }
  template <class T>
  T number() {
    if constexpr (is_complex<T>)
      return {part<Part<T>>(), part<Part<T>>()};
    else
      return part<T>();
  }
  /// 0, 1, −1, or any number.
  template <class T>
  T factor() {
    const Index choice = index(0, 5);
    return choice < 3 ? T(static_cast<Part<T>>(choice - 1)) : number<T>();
  }
  Triangle triangle() { return yes() ? Triangle::Lower : Triangle::Upper; }
  Side side() { return yes() ? Side::Left : Side::Right; }
  Diagonal diagonal() { return yes() ? Diagonal::Stored : Diagonal::Unit; }
  Op op() { return static_cast<Op>(index(0, is_complex_op ? 2 : 1)); }
  bool is_complex_op = false;

 private:
  std::mt19937 engine_;
};

/// A row-major matrix whose rows lie apart.
template <class T>
struct Stored {
  Stored(Draw& draw, Index m, Index n) : rows(m), cols(n), ld(std::max<Index>(1, n) + draw.index(0, 3)) {
    values.resize(static_cast<std::size_t>(m * ld + 1));
    for (T& value : values) value = draw.number<T>();
  }
  T& at(Index i, Index j) { return values[static_cast<std::size_t>(i * ld + j)]; }
  /// Puts numbers here and there that are not finite, subnormal, zero or −0, in one part of complex ones.
  void harden(Draw& draw, Index every) {
    using Limits = std::numeric_limits<Part<T>>;
    const Part<T> hard[] = {Limits::quiet_NaN(), Limits::infinity(), Limits::denorm_min(), Limits::min(), 0,
                            -Part<T>(0),         Limits::max()};
    auto* const parts = reinterpret_cast<Part<T>*>(values.data());
    const auto count = static_cast<Index>(values.size() * sizeof(T) / sizeof(Part<T>));
    for (Index i = draw.index(0, every); i < count; i += draw.index(1, 2 * every)) parts[i] = hard[draw.index(0, 6)];
  }
  /// Makes products of two such numbers as small as the least subnormal ones.
  void shrink() {
    using Limits = std::numeric_limits<Part<T>>;
    for (T& value : values) value *= std::ldexp(Part<T>(1), (Limits::min_exponent - Limits::digits) / 2);
  }
  Index rows, cols, ld;
  std::vector<T> values;
};

/// Counts the numbers with other bits, of whole memory. NaN equals NaN.
template <class T>
Index differing(const std::vector<T>& x, const std::vector<T>& y) {
  using Bits = std::conditional_t<sizeof(Part<T>) == 4, std::uint32_t, std::uint64_t>;
  const auto *p = reinterpret_cast<const Part<T>*>(x.data()), *q = reinterpret_cast<const Part<T>*>(y.data());
  Index count = 0;
  for (std::size_t i = 0; i < x.size() * sizeof(T) / sizeof(Part<T>); ++i)
    count += std::bit_cast<Bits>(p[i]) != std::bit_cast<Bits>(q[i]) && !(std::isnan(p[i]) && std::isnan(q[i]));
  return count;
}

/// Computes with the backend under test, with one thread and with two, and by the formulas.
template <class T, class Compute>
void must_agree(const Stored<T>& before, const Compute& compute) {
  Stored<T> expected = before;
  compute(expected, formulas);
  for (const int threads : {1, 2}) {
    Stored<T> got = before;
    compute(got, tested(threads));
    BOOST_TEST(differing(got.values, expected.values) == 0);
  }
}

Index rounds() { return conformance::options().quick ? 15 : 120; }

/// Sizes: most around blocks, some beyond a segment, where the other size is small.
std::pair<Index, Index> sizes(Draw& draw, Index round) {
  if (!conformance::options().quick && round % 20 == 19) return {draw.index(500, 1100), draw.index(1, 9)};
  return {draw.index(1, draw.yes() ? 300 : 70), draw.index(1, draw.yes() ? 150 : 20)};
}

template <class T>
Stored<T> drawn(Draw& draw, Index rows, Index cols, Index round) {
  Stored<T> x(draw, rows, cols);
  if (round % 4 == 1) x.harden(draw, std::max<Index>(10, rows * cols / 3));
  if (round % 4 == 2) x.harden(draw, 100);
  if (round % 4 == 3) x.shrink();
  return x;
}

} // namespace

BOOST_AUTO_TEST_SUITE(level3)

BOOST_AUTO_TEST_CASE_TEMPLATE(triangles, T, Numbers) {
  Draw draw(1);
  draw.is_complex_op = is_complex<T>;
  for (Index round = 0; round < rounds(); ++round) BOOST_TEST_CONTEXT("round " << round) {
      const auto [order, count] = sizes(draw, round);
      const Side side = draw.side();
      const Triangle triangle = draw.triangle();
      const Op op = draw.op();
      const Diagonal diagonal = draw.diagonal();
      const Index m = side == Side::Left ? order : count, n = side == Side::Left ? count : order;
      const T alpha = draw.factor<T>();
      Stored<T> t = drawn<T>(draw, order, order, round), b = drawn<T>(draw, m, n, round);
      must_agree(b, [&](Stored<T>& x, const SolveOptions& options) {
        trmm(side, triangle, op, diagonal, m, n, alpha, t.values.data(), t.ld, x.values.data(), x.ld, options);
      });
      for (Index i = 0; i < order; ++i) t.at(i, i) += static_cast<Part<T>>(order); // solutions of moderate size
      must_agree(b, [&](Stored<T>& x, const SolveOptions& options) {
        trsm(side, triangle, op, diagonal, m, n, alpha, t.values.data(), t.ld, x.values.data(), x.ld, options);
      });
    }
}

BOOST_AUTO_TEST_CASE_TEMPLATE(symmetric_factors, T, Numbers) {
  Draw draw(2);
  for (Index round = 0; round < rounds(); ++round) BOOST_TEST_CONTEXT("round " << round) {
      const auto [order, count] = sizes(draw, round);
      const Side side = draw.side();
      const Triangle triangle = draw.triangle();
      const Index m = side == Side::Left ? order : count, n = side == Side::Left ? count : order;
      const T alpha = draw.factor<T>(), beta = draw.factor<T>();
      const Stored<T> a = drawn<T>(draw, order, order, round), b = drawn<T>(draw, m, n, round),
                      c = drawn<T>(draw, m, n, round);
      must_agree(c, [&](Stored<T>& x, const SolveOptions& options) {
        symm(side, triangle, m, n, alpha, a.values.data(), a.ld, b.values.data(), b.ld, beta, x.values.data(), x.ld,
             options);
      });
      if constexpr (is_complex<T>)
        must_agree(c, [&](Stored<T>& x, const SolveOptions& options) {
          hemm(side, triangle, m, n, alpha, a.values.data(), a.ld, b.values.data(), b.ld, beta, x.values.data(), x.ld,
               options);
        });
    }
}

BOOST_AUTO_TEST_CASE_TEMPLATE(rank_updates, T, Numbers) {
  Draw draw(3);
  for (Index round = 0; round < rounds(); ++round) BOOST_TEST_CONTEXT("round " << round) {
      const auto [k, n] = sizes(draw, round);
      const bool straight = draw.yes();
      const Triangle triangle = draw.triangle();
      const T alpha = draw.factor<T>(), beta = draw.factor<T>();
      const Index rows = straight ? n : k, cols = straight ? k : n;
      const Stored<T> a = drawn<T>(draw, rows, cols, round), b = drawn<T>(draw, rows, cols, round),
                      c = drawn<T>(draw, n, n, round);
      const Op op = straight ? Op::None : Op::Transpose;
      must_agree(c, [&, n = n, k = k](Stored<T>& x, const SolveOptions& options) {
        syrk(triangle, op, n, k, alpha, a.values.data(), a.ld, beta, x.values.data(), x.ld, options);
      });
      must_agree(c, [&, n = n, k = k](Stored<T>& x, const SolveOptions& options) {
        syr2k(triangle, op, n, k, alpha, a.values.data(), a.ld, b.values.data(), b.ld, beta, x.values.data(), x.ld,
              options);
      });
      if constexpr (is_complex<T>) {
        const Op conjugated = straight ? Op::None : Op::ConjugateTranspose;
        must_agree(c, [&, n = n, k = k](Stored<T>& x, const SolveOptions& options) {
          herk(triangle, conjugated, n, k, alpha.real(), a.values.data(), a.ld, beta.real(), x.values.data(), x.ld,
               options);
        });
        must_agree(c, [&, n = n, k = k](Stored<T>& x, const SolveOptions& options) {
          her2k(triangle, conjugated, n, k, alpha, a.values.data(), a.ld, b.values.data(), b.ld, beta.real(),
                x.values.data(), x.ld, options);
        });
      }
    }
}

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

template <class T>
T conjugate(T x) {
  if constexpr (is_complex<T>) return std::conj(x);
  return x;
}

} // namespace

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
