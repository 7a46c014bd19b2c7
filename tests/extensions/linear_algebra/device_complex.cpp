/// Tests of factorisations and systems of complex numbers that a device computes itself: of f64 its panels of
/// Cholesky's are half as wide as real ones, a segment has 512 terms, and rows of unknowns are not columns of their
/// transpose.

#include <algorithm>
#include <limits>
#include <vector>

#include <boost/test/unit_test.hpp>

#include "core/tools/recorder.hpp"
#include "device_steps.hpp"
#include "systems.hpp"

namespace tessera::test {
namespace {

using ComplexSystems = std::tuple<std::complex<float>, std::complex<double>>;

template <class T>
void same_lu(const Matrix<T>& a) {
  const Lu lu(a, tested()), expected(a, formulas);
  BOOST_TEST(differing(lu.packed(), expected.packed()) == 0);
  BOOST_TEST(lu.pivots() == expected.pivots(), boost::test_tools::per_element());
  BOOST_TEST(lu.is_singular() == expected.is_singular());
}

template <class T>
void same_cholesky(const Matrix<T>& a) {
  BOOST_TEST(differing(Cholesky(a, Triangle::Lower, tested()).l(), Cholesky(a, Triangle::Lower, formulas).l()) == 0);
}

/// Solves in every form, also in the ones that no function of matrices asks for.
template <class T>
void same_solutions(const Matrix<T>& t, const Matrix<T>& b) {
  for (const Side side : {Side::Left, Side::Right})
    for (const Triangle triangle : {Triangle::Lower, Triangle::Upper})
      for (const Op op : {Op::None, Op::Transpose, Op::ConjugateTranspose})
        for (const Diagonal diagonal : {Diagonal::Stored, Diagonal::Unit})
          BOOST_TEST_CONTEXT("side " << static_cast<int>(side) << ", triangle " << static_cast<int>(triangle) << ", op "
                                     << static_cast<int>(op) << ", diagonal " << static_cast<int>(diagonal)) {
            const Matrix<T> right = side == Side::Left ? Matrix<T>(b.view()) : Matrix<T>(b.transposed());
            Matrix<T> x(right.view()), expected(right.view());
            detail::solve_triangle({side, triangle, op, diagonal}, t, x, tested());
            detail::solve_triangle({side, triangle, op, diagonal}, t, expected, formulas);
            BOOST_TEST(differing(x, expected) == 0);
          }
}

} // namespace

BOOST_AUTO_TEST_SUITE(device_complex)

BOOST_AUTO_TEST_CASE_TEMPLATE(around_panels, T, ComplexSystems) {
  if (!has_panels()) return;
  for (Index n = 1; n <= 70; ++n) BOOST_TEST_CONTEXT("n = " << n) {
      same_lu(Matrix<T>::random(n, n, Seed{1}));
      same_cholesky(positive<T>(n, Seed{2}));
      if (n % 8 <= 1) same_solutions(dominant<T>(n, Seed{3}), Matrix<T>::random(n, n % 40 + 1, Seed{4}));
    }
}

BOOST_AUTO_TEST_CASE_TEMPLATE(around_segments, T, ComplexSystems) {
  if (!keeps_large()) return;
  for (const Index n : {500, 512, 513, 530, 1030}) BOOST_TEST_CONTEXT("n = " << n) {
      same_lu(Matrix<T>::random(n, n, Seed{5}));
      same_cholesky(positive<T>(n, Seed{6}));
    }
  same_solutions(dominant<T>(530, Seed{7}), Matrix<T>::random(530, 2, Seed{8}));
}

/// More rows than each team of blocks has.
BOOST_AUTO_TEST_CASE_TEMPLATE(tall_panels, T, ComplexSystems) {
  if (!keeps_large()) return;
  for (const auto& [m, n] :
       {std::pair<Index, Index>{257, 9}, {2049, 33}, {4097, 64}, {8193, 20}, {9000, 64}, {20000, 70}})
    for (const bool integers : {false, true}) BOOST_TEST_CONTEXT(m << "×" << n << ", integers: " << integers)
  same_lu(integers ? Matrix<T>::random(m, n, Seed{9}, Distribution::Integers, -2, 2)
                   : Matrix<T>::random(m, n, Seed{9}));
}

BOOST_AUTO_TEST_CASE_TEMPLATE(results_stay_on_the_device, T, ComplexSystems) {
  if (!keeps_all()) return;
  const Index n = 200;
  const Matrix<T> a = Matrix<T>::random(n, n, Seed{10}), b = Matrix<T>::random(n, 7, Seed{11}),
                  p = positive<T>(n, Seed{12});
  const Lu lu(a, tested());
  const Cholesky cholesky(p, Triangle::Lower, tested());
  BOOST_TEST(is_there(lu.packed()));
  BOOST_TEST(is_there(cholesky.l()));
  const Matrix<T> x = lu.solve(b), y = cholesky.solve(b);
  BOOST_TEST(is_there(x));
  BOOST_TEST(is_there(y));
  const Matrix<T> copied = x, part(x.block(20, 1, 90, 3));
  BOOST_TEST(is_there(copied));
  BOOST_TEST(is_there(part));
  const Matrix<T> z = lu.solve_conjugate_transposed(copied);
  BOOST_TEST(is_there(z));
  BOOST_TEST(is_there(x)); // which was not read on the host
  BOOST_TEST(is_there(inverse(a, tested())));
  const Lu expected(a, formulas);
  const Matrix<T> solution = expected.solve(b);
  BOOST_TEST(differing(z, expected.solve_conjugate_transposed(solution)) == 0);
  BOOST_TEST(differing(part, Matrix<T>(solution.block(20, 1, 90, 3))) == 0);
  BOOST_TEST(differing(y, Cholesky(p, Triangle::Lower, formulas).solve(b)) == 0);
  BOOST_TEST(differing(inverse(a, tested()), inverse(a, formulas)) == 0);
}

/// A is copied to the device once. What comes back is the sums of columns, the pivots' rows and the first failure.
BOOST_AUTO_TEST_CASE_TEMPLATE(nothing_else_is_copied, T, ComplexSystems) {
  if (!keeps_all()) return;
  const Index n = 600;
  const Matrix<T> a = Matrix<T>::random(n, n, Seed{13});
  Recorder recorder;
  const Lu lu(a, tested());
  const auto count = [&](tools::Kind kind, const char* name) {
    return std::ranges::count_if(
        recorder.of(kind), [&](const auto& step) { return !step.is_end && (name == nullptr || step.name == name); });
  };
  BOOST_TEST(count(tools::Kind::Panel, "lu_panel") == 10); // 8 in the first segment, and 2
  BOOST_TEST(count(tools::Kind::CopyIn, nullptr) == 2);    // A, and that nothing has failed
  BOOST_TEST(count(tools::Kind::CopyOut, nullptr) == 3);
  BOOST_TEST(is_there(lu.packed()));
}

/// Matrices in the caller's memory go to the device and come back, alpha·B with one rounding of each number.
BOOST_AUTO_TEST_CASE_TEMPLATE(in_the_callers_memory, T, ComplexSystems) {
  if (!keeps_all()) return;
  const Index n = 100, count = 70;
  const Matrix<T> t = dominant<T>(n, Seed{26}), b = Matrix<T>::random(n, count, Seed{27});
  const T alpha(Part<T>(0.7), Part<T>(-1.3));
  for (const Side side : {Side::Left, Side::Right})
    for (const Op op : {Op::None, Op::Transpose, Op::ConjugateTranspose})
      BOOST_TEST_CONTEXT("side " << static_cast<int>(side) << ", op " << static_cast<int>(op)) {
        const Matrix<T> right = side == Side::Left ? Matrix<T>(b.view()) : Matrix<T>(b.transposed());
        const auto solved = [&](const SolveOptions& options) {
          Matrix<T> x(right.view());
          trsm(side, Triangle::Upper, op, Diagonal::Stored, x.rows(), x.cols(), alpha, t.data(), t.ld(), x.data(),
               x.ld(), options);
          return x;
        };
        Recorder recorder;
        const Matrix<T> x = solved(tested());
        BOOST_TEST(std::ranges::count_if(recorder.of(tools::Kind::Panel), [&](const auto& step) {
                     return step.name == (side == Side::Left ? "solve_columns" : "solve_rows");
                   }) == 2 * 2); // two panels, each with its begin and its end
        BOOST_TEST(differing(x, solved(formulas)) == 0);
      }
}

/// The first failure counts, and of Hermitian diagonals the real parts alone.
BOOST_AUTO_TEST_CASE_TEMPLATE(the_first_failure, T, ComplexSystems) {
  for (const Index bad : {0, 1, 31, 32, 130}) BOOST_TEST_CONTEXT("row " << bad) {
      Matrix<T> p = positive<T>(140, Seed{14});
      for (Index i = 0; i < 140; ++i) p(i, i) += T(0, std::numeric_limits<Part<T>>::quiet_NaN());
      same_cholesky(p);
      p(bad, bad) = p(139, 139) = T(-1, 5);
      try {
        const Cholesky cholesky(p, Triangle::Lower, tested());
        BOOST_ERROR("not positive definite, and no exception");
      } catch (const NotPositiveDefinite& error) {
        BOOST_TEST(error.minor() == bad + 1);
      }
      Matrix<T> a = Matrix<T>::random(140, 140, Seed{15});
      for (Index i = 0; i < 140; ++i) a(i, bad) = a(i, 139) = 0;
      same_lu(a);
      try {
        static_cast<void>(solve(a, p, tested()));
        BOOST_ERROR("singular, and no exception");
      } catch (const SingularMatrix& error) {
        BOOST_TEST(error.pivot() == bad);
      }
    }
}

/// Divisors at the ends of the range, with one part that is 0 or far smaller, and operands that are not finite.
BOOST_AUTO_TEST_CASE_TEMPLATE(hard_divisors, T, ComplexSystems) {
  if (!has_panels()) return;
  using P = Part<T>;
  using Limits = std::numeric_limits<P>;
  const P parts[] = {0,       -P(0),         Limits::denorm_min(), Limits::min(),
                     P(-1.5), Limits::max(), Limits::infinity(),   Limits::quiet_NaN()};
  std::vector<T> divisors;
  for (const P re : parts)
    for (const P im : parts) divisors.emplace_back(re, im);
  const auto n = static_cast<Index>(divisors.size());
  Matrix<T> t = Matrix<T>::random(n, n, Seed{16}, Distribution::Special, P(0), P(0.2));
  for (Index i = 0; i < n; ++i) t(i, i) = divisors[static_cast<std::size_t>(i)];
  Matrix<T> diagonal(n, n);
  for (Index i = 0; i < n; ++i) diagonal(i, i) = divisors[static_cast<std::size_t>(i)];
  const Matrix<T> b = Matrix<T>::random(n, 40, Seed{17}, Distribution::Special, P(0.05), P(0.3));
  same_solutions(t, b);
  same_solutions(diagonal, b);
  for (Index i = 0; i < n; ++i) { // a column each, whose pivot is one of them
    Matrix<T> column = Matrix<T>::random(40, 1, Seed{18}, Distribution::Special, P(0), P(0.5));
    for (Index r = 0; r < 40; ++r) column(r, 0) *= Limits::epsilon();
    column(7, 0) = divisors[static_cast<std::size_t>(i)];
    same_lu(column);
  }
  for (const bool special : {false, true})
    same_lu(special ? Matrix<T>::random(90, 90, Seed{19}, Distribution::Special, P(0.001), P(0.05))
                    : Matrix<T>::random(90, 90, Seed{19}, Distribution::Wide, P(-30), P(30)));
}

/// Quotients of numbers whose magnitudes are anywhere in the range, the parts of one far apart.
BOOST_AUTO_TEST_CASE_TEMPLATE(quotients, T, ComplexSystems) {
  if (!has_panels()) return;
  using P = Part<T>;
  constexpr Index n = 64;
  constexpr int most = std::numeric_limits<P>::max_exponent - 2;
  for (const int exponent : {1, 30, most / 2, most}) BOOST_TEST_CONTEXT("2^" << exponent) {
      const auto draw = [&](Index rows, Index cols, std::uint64_t seed) {
        return Matrix<T>::random(rows, cols, Seed{seed}, Distribution::Wide, -P(exponent), P(exponent));
      };
      const Matrix<T> numbers = draw(1, n, 24), b = draw(n, 200, 25);
      Matrix<T> t(n, n);
      for (Index i = 0; i < n; ++i) t(i, i) = std::as_const(numbers)(0, i);
      for (const Side side : {Side::Left, Side::Right}) {
        const Matrix<T> right = side == Side::Left ? Matrix<T>(b.view()) : Matrix<T>(b.transposed());
        BOOST_TEST(differing(triangular_solve(Triangle::Lower, t, right, side, Diagonal::Stored, tested()),
                             triangular_solve(Triangle::Lower, t, right, side, Diagonal::Stored, formulas)) == 0);
      }
      for (std::uint64_t seed = 30; seed < 60; ++seed) same_lu(draw(200, 1, seed));
    }
}

/// The norm that condition() divides by is a sum on the device.
BOOST_AUTO_TEST_CASE_TEMPLATE(norms, T, ComplexSystems) {
  if (has_panels() && !keeps_all()) return;
  for (const Index n : {1, 33, 100, 270}) BOOST_TEST_CONTEXT("n = " << n) {
      const Matrix<T> a = Matrix<T>::random(n, n, Seed{20}), p = positive<T>(n, Seed{21});
      BOOST_TEST(Lu(a, tested()).condition() == Lu(a, formulas).condition());
      BOOST_TEST(Cholesky(p, Triangle::Lower, tested()).condition() ==
                 Cholesky(p, Triangle::Lower, formulas).condition());
    }
}

BOOST_AUTO_TEST_SUITE_END()

} // namespace tessera::test
