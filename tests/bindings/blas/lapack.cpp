/// LAPACK's routines of the drop-in: their results have the bits of the C++ interface, whatever the layout, memory
/// outside them stays as it was, and info and the handler hear what LAPACK says. Exit status: failed checks.

#include "systems.hpp"

#define TESSERA_DECLARE(T, s)                                                                                         \
  void NAME(s##potrf_)(const char*, const blas_int*, T*, const blas_int*, blas_int*);                                 \
  void NAME(s##potf2_)(const char*, const blas_int*, T*, const blas_int*, blas_int*);                                 \
  void NAME(s##potrf2_)(const char*, const blas_int*, T*, const blas_int*, blas_int*);                                \
  void NAME(s##potrs_)(const char*, const blas_int*, const blas_int*, const T*, const blas_int*, T*, const blas_int*, \
                       blas_int*);                                                                                    \
  void NAME(s##posv_)(const char*, const blas_int*, const blas_int*, T*, const blas_int*, T*, const blas_int*,        \
                      blas_int*);                                                                                     \
  void NAME(s##getrf_)(const blas_int*, const blas_int*, T*, const blas_int*, blas_int*, blas_int*);                  \
  void NAME(s##getf2_)(const blas_int*, const blas_int*, T*, const blas_int*, blas_int*, blas_int*);                  \
  void NAME(s##getrf2_)(const blas_int*, const blas_int*, T*, const blas_int*, blas_int*, blas_int*);                 \
  void NAME(s##getrs_)(const char*, const blas_int*, const blas_int*, const T*, const blas_int*, const blas_int*, T*, \
                       const blas_int*, blas_int*);                                                                   \
  void NAME(s##gesv_)(const blas_int*, const blas_int*, T*, const blas_int*, blas_int*, T*, const blas_int*,          \
                      blas_int*);                                                                                     \
  void NAME(s##trtrs_)(const char*, const char*, const char*, const blas_int*, const blas_int*, const T*,             \
                       const blas_int*, T*, const blas_int*, blas_int*);
extern "C" {
TESSERA_DECLARE(float, s)
TESSERA_DECLARE(double, d)
TESSERA_DECLARE(std::complex<float>, c)
TESSERA_DECLARE(std::complex<double>, z)
}

namespace tessera::test {
namespace {

/// The routines of a type.
template <class T>
struct Lapack;
#define TESSERA_ROUTINES(T, s)                        \
  template <>                                         \
  struct Lapack<T> {                                  \
    static constexpr auto potrf = &NAME(s##potrf_);   \
    static constexpr auto potf2 = &NAME(s##potf2_);   \
    static constexpr auto potrf2 = &NAME(s##potrf2_); \
    static constexpr auto potrs = &NAME(s##potrs_);   \
    static constexpr auto posv = &NAME(s##posv_);     \
    static constexpr auto getrf = &NAME(s##getrf_);   \
    static constexpr auto getf2 = &NAME(s##getf2_);   \
    static constexpr auto getrf2 = &NAME(s##getrf2_); \
    static constexpr auto getrs = &NAME(s##getrs_);   \
    static constexpr auto gesv = &NAME(s##gesv_);     \
    static constexpr auto trtrs = &NAME(s##trtrs_);   \
  };
TESSERA_ROUTINES(float, s)
TESSERA_ROUTINES(double, d)
TESSERA_ROUTINES(std::complex<float>, c)
TESSERA_ROUTINES(std::complex<double>, z)

template <class T>
void positive_systems(Index n, Index count) {
  const auto random = Matrix<T>::random(n, n, Seed{1}), b = Matrix<T>::random(n, count, Seed{2});
  Matrix<T> a = gemm(random, conjugate_transpose(random));
  for (Index i = 0; i < n; ++i) a(i, i) += T(1);
  if constexpr (is_complex<T>)
    for (Index i = 0; i < n; ++i)
      for (Index j = 0; j < i; ++j) a(j, i) = std::conj(a(i, j));
  const auto order = static_cast<blas_int>(n), sides = static_cast<blas_int>(count);
  for (const bool lower : {true, false}) {
    const char* const uplo = lower ? "L" : "u";
    const auto in = lower ? in_lower : in_upper;
    // U is the transpose of the L of Aᵀ.
    const Matrix<T> l = Cholesky<T>(lower ? Matrix<T>(a.view()) : Matrix<T>(std::as_const(a).transposed())).l();
    const Matrix<T> factor(lower ? l.view() : l.transposed());
    const auto half = [&](bool first, const Matrix<T>& right_side) {
      return solve_by_columns(lower ? Triangle::Lower : Triangle::Upper,
                              lower == first ? Op::None : Op::ConjugateTranspose, Diagonal::Stored, factor, right_side);
    };
    const Matrix<T> solution = half(false, half(true, b));
    if constexpr (!is_complex<T>) must_be_same("solutions by columns", solution, Cholesky<T>(a).solve(b));
    Columns<T> matrix(a, in), right(b);
    blas_int info = 77;
    Lapack<T>::potrf(uplo, &order, matrix.data(), matrix.ld(), &info);
    must_equal("potrf's info", info, 0);
    must_be("potrf", matrix, factor, in);
    for (const auto other_name : {Lapack<T>::potf2, Lapack<T>::potrf2}) {
      Columns<T> same_matrix(a, in);
      other_name(uplo, &order, same_matrix.data(), same_matrix.ld(), &info);
      must_equal("potf2's info", info, 0);
      must_be("potf2", same_matrix, factor, in);
    }
    Lapack<T>::potrs(uplo, &order, &sides, matrix.data(), matrix.ld(), right.data(), right.ld(), &info);
    must_equal("potrs' info", info, 0);
    must_be("potrs", right, solution);
    Columns<T> again(a, in), x(b);
    Lapack<T>::posv(uplo, &order, &sides, again.data(), again.ld(), x.data(), x.ld(), &info);
    must_equal("posv's info", info, 0);
    must_be("posv's factor", again, factor, in);
    must_be("posv", x, solution);
    // A minor that is not positive, and LAPACK's number of it. B is not changed.
    const Index minor = n / 2 + 1;
    Columns<T> bad(a, in), same(b);
    bad.at(minor - 1, minor - 1) = -1;
    Lapack<T>::posv(uplo, &order, &sides, bad.data(), bad.ld(), same.data(), same.ld(), &info);
    must_equal("posv's minor", info, minor);
    must_be("posv without a solution", same, b);
    Columns<T> bad_factor(a, in);
    bad_factor.at(minor - 1, minor - 1) = std::numeric_limits<Part<T>>::quiet_NaN();
    Lapack<T>::potrf(uplo, &order, bad_factor.data(), bad_factor.ld(), &info);
    must_equal("potrf's minor", info, minor);
  }
}

template <class T>
std::vector<blas_int> factors(const char* what, const Matrix<T>& a, const Lu<T>& expected, Columns<T>& matrix,
                              Index first_zero) {
  const auto m = static_cast<blas_int>(a.rows()), n = static_cast<blas_int>(a.cols());
  std::vector<blas_int> pivots(static_cast<std::size_t>(std::min(m, n)) + 1, 99);
  blas_int info = 77;
  Lapack<T>::getrf(&m, &n, matrix.data(), matrix.ld(), pivots.data(), &info);
  must_equal(what, info, first_zero);
  must_be(what, matrix, expected.packed());
  for (std::size_t j = 0; j + 1 < pivots.size(); ++j) must_equal("a pivot", pivots[j], expected.pivots()[j] + 1);
  must_equal("what follows the pivots", pivots.back(), 99);
  for (const auto other_name : {Lapack<T>::getf2, Lapack<T>::getrf2}) {
    Columns<T> same_matrix(a);
    std::vector<blas_int> same_pivots(pivots.size(), 99);
    other_name(&m, &n, same_matrix.data(), same_matrix.ld(), same_pivots.data(), &info);
    must_equal("getf2's info", info, first_zero);
    must_be("getf2", same_matrix, expected.packed());
    must_equal("getf2's pivots", static_cast<Index>(same_pivots == pivots), 1);
  }
  return pivots;
}

/// Returns X of op(A)·X = B by the factors.
template <class T>
Matrix<T> solve_by_factors(const Lu<T>& lu, Op op, const Matrix<T>& b) {
  Matrix<T> x(b.view());
  const auto exchange = [&](Index j) {
    for (Index c = 0; c < x.cols(); ++c) std::swap(x(j, c), x(lu.pivots()[static_cast<std::size_t>(j)], c));
  };
  const auto l = [&] { x = solve_by_columns(Triangle::Lower, op, Diagonal::Unit, lu.packed(), x); };
  const auto u = [&] { x = solve_by_columns(Triangle::Upper, op, Diagonal::Stored, lu.packed(), x); };
  for (Index j = 0; j < x.rows() && op == Op::None; ++j) exchange(j);
  op == Op::None ? l() : u();
  op == Op::None ? u() : l();
  for (Index j = x.rows(); j-- > 0 && op != Op::None;) exchange(j);
  return x;
}

template <class T>
void general_systems(Index n, Index count) {
  const auto a = Matrix<T>::random(n, n, Seed{3}), b = Matrix<T>::random(n, count, Seed{4});
  const Lu<T> expected(a);
  Columns<T> matrix(a), right(b), transposed(b);
  const std::vector<blas_int> pivots = factors("getrf", a, expected, matrix, 0);
  const auto order = static_cast<blas_int>(n), sides = static_cast<blas_int>(count);
  blas_int info = 77;
  Lapack<T>::getrs("n", &order, &sides, matrix.data(), matrix.ld(), pivots.data(), right.data(), right.ld(), &info);
  must_equal("getrs' info", info, 0);
  const Matrix<T> solution = solve_by_factors(expected, Op::None, b);
  if constexpr (!is_complex<T>) must_be_same("solutions by columns", solution, expected.solve(b));
  must_be("getrs", right, solution);
  for (const char* const op : {"T", "c"}) {
    Columns<T> x(b);
    Lapack<T>::getrs(op, &order, &sides, matrix.data(), matrix.ld(), pivots.data(), x.data(), x.ld(), &info);
    must_equal("getrs' info", info, 0);
    must_be("getrs of the transpose", x,
            solve_by_factors(expected, *op == 'T' ? Op::Transpose : Op::ConjugateTranspose, b));
  }
  Columns<T> again(a), x(b);
  std::vector<blas_int> found(pivots.size(), 99);
  Lapack<T>::gesv(&order, &sides, again.data(), again.ld(), found.data(), x.data(), x.ld(), &info);
  must_equal("gesv's info", info, 0);
  must_be("gesv's factors", again, expected.packed());
  must_be("gesv", x, solution);
  if (found != pivots) must_equal("gesv's pivots", 0, 1);
}

template <class T>
void rectangles() {
  for (const auto& [m, n] : {std::pair<Index, Index>{1, 9}, {9, 1}, {70, 150}, {150, 70}, {1100, 30}, {30, 1100}}) {
    const auto a = Matrix<T>::random(m, n, Seed{5});
    Columns<T> matrix(a);
    factors("getrf of a rectangle", a, Lu<T>(a), matrix, 0);
  }
}

/// A column of zeros has no pivot; the factorisation goes on after it, and gesv leaves B as it was.
template <class T>
void singular(Index n) {
  auto a = Matrix<T>::random(n, n, Seed{6});
  for (Index i = 0; i < n; ++i) a(i, n / 2) = 0;
  Columns<T> matrix(a);
  factors("getrf of a singular matrix", a, Lu<T>(a), matrix, n / 2 + 1);
  Columns<T> again(a);
  const auto b = Matrix<T>::random(n, 2, Seed{7});
  Columns<T> right(b);
  const auto order = static_cast<blas_int>(n), two = blas_int{2};
  std::vector<blas_int> pivots(static_cast<std::size_t>(n));
  blas_int info = 77;
  Lapack<T>::gesv(&order, &two, again.data(), again.ld(), pivots.data(), right.data(), right.ld(), &info);
  must_equal("gesv's info of a singular matrix", info, n / 2 + 1);
  must_be("gesv without a solution", right, b);
  auto triangle = Matrix<T>::random(n, n, Seed{8});
  triangle(n / 2, n / 2) = 0;
  Columns<T> t(triangle);
  Lapack<T>::trtrs("L", "N", "N", &order, &two, t.data(), t.ld(), right.data(), right.ld(), &info);
  must_equal("trtrs' info of a singular triangle", info, n / 2 + 1);
  must_be("trtrs without a solution", right, b);
}

template <class T>
void triangles(Index n, Index count) {
  auto a = Matrix<T>::random(n, n, Seed{9});
  for (Index i = 0; i < n; ++i) a(i, i) += static_cast<Part<T>>(n);
  const auto b = Matrix<T>::random(n, count, Seed{10});
  const auto order = static_cast<blas_int>(n), sides = static_cast<blas_int>(count);
  for (const bool lower : {true, false})
    for (const char* const op : {"N", "t", "C"})
      for (const bool unit : {false, true}) {
        const Diagonal diagonal = unit ? Diagonal::Unit : Diagonal::Stored;
        const Op applied = *op == 'N' ? Op::None : *op == 't' ? Op::Transpose : Op::ConjugateTranspose;
        const Matrix<T> expected =
            solve_by_columns(lower ? Triangle::Lower : Triangle::Upper, applied, diagonal, std::as_const(a), b);
        if constexpr (!is_complex<T>) {
          const bool straight = applied == Op::None;
          const Matrix<T> t = straight ? a : Matrix<T>(a.transposed());
          must_be_same(
              "solutions by columns", expected,
              triangular_solve(lower == straight ? Triangle::Lower : Triangle::Upper, t, b, Side::Left, diagonal));
        }
        Columns<T> matrix(a, [&](Index i, Index j) { return (lower ? i >= j : i <= j) && !(unit && i == j); }), x(b);
        blas_int info = 77;
        Lapack<T>::trtrs(lower ? "l" : "U", op, unit ? "U" : "n", &order, &sides, matrix.data(), matrix.ld(), x.data(),
                         x.ld(), &info);
        must_equal("trtrs' info", info, 0);
        must_be("trtrs", x, expected);
      }
}

template <class T>
void wrong_arguments(char type) {
  T a[64] = {}, b[64] = {};
  blas_int pivots[8] = {}, info = 77;
  const blas_int good = 4, bad = -1, small = 3;
  const auto refused = [&](const char* name, int expected) {
    char full[8];
    std::snprintf(full, sizeof full, "%c%s", type, name);
    must_refuse_lapack(full, expected, info);
  };
  TESSERA_REFUSED(1, potrf, "POTRF", "X", &good, a, &good);
  TESSERA_REFUSED(2, potrf, "POTRF", "L", &bad, a, &good);
  TESSERA_REFUSED(4, potrf, "POTRF", "L", &good, a, &small);
  TESSERA_REFUSED(1, potf2, "POTF2", "N", &good, a, &good);
  TESSERA_REFUSED(4, potrf2, "POTRF2", "L", &good, a, &small);
  TESSERA_REFUSED(1, potrs, "POTRS", "N", &good, &good, a, &good, b, &good);
  TESSERA_REFUSED(2, potrs, "POTRS", "L", &bad, &good, a, &good, b, &good);
  TESSERA_REFUSED(3, potrs, "POTRS", "L", &good, &bad, a, &good, b, &good);
  TESSERA_REFUSED(5, potrs, "POTRS", "L", &good, &good, a, &small, b, &good);
  TESSERA_REFUSED(7, potrs, "POTRS", "L", &good, &good, a, &good, b, &small);
  TESSERA_REFUSED(1, posv, "POSV ", "N", &good, &good, a, &good, b, &good);
  TESSERA_REFUSED(3, posv, "POSV ", "U", &good, &bad, a, &good, b, &good);
  TESSERA_REFUSED(7, posv, "POSV ", "U", &good, &good, a, &good, b, &small);
  TESSERA_REFUSED(1, getf2, "GETF2", &bad, &good, a, &good, pivots);
  TESSERA_REFUSED(4, getrf2, "GETRF2", &good, &good, a, &small, pivots);
  TESSERA_REFUSED(1, getrf, "GETRF", &bad, &good, a, &good, pivots);
  TESSERA_REFUSED(2, getrf, "GETRF", &good, &bad, a, &good, pivots);
  TESSERA_REFUSED(4, getrf, "GETRF", &good, &good, a, &small, pivots);
  TESSERA_REFUSED(1, getrs, "GETRS", "L", &good, &good, a, &good, pivots, b, &good);
  TESSERA_REFUSED(2, getrs, "GETRS", "N", &bad, &good, a, &good, pivots, b, &good);
  TESSERA_REFUSED(3, getrs, "GETRS", "N", &good, &bad, a, &good, pivots, b, &good);
  TESSERA_REFUSED(5, getrs, "GETRS", "N", &good, &good, a, &small, pivots, b, &good);
  TESSERA_REFUSED(8, getrs, "GETRS", "N", &good, &good, a, &good, pivots, b, &small);
  TESSERA_REFUSED(1, gesv, "GESV ", &bad, &good, a, &good, pivots, b, &good);
  TESSERA_REFUSED(2, gesv, "GESV ", &good, &bad, a, &good, pivots, b, &good);
  TESSERA_REFUSED(4, gesv, "GESV ", &good, &good, a, &small, pivots, b, &good);
  TESSERA_REFUSED(7, gesv, "GESV ", &good, &good, a, &good, pivots, b, &small);
  TESSERA_REFUSED(1, trtrs, "TRTRS", "X", "N", "N", &good, &good, a, &good, b, &good);
  TESSERA_REFUSED(2, trtrs, "TRTRS", "L", "X", "N", &good, &good, a, &good, b, &good);
  TESSERA_REFUSED(3, trtrs, "TRTRS", "L", "N", "X", &good, &good, a, &good, b, &good);
  TESSERA_REFUSED(4, trtrs, "TRTRS", "L", "N", "N", &bad, &good, a, &good, b, &good);
  TESSERA_REFUSED(5, trtrs, "TRTRS", "L", "N", "N", &good, &bad, a, &good, b, &good);
  TESSERA_REFUSED(7, trtrs, "TRTRS", "L", "N", "N", &good, &good, a, &small, b, &good);
  TESSERA_REFUSED(9, trtrs, "TRTRS", "L", "N", "N", &good, &good, a, &good, b, &small);
}

template <class T>
void nothing_to_do() {
  const T before = untouched_number<T>();
  T number = before;
  const blas_int none = 0, one = 1;
  blas_int pivot = 99, info = 77;
  const auto done = [&](const char* what) {
    must_equal(what, info, 0);
    info = 77;
  };
  Lapack<T>::potrf("L", &none, &number, &one, &info), done("potrf of nothing");
  Lapack<T>::posv("L", &none, &one, &number, &one, &number, &one, &info), done("posv of nothing");
  Lapack<T>::getrf(&none, &one, &number, &one, &pivot, &info), done("getrf of nothing");
  Lapack<T>::gesv(&none, &one, &number, &one, &pivot, &number, &one, &info), done("gesv of nothing");
  Lapack<T>::getrs("T", &one, &none, &number, &one, &pivot, &number, &one, &info), done("getrs of nothing");
  Lapack<T>::trtrs("U", "N", "N", &none, &one, &number, &one, &number, &one, &info), done("trtrs of nothing");
  must_equal("untouched by nothing", number == before && pivot == 99, 1);
}

template <class T>
void check(char type) {
  for (const Index n : {1, 2, 5, 63, 64, 65, 130, 200}) {
    positive_systems<T>(n, n % 7 + 1);
    general_systems<T>(n, n % 7 + 1);
    triangles<T>(n, n % 9 + 1);
  }
  positive_systems<T>(1100, 1); // more than a segment
  general_systems<T>(1100, 1);
  rectangles<T>();
  for (const Index n : {1, 7, 100}) singular<T>(n);
  must_equal("calls that were refused", position, 0);
  nothing_to_do<T>();
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
