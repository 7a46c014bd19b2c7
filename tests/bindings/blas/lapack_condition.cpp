/// LAPACK's estimates of condition numbers in the drop-in: they are the C++ interface's, do not change with a power of
/// two by which the matrix is multiplied, and info and the handler hear what LAPACK says. Exit status: failed checks.

#include <cmath>

#include <tessera/linear_algebra/condition.hpp>

#include "systems.hpp"

#define TESSERA_DECLARE(T, P, More, s)                                                                               \
  void NAME(s##getrf_)(const blas_int*, const blas_int*, T*, const blas_int*, blas_int*, blas_int*);                 \
  void NAME(s##potrf_)(const char*, const blas_int*, T*, const blas_int*, blas_int*);                                \
  void NAME(s##gecon_)(const char*, const blas_int*, const T*, const blas_int*, const P*, P*, T*, More*, blas_int*); \
  void NAME(s##pocon_)(const char*, const blas_int*, const T*, const blas_int*, const P*, P*, T*, More*, blas_int*); \
  void NAME(s##trcon_)(const char*, const char*, const char*, const blas_int*, const T*, const blas_int*, P*, T*,    \
                       More*, blas_int*);
extern "C" {
TESSERA_DECLARE(float, float, blas_int, s)
TESSERA_DECLARE(double, double, blas_int, d)
TESSERA_DECLARE(std::complex<float>, float, float, c)
TESSERA_DECLARE(std::complex<double>, double, double, z)
}

namespace tessera::test {
namespace {

/// The routines of a type.
template <class T>
struct Lapack;
#define TESSERA_ROUTINES(T, More_, s)               \
  template <>                                       \
  struct Lapack<T> {                                \
    using More = More_;                             \
    static constexpr auto getrf = &NAME(s##getrf_); \
    static constexpr auto potrf = &NAME(s##potrf_); \
    static constexpr auto gecon = &NAME(s##gecon_); \
    static constexpr auto pocon = &NAME(s##pocon_); \
    static constexpr auto trcon = &NAME(s##trcon_); \
  };
TESSERA_ROUTINES(float, blas_int, s)
TESSERA_ROUTINES(double, blas_int, d)
TESSERA_ROUTINES(std::complex<float>, float, c)
TESSERA_ROUTINES(std::complex<double>, double, z)

inline void must_hold(const char* what, bool holds, double got) {
  if (holds) return;
  std::fprintf(stderr, "%s: %.17g\n", what, got);
  ++failures;
}

template <class T>
Matrix<T> times_power(const Matrix<T>& a, int exponent) {
  Matrix<T> result(a.view());
  for (Index i = 0; i < result.rows(); ++i)
    for (T& x : result.row(i)) x *= std::ldexp(Part<T>(1), exponent);
  return result;
}
template <class T>
Matrix<T> turned(const Matrix<T>& a) {
  return Matrix<T>(a.transposed());
}

/// ‖A‖ of columns.
template <class T>
double norm(const Matrix<T>& a) {
  double largest = 0;
  for (Index j = 0; j < a.cols(); ++j) {
    double sum = 0;
    for (Index i = 0; i < a.rows(); ++i) sum += static_cast<double>(std::abs(a(i, j)));
    largest = std::max(largest, sum);
  }
  return largest;
}

/// Between the exact number and three times that.
template <class T>
void must_estimate(const char* what, Part<T> rcond, double exact) {
  const auto found = static_cast<double>(rcond);
  must_hold(what, found >= exact * 0.999 && found <= 3 * exact, found / exact);
}

/// The second n numbers of gecon's work are the x whose ‖x‖ / ‖op(P·A)·x‖ is the estimate. LAPACK's latdf reads them.
template <class T>
void must_solve(const Matrix<T>& a, bool of_rows, const std::vector<blas_int>& pivots, std::vector<T> x, double size,
                Part<T> rcond) {
  const Index n = a.rows();
  for (Index i = n; of_rows && i-- > 0;) std::swap(x[i], x[pivots[i] - 1]); // (P·A)ᴴ·x = Aᴴ·(Pᵀ·x)
  double of_x = 0, of_product = 0;
  for (Index i = 0; i < n; ++i) {
    std::complex<double> sum = 0;
    for (Index j = 0; j < n; ++j) {
      const std::complex<double> element = of_rows ? std::conj(std::complex<double>(a(j, i))) : a(i, j);
      sum += element * std::complex<double>(x[j]);
    }
    of_x += std::abs(std::complex<double>(x[i]));
    of_product += std::abs(sum);
  }
  const double ratio = of_x / of_product * size * static_cast<double>(rcond);
  const double bound = 4.0 * static_cast<double>(n) * std::numeric_limits<Part<T>>::epsilon() / rcond;
  must_hold("gecon's solution", std::abs(ratio - 1) <= bound, ratio);
}

template <class T>
void general(Index n) {
  using P = Part<T>;
  const auto a = Matrix<T>::random(n, n, Seed{1});
  const auto order = static_cast<blas_int>(n);
  std::vector<blas_int> pivots(static_cast<std::size_t>(n));
  const Matrix<T> inverse = Lu<T>(a).inverse();
  for (const bool of_rows : {false, true}) {
    const double size = of_rows ? norm(turned(a)) : norm(a);
    const double exact = 1 / size / (of_rows ? norm(turned(inverse)) : norm(inverse));
    P first = 0;
    for (const int exponent :
         {0, std::numeric_limits<P>::max_exponent - 12, 40 - std::numeric_limits<P>::max_exponent}) {
      Columns<T> matrix(times_power(a, exponent));
      blas_int info = 77;
      Lapack<T>::getrf(&order, &order, matrix.data(), matrix.ld(), pivots.data(), &info);
      const P scaled = std::ldexp(static_cast<P>(size), exponent);
      P rcond = -1;
      std::vector<T> work(4 * static_cast<std::size_t>(n), untouched_number<T>());
      typename Lapack<T>::More more = 99;
      Lapack<T>::gecon(of_rows ? "i" : (n % 2 == 0 ? "O" : "1"), &order, matrix.data(), matrix.ld(), &scaled, &rcond,
                       work.data(), &more, &info);
      must_equal("gecon's info", info, 0);
      for (Index i = 0; i < 4 * n; ++i)
        if (i < n || i >= 2 * n) must_equal("gecon's work", work[i] == untouched_number<T>() && more == 99, 1);
      if (exponent == 0) must_solve<T>(a, of_rows, pivots, {work.begin() + n, work.begin() + 2 * n}, size, rcond);
      if (exponent == 0) must_estimate<T>("gecon", first = rcond, exact);
      must_hold("gecon beside the one of a matrix of ordinary size", rcond == first,
                static_cast<double>(rcond / first));
    }
    // The C++ interface's factors lie by rows.
    const Lu<T> lu(a);
    const auto factor = [&](Triangle triangle, Diagonal diagonal) {
      return detail::TriangularCall<T>{
          .triangle = triangle, .diagonal = diagonal, .n = n, .t = lu.packed().data(), .ldt = lu.packed().ld()};
    };
    const detail::ScaledNumber by_rows = detail::norm_of_inverse<T>(
        {{factor(Triangle::Lower, Diagonal::Unit), factor(Triangle::Upper, Diagonal::Stored)}, 2}, of_rows);
    const P same = detail::reciprocal_condition_of<P>({static_cast<double>(static_cast<P>(size)), 0}, by_rows);
    must_hold("gecon beside the estimate by rows", first == same, static_cast<double>(first / same));
  }
}

template <class T>
void positive(Index n) {
  using P = Part<T>;
  const auto random = Matrix<T>::random(n, n, Seed{2});
  Matrix<T> a = gemm(random, conjugate_transpose(random));
  for (Index i = 0; i < n; ++i) {
    a(i, i) = std::real(a(i, i)) + P(1);
    if constexpr (is_complex<T>)
      for (Index j = 0; j < i; ++j) a(j, i) = std::conj(std::as_const(a)(i, j));
  }
  const double size = norm(a), exact = 1 / size / norm(Cholesky<T>(a).inverse());
  const auto order = static_cast<blas_int>(n);
  for (const bool lower : {true, false}) {
    P first = 0;
    for (const int exponent :
         {0, std::numeric_limits<P>::max_exponent - 16, 40 - std::numeric_limits<P>::max_exponent}) {
      Columns<T> matrix(times_power(a, exponent), lower ? in_lower : in_upper);
      blas_int info = 77;
      Lapack<T>::potrf(lower ? "L" : "U", &order, matrix.data(), matrix.ld(), &info);
      const P scaled = std::ldexp(static_cast<P>(size), exponent);
      P rcond = -1;
      T work = 0;
      typename Lapack<T>::More more = 0;
      Lapack<T>::pocon(lower ? "l" : "u", &order, matrix.data(), matrix.ld(), &scaled, &rcond, &work, &more, &info);
      must_equal("pocon's info", info, 0);
      if (exponent == 0) must_estimate<T>("pocon", first = rcond, exact);
      must_hold("pocon beside the one of a matrix of ordinary size", rcond == first,
                static_cast<double>(rcond / first));
    }
  }
}

/// Ones on the diagonal and −2 below it: the inverse has powers of two up to 2ⁿ⁻¹, and the norms are 3 and 2ⁿ − 1.
template <class T>
void triangles() {
  using P = Part<T>;
  constexpr int most = std::numeric_limits<P>::max_exponent;
  for (const int n : {1, 2, 40, most - 30, most + 10}) {
    const auto order = static_cast<blas_int>(n);
    const double exact = n == 1 ? 1 : n < 50 ? 1 / (std::ldexp(1.0, n) - 1) / 3 : std::ldexp(1 / 3.0, -n);
    for (const bool lower : {true, false})
      for (const char* const name : {"1", "o", "I"})
        for (const bool unit : {false, true})
          for (const int exponent : {0, most - 8, 8 - most}) {
            if (unit && exponent != 0) continue;
            const auto inside = [&](Index i, Index j) { return lower ? i >= j : i <= j; };
            Columns<T> matrix(Matrix<T>(n, n), [&](Index i, Index j) { return inside(i, j) && !(unit && i == j); });
            const P one = std::ldexp(P(1), exponent);
            for (Index i = 0; i < n && !unit; ++i) matrix.at(i, i) = one;
            for (Index i = 1; i < n; ++i) matrix.at(lower ? i : i - 1, lower ? i - 1 : i) = -2 * one;
            P rcond = -1;
            blas_int info = 77;
            T work = 0;
            typename Lapack<T>::More more = 0;
            Lapack<T>::trcon(name, lower ? "L" : "u", unit ? "U" : "n", &order, matrix.data(), matrix.ld(), &rcond,
                             &work, &more, &info);
            must_equal("trcon's info", info, 0);
            const auto wanted = static_cast<P>(exact); // may be subnormal
            must_hold("trcon", std::abs(rcond - wanted) <= wanted / 1000, static_cast<double>(rcond / wanted));
          }
  }
  // Of several segments, by random numbers.
  const Index n = 1100;
  auto a = Matrix<T>::random(n, n, Seed{3});
  for (Index i = 0; i < n; ++i) a(i, i) += static_cast<P>(n);
  const auto order = static_cast<blas_int>(n);
  P first = 0;
  for (const int exponent : {0, most - 12}) {
    Columns<T> matrix(times_power(a, exponent));
    P rcond = -1;
    blas_int info = 77;
    T work = 0;
    typename Lapack<T>::More more = 0;
    Lapack<T>::trcon("1", "U", "N", &order, matrix.data(), matrix.ld(), &rcond, &work, &more, &info);
    if (exponent == 0) first = rcond;
    must_hold("trcon beside the one of a triangle of ordinary size", rcond == first && rcond > P(0.01),
              static_cast<double>(rcond));
  }
}

/// A zero on a diagonal, numbers that are not finite, and nothing at all.
template <class T>
void special() {
  using P = Part<T>;
  constexpr P nan = std::numeric_limits<P>::quiet_NaN(), infinity = std::numeric_limits<P>::infinity();
  const blas_int three = 3, none = 0;
  T work[12] = {};
  typename Lapack<T>::More more = 0;
  const auto rcond_of = [&](const blas_int& n, T last, P size, int which, blas_int expected) {
    Columns<T> matrix(Matrix<T>::identity(3));
    matrix.at(2, 2) = last;
    P rcond = 77;
    blas_int info = 77;
    if (which == 0) Lapack<T>::gecon("1", &n, matrix.data(), matrix.ld(), &size, &rcond, work, &more, &info);
    if (which == 1) Lapack<T>::pocon("L", &n, matrix.data(), matrix.ld(), &size, &rcond, work, &more, &info);
    if (which == 2) Lapack<T>::trcon("1", "U", "N", &n, matrix.data(), matrix.ld(), &rcond, work, &more, &info);
    must_equal("info of a special matrix", info, expected);
    return rcond;
  };
  for (const int which : {0, 1, 2}) {
    const auto must_give = [&](const char* what, P got, P expected) {
      must_hold(what, same_bits(got, expected), static_cast<double>(got));
    };
    must_give("rcond of nothing", rcond_of(none, T(1), P(1), which, 0), 1);
    must_give("rcond of I", rcond_of(three, T(1), P(1), which, 0), 1);
    must_give("rcond of a singular matrix", rcond_of(three, T(0), P(1), which, 0), 0);
    must_give("rcond of NaN", rcond_of(three, T(nan), P(1), which, which == 0 ? 1 : 0), nan);
    if (which == 2) continue;
    must_give("rcond of a norm of 0", rcond_of(three, T(1), P(0), which, 0), 0);
    must_give("rcond of an infinite norm", rcond_of(three, T(1), infinity, which, which == 0 ? -5 : 0), 0);
    must_give("rcond of a norm of NaN", rcond_of(three, T(1), nan, which, which == 0 ? -5 : 0), nan);
  }
}

template <class T>
void wrong_arguments(char type) {
  T a[64] = {}, work[8] = {};
  Part<T> rcond = 0;
  const Part<T> size = 1, negative = -1;
  typename Lapack<T>::More more[8] = {};
  blas_int info = 77;
  const blas_int good = 4, bad = -1, small = 3;
  const auto refused = [&](const char* name, int expected) {
    char full[8];
    std::snprintf(full, sizeof full, "%c%s", type, name);
    must_refuse_lapack(full, expected, info);
  };
  TESSERA_REFUSED(1, gecon, "GECON", "2", &good, a, &good, &size, &rcond, work, more);
  TESSERA_REFUSED(2, gecon, "GECON", "1", &bad, a, &good, &size, &rcond, work, more);
  TESSERA_REFUSED(4, gecon, "GECON", "1", &good, a, &small, &size, &rcond, work, more);
  TESSERA_REFUSED(5, gecon, "GECON", "I", &good, a, &good, &negative, &rcond, work, more);
  TESSERA_REFUSED(1, pocon, "POCON", "1", &good, a, &good, &size, &rcond, work, more);
  TESSERA_REFUSED(2, pocon, "POCON", "L", &bad, a, &good, &size, &rcond, work, more);
  TESSERA_REFUSED(4, pocon, "POCON", "L", &good, a, &small, &size, &rcond, work, more);
  TESSERA_REFUSED(5, pocon, "POCON", "U", &good, a, &good, &negative, &rcond, work, more);
  TESSERA_REFUSED(1, trcon, "TRCON", "L", "L", "N", &good, a, &good, &rcond, work, more);
  TESSERA_REFUSED(2, trcon, "TRCON", "1", "N", "N", &good, a, &good, &rcond, work, more);
  TESSERA_REFUSED(3, trcon, "TRCON", "O", "U", "T", &good, a, &good, &rcond, work, more);
  TESSERA_REFUSED(4, trcon, "TRCON", "I", "L", "U", &bad, a, &good, &rcond, work, more);
  TESSERA_REFUSED(6, trcon, "TRCON", "1", "L", "N", &good, a, &small, &rcond, work, more);
}

template <class T>
void check(char type) {
  for (const Index n : {1, 2, 5, 64, 130}) {
    general<T>(n);
    positive<T>(n);
  }
  triangles<T>();
  special<T>();
  must_equal("calls that were refused", position, 0);
  wrong_arguments<T>(type);
}

} // namespace
} // namespace tessera::test

int main() {
  tessera::test::check<float>('S');
  tessera::test::check<double>('D');
  tessera::test::check<std::complex<float>>('C');
  tessera::test::check<std::complex<double>>('Z');
  return failures == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}
