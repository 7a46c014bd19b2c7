/// Tests of what is copied between the host and a device that computes as a whole: operands of the caller's memory go
/// there once, and what is there already stays.

#include <utility>
#include <vector>

#include <boost/mpl/list.hpp>
#include <boost/test/unit_test.hpp>

#include <tessera/linear_algebra/symm.hpp>
#include <tessera/linear_algebra/syrk.hpp>

#include "elsewhere.hpp"

namespace tessera::test {
namespace {

constexpr Index n = 300;

template <class T>
double bytes_of(Index rows, Index cols) {
  return static_cast<double>(rows * cols * Index{sizeof(T)});
}

template <class Compute>
void expect_copies(double in, double out, const Compute& compute) {
  Recorder recorder;
  compute();
  BOOST_TEST(brought(recorder) == in);
  BOOST_TEST(fetched(recorder) == out);
  BOOST_TEST(recorder.of(tools::Kind::Product).size() + recorder.of(tools::Kind::Panel).size() > 0U);
}

/// Calls solve_with(b) for several right-hand sides. From the second one on no matrix of n×n may be copied.
template <class T, class Solve>
void expect_factors_to_stay(const Solve& solve_with) {
  const auto solve_some = [&](Seed seed) { BOOST_TEST(is_there(solve_with(Matrix<T>::random(n, 3, seed)))); };
  solve_some(Seed{55});
  for (const Seed seed : {Seed{56}, Seed{57}}) {
    Recorder recorder;
    solve_some(seed);
    BOOST_TEST(brought(recorder) < bytes_of<T>(n, n) / 10);
    BOOST_TEST(fetched(recorder) < bytes_of<T>(n, n) / 10);
  }
}

} // namespace

BOOST_AUTO_TEST_SUITE(device_copies)

/// Of a call with host memory each operand goes to the device once, and the result comes back once.
BOOST_AUTO_TEST_CASE_TEMPLATE(operands_are_brought_once, T, Systems) {
  if (!keeps_all()) return;
  const Index count = 100;
  const double square = bytes_of<T>(n, n), wide = bytes_of<T>(n, count);
  const auto a = Matrix<T>::random(n, n, Seed{51}), b = Matrix<T>::random(n, count, Seed{52});
  Matrix<T> x(b.view()), y(n, n);
  expect_copies(square + wide, wide, [&] {
    trmm(Side::Left, Triangle::Lower, Op::None, Diagonal::Stored, n, count, T(2), a.data(), a.ld(), x.data(), x.ld(),
         tested());
  });
  for (const T beta : {T(0), T(1)}) // which reads C
    expect_copies(square + wide + std::real(beta) * wide, wide, [&] {
      symm(Side::Left, Triangle::Upper, n, count, T(1), a.data(), a.ld(), b.data(), b.ld(), beta, x.data(), x.ld(),
           tested());
    });
  // Of a triangle that comes back, blocks of 256 on the diagonal come whole.
  const double triangle = bytes_of<T>(256, 256) + bytes_of<T>(44, 256) + bytes_of<T>(44, 44);
  expect_copies(wide, triangle, [&] {
    syrk(Triangle::Lower, Op::None, n, count, T(1), b.data(), b.ld(), T(0), y.data(), y.ld(), tested());
  });
  expect_copies(2 * wide + square, triangle, [&] {
    syr2k(Triangle::Lower, Op::None, n, count, T(1), b.data(), b.ld(), x.data(), x.ld(), T(1), y.data(), y.ld(),
          tested());
  });
}

/// Two triangles in one square of memory, as getrs and potrs of the drop-in have them, are one copy.
BOOST_AUTO_TEST_CASE_TEMPLATE(factors_of_the_callers_memory_are_brought_once, T, Systems) {
  if (!keeps_all()) return;
  const Index count = 70;
  const auto a = dominant<T>(n, Seed{53}), b = Matrix<T>::random(n, count, Seed{54});
  Matrix<T> x(b.view()), y(b.view());
  const auto systems = [&](Matrix<T>& z) {
    auto lower = detail::checked_triangular("trsm", Side::Left, Triangle::Lower, Op::None, Diagonal::Unit, n, count,
                                            T(1), a.data(), a.ld(), z.data(), z.ld());
    auto upper = lower;
    upper.triangle = Triangle::Upper;
    upper.diagonal = Diagonal::Stored;
    return std::array{lower, upper};
  };
  expect_copies(bytes_of<T>(n, n) + bytes_of<T>(n, count), bytes_of<T>(n, count),
                [&] { detail::solve_with_factors<T>(systems(x), tested()); });
  for (const auto& one : systems(y)) detail::triangular_solve(one, formulas);
  BOOST_TEST(differing(x, y) == 0);
}

/// Factors that were made on a device stay there: a solution brings its right-hand side alone.
BOOST_AUTO_TEST_CASE_TEMPLATE(factors_are_not_brought_again, T, Systems) {
  if (!keeps_all()) return;
  const Matrix<T> a = dominant<T>(n, Seed{53}), p = positive<T>(n, Seed{54});
  const Elsewhere<T> there(a), symmetric(p);
  for (const Lu<T>& factors : {Lu<T>(a, tested()), Lu<T>(there.matrix(), tested())}) {
    expect_factors_to_stay<T>([&](const Matrix<T>& b) { return factors.solve(b); });
    expect_factors_to_stay<T>([&](const Matrix<T>& b) { return factors.solve_transposed(b); });
  }
  for (const Cholesky<T>& factors :
       {Cholesky<T>(p, Triangle::Lower, tested()), Cholesky<T>(symmetric.matrix(), Triangle::Lower, tested())})
    expect_factors_to_stay<T>([&](const Matrix<T>& b) { return factors.solve(b); });
  if constexpr (!is_complex<T>) {
    const Qr<T> factors(a, tested());
    expect_factors_to_stay<T>([&](const Matrix<T>& b) { return factors.least_squares(b); });
  }
}

/// A triangle that is a matrix on the device is not copied to the host and back.
BOOST_AUTO_TEST_CASE_TEMPLATE(triangles_on_the_device_stay_there, T, Systems) {
  if (!keeps_all()) return;
  const Elsewhere<T> there(dominant<T>(n, Seed{53}));
  const Matrix<T> t = there.matrix();
  expect_factors_to_stay<T>([&](const Matrix<T>& b) {
    return triangular_solve(Triangle::Upper, t, b, Side::Left, Diagonal::Stored, tested());
  });
  expect_factors_to_stay<T>([&](const Matrix<T>& b) {
    return triangular_multiply(Triangle::Upper, t, b, Side::Left, Diagonal::Stored, tested());
  });
}

/// A product of matrices stays where it is computed, with the bits of the formulas.
BOOST_AUTO_TEST_CASE_TEMPLATE(products_stay_on_the_device, T, Systems) {
  if (!has_room(2 * 130 * 130 * sizeof(T))) return;
  const auto t = Matrix<T>::random(130, 130, Seed{58}), b = Matrix<T>::random(130, 70, Seed{59});
  const Matrix<T> wide = conjugate_transpose(b);
  for (const Side side : {Side::Left, Side::Right})
    for (const Diagonal diagonal : {Diagonal::Stored, Diagonal::Unit}) {
      const auto product = [&](const SolveOptions& options) {
        return triangular_multiply(Triangle::Lower, t, side == Side::Left ? b : wide, side, diagonal, options);
      };
      const Matrix<T> x = product(tested());
      if (keeps_all()) BOOST_TEST(is_there(x));
      BOOST_TEST(differing(x, product(formulas)) == 0);
    }
}

BOOST_AUTO_TEST_SUITE_END()

} // namespace tessera::test
