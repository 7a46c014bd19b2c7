/// Tests that the level 3 BLAS's blocked algorithms have the bits of the contract's formulas: every form, random
/// shapes, numbers that are hard, and memory beside the matrices.

#include <limits>

#include <boost/test/unit_test.hpp>

#include <tessera/linear_algebra/symm.hpp>

#include "drawn.hpp"

namespace tessera::test {
namespace {

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

/// Puts NaN wherever a square matrix of which a triangle is stored must not be read, on its diagonal too where that is
/// not read, or into the diagonal's imaginary parts.
enum class DiagonalIs { Read, Real, NotRead };
template <class T>
void hide_rest(Stored<T>& x, Triangle triangle, DiagonalIs diagonal = DiagonalIs::Read) {
  constexpr Part<T> nan = std::numeric_limits<Part<T>>::quiet_NaN();
  for (Index i = 0; i < x.rows; ++i) {
    for (Index j = 0; j < x.cols; ++j)
      if (triangle == Triangle::Lower ? j > i : j < i) x.at(i, j) = T(nan);
    if (diagonal == DiagonalIs::NotRead) x.at(i, i) = T(nan);
    if constexpr (is_complex<T>)
      if (diagonal == DiagonalIs::Real) x.at(i, i) = {x.at(i, i).real(), nan};
  }
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
      if (round % 4 == 0) { // nothing else is hard: the fast ways are taken
        hide_rest(t, triangle, diagonal == Diagonal::Unit ? DiagonalIs::NotRead : DiagonalIs::Read);
        must_agree(b, [&](Stored<T>& x, const SolveOptions& options) {
          trmm(side, triangle, op, diagonal, m, n, alpha, t.values.data(), t.ld, x.values.data(), x.ld, options);
        });
      }
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
      Stored<T> a = drawn<T>(draw, order, order, round);
      const Stored<T> b = drawn<T>(draw, m, n, round), c = drawn<T>(draw, m, n, round);
      hide_rest(a, triangle);
      must_agree(c, [&](Stored<T>& x, const SolveOptions& options) {
        symm(side, triangle, m, n, alpha, a.values.data(), a.ld, b.values.data(), b.ld, beta, x.values.data(), x.ld,
             options);
      });
      if constexpr (is_complex<T>) {
        hide_rest(a, triangle, DiagonalIs::Real);
        must_agree(c, [&](Stored<T>& x, const SolveOptions& options) {
          hemm(side, triangle, m, n, alpha, a.values.data(), a.ld, b.values.data(), b.ld, beta, x.values.data(), x.ld,
               options);
        });
      }
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

BOOST_AUTO_TEST_SUITE_END()

} // namespace tessera::test
