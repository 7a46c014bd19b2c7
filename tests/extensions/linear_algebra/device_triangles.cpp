/// Tests of triangular systems that a device solves at once: each form, orders about the ends of tiles and segments,
/// and numbers of right-hand sides about the ends of what a block takes and of what one step takes.

#include <limits>

#include <boost/test/unit_test.hpp>

#include "device_steps.hpp"
#include "systems.hpp"

namespace tessera::test {
namespace {

/// A triangle whose solutions stay moderate, in a matrix whose other half is noise.
template <class T>
Matrix<T> triangle_of(Index n) {
  Matrix<T> t = Matrix<T>::random(n, n, Seed{41});
  for (Index i = 0; i < n; ++i) {
    for (T& number : t.row(i)) number /= static_cast<T>(n);
    t(i, i) += T(2);
  }
  return t;
}

template <class T>
void expect_solved(const Matrix<T>& t, const Matrix<T>& b, Side side) {
  for (const Triangle triangle : {Triangle::Lower, Triangle::Upper})
    for (const Diagonal diagonal : {Diagonal::Stored, Diagonal::Unit})
      for (const bool turned : {false, true})
        BOOST_TEST_CONTEXT("upper " << static_cast<int>(triangle) << ", unit " << static_cast<int>(diagonal)
                                    << ", turned " << turned) {
          const auto solved = [&](const SolveOptions& options) {
            return turned ? triangular_solve(triangle, t.transposed(), b, side, diagonal, options)
                          : triangular_solve(triangle, t, b, side, diagonal, options);
          };
          BOOST_TEST(differing(solved(tested()), solved(formulas)) == 0);
        }
}

} // namespace

BOOST_AUTO_TEST_SUITE(device_triangles)

BOOST_AUTO_TEST_CASE_TEMPLATE(each_form, T, Elements) {
  if (!has_panels()) return;
  for (const Index n : {1, 7, 8, 63, 64, 65, 130, 300})
    for (const Index count : {1, 5, 33}) BOOST_TEST_CONTEXT(n << " rows, " << count << " columns") {
        const Matrix<T> t = triangle_of<T>(n);
        expect_solved(t, Matrix<T>::random(n, count, Seed{42}), Side::Left);
        expect_solved(t, Matrix<T>::random(count, n, Seed{43}), Side::Right);
      }
}

BOOST_AUTO_TEST_CASE_TEMPLATE(segments_and_columns, T, Elements) {
  if (!keeps_all()) return;
  for (const auto& [n, count] : {std::pair<Index, Index>{1023, 1},
                                 {1024, 32},
                                 {1025, 17},
                                 {1088, 129},
                                 {2100, 64},
                                 {70, 127},
                                 {70, 128},
                                 {70, 400}})
    BOOST_TEST_CONTEXT(n << " rows, " << count << " columns") {
      const Matrix<T> t = triangle_of<T>(n), b = Matrix<T>::random(n, count, Seed{44});
      for (const Triangle triangle : {Triangle::Lower, Triangle::Upper}) {
        const Matrix<T> x = triangular_solve(triangle, t, b, Side::Left, Diagonal::Stored, tested());
        BOOST_TEST(differing(x, triangular_solve(triangle, t, b, Side::Left, Diagonal::Stored, formulas)) == 0);
      }
    }
}

/// Blocks of several tiles each, and numbers that come soon after one another.
BOOST_AUTO_TEST_CASE_TEMPLATE(more_tiles_than_blocks, T, Elements) {
  if (!keeps_large()) return;
  const Index n = 9000;
  const Matrix<T> t = triangle_of<T>(n), b = Matrix<T>::random(n, 3, Seed{45});
  const SolveOptions host{.backend = Backend::OpenMP};
  const Matrix<T> x = triangular_solve(Triangle::Lower, t, b, Side::Left, Diagonal::Stored, host);
  for (int round = 0; round < 5; ++round)
    BOOST_TEST(differing(triangular_solve(Triangle::Lower, t, b, Side::Left, Diagonal::Stored, tested()), x) == 0);
}

/// Quotients that need the operator, zeros of both signs, and what spreads.
BOOST_AUTO_TEST_CASE_TEMPLATE(rare_numbers, T, Elements) {
  if (!has_panels()) return;
  using Limits = std::numeric_limits<T>;
  const Index n = 150;
  Matrix<T> t = triangle_of<T>(n), b = Matrix<T>::random(n, 6, Seed{46});
  const T rare[] = {Limits::denorm_min(), Limits::min(),      Limits::max(), -T(0), T(0),
                    Limits::infinity(),   Limits::quiet_NaN()};
  for (Index i = 0; i < 7; ++i) {
    b(20 * i, i % 6) = rare[i];
    t(20 * i + 1, 20 * i + 1) = rare[i];
  }
  for (const Index from : {0, 60, 110}) BOOST_TEST_CONTEXT(from) {
      const Matrix<T> part(t.block(from, from, n - from, n - from)), right(b.block(from, 0, n - from, 6));
      expect_solved(part, right, Side::Left);
    }
}

BOOST_AUTO_TEST_SUITE_END()

} // namespace tessera::test
