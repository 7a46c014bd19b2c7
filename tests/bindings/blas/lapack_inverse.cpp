/// LAPACK's inverses in the drop-in: their results have the bits of the contract's formulas, memory outside them stays
/// as it was, and info and the handler hear what LAPACK says. Exit status: failed checks.

#include <tessera/linear_algebra/inverse.hpp>

#include "systems.hpp"

#define TESSERA_DECLARE(T, s)                                                                                  \
  void NAME(s##getrf_)(const blas_int*, const blas_int*, T*, const blas_int*, blas_int*, blas_int*);           \
  void NAME(s##getri_)(const blas_int*, T*, const blas_int*, const blas_int*, T*, const blas_int*, blas_int*); \
  void NAME(s##potri_)(const char*, const blas_int*, T*, const blas_int*, blas_int*);                          \
  void NAME(s##lauum_)(const char*, const blas_int*, T*, const blas_int*, blas_int*);                          \
  void NAME(s##lauu2_)(const char*, const blas_int*, T*, const blas_int*, blas_int*);                          \
  void NAME(s##trtri_)(const char*, const char*, const blas_int*, T*, const blas_int*, blas_int*);             \
  void NAME(s##trti2_)(const char*, const char*, const blas_int*, T*, const blas_int*, blas_int*);             \
  void NAME(scipy_##s##getri_)(const blas_int*, T*, const blas_int*, const blas_int*, T*, const blas_int*, blas_int*);
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
#define TESSERA_ROUTINES(T, s)                              \
  template <>                                               \
  struct Lapack<T> {                                        \
    static constexpr auto getrf = &NAME(s##getrf_);         \
    static constexpr auto getri = &NAME(s##getri_);         \
    static constexpr auto scipy = &NAME(scipy_##s##getri_); \
    static constexpr auto potri = &NAME(s##potri_);         \
    static constexpr auto lauum = &NAME(s##lauum_);         \
    static constexpr auto lauu2 = &NAME(s##lauu2_);         \
    static constexpr auto trtri = &NAME(s##trtri_);         \
    static constexpr auto trti2 = &NAME(s##trti2_);         \
  };
TESSERA_ROUTINES(float, s)
TESSERA_ROUTINES(double, d)
TESSERA_ROUTINES(std::complex<float>, c)
TESSERA_ROUTINES(std::complex<double>, z)

const SolveOptions formulas{.backend = Backend::Reference};

template <class T>
Matrix<T> dominant(Index n, Seed seed) {
  auto a = Matrix<T>::random(n, n, seed);
  for (Index i = 0; i < n; ++i) a(i, i) += static_cast<Part<T>>(i % 2 == 0 ? n : -n);
  return a;
}

/// Returns what `function` makes of a triangle in memory that holds A by columns, which by rows is the other triangle.
template <class T, class Function>
Matrix<T> by_columns(Triangle triangle, const Matrix<T>& a, const Function& function) {
  Matrix<T> memory(a.transposed());
  function(triangle == Triangle::Lower ? Triangle::Upper : Triangle::Lower, memory);
  return Matrix<T>(std::as_const(memory).transposed());
}

template <class T>
void triangles(Index n) {
  const Matrix<T> a = dominant<T>(n, Seed{1}); // the imaginary parts on the diagonal are no zeros
  const auto order = static_cast<blas_int>(n);
  for (const bool lower : {true, false}) {
    const Triangle triangle = lower ? Triangle::Lower : Triangle::Upper;
    const auto in = lower ? in_lower : in_upper;
    const auto inverted = [&](Diagonal diagonal) {
      return by_columns(triangle, a, [&](Triangle stored, Matrix<T>& x) {
        detail::invert_triangle(stored, diagonal, n, x.data(), x.ld(), formulas);
      });
    };
    const auto squared = [&](const Matrix<T>& of) {
      return by_columns(triangle, of, [&](Triangle stored, Matrix<T>& x) {
        detail::multiply_by_transpose(stored, n, x.data(), x.ld(), formulas);
      });
    };
    const auto gives = [&](const char* what, auto function, const Matrix<T>& expected) {
      Columns<T> matrix(a, in);
      blas_int info = 77;
      function(lower ? "l" : "U", &order, matrix.data(), matrix.ld(), &info);
      must_equal(what, info, 0);
      must_be(what, matrix, expected, in);
    };
    gives("lauum", Lapack<T>::lauum, squared(a));
    gives("lauu2", Lapack<T>::lauu2, squared(a));
    gives("potri", Lapack<T>::potri, squared(inverted(Diagonal::Stored)));
    for (const bool unit : {false, true}) {
      const auto inside = [&](Index i, Index j) { return in(i, j) && !(unit && i == j); };
      const Matrix<T> expected = inverted(unit ? Diagonal::Unit : Diagonal::Stored);
      for (const auto function : {Lapack<T>::trtri, Lapack<T>::trti2}) {
        Columns<T> matrix(a, inside);
        blas_int info = 77;
        function(lower ? "L" : "u", unit ? "u" : "N", &order, matrix.data(), matrix.ld(), &info);
        must_equal("trtri's info", info, 0);
        must_be("trtri", matrix, expected, inside);
      }
    }
  }
}

template <class T>
void inverses(Index n) {
  const Matrix<T> a = Matrix<T>::random(n, n, Seed{2});
  const Lu<T> lu(a);
  Matrix<T> memory(lu.packed().transposed());
  std::vector<Index> rows(lu.pivots().begin(), lu.pivots().end());
  std::vector<T> work(rows.size());
  detail::invert_by_lu(Op::Transpose, n, memory.data(), memory.ld(), detail::RowNumbers(rows.data()), work.data(),
                       formulas);
  const Matrix<T> expected(std::as_const(memory).transposed());
  const auto order = static_cast<blas_int>(n), query = blas_int{-1};
  for (const auto function : {Lapack<T>::getri, Lapack<T>::scipy}) {
    Columns<T> matrix(a);
    std::vector<blas_int> pivots(static_cast<std::size_t>(n));
    blas_int info = 77;
    Lapack<T>::getrf(&order, &order, matrix.data(), matrix.ld(), pivots.data(), &info);
    function(&order, matrix.data(), matrix.ld(), pivots.data(), work.data(), &query, &info);
    must_equal("a query's info", info, 0);
    must_equal("a query's length", static_cast<Index>(std::real(work[0])), n);
    must_be("a query", matrix, lu.packed());
    info = 77;
    function(&order, matrix.data(), matrix.ld(), pivots.data(), work.data(), &order, &info);
    must_equal("getri's info", info, 0);
    must_equal("getri's length", static_cast<Index>(std::real(work[0])), n);
    must_be("getri", matrix, expected);
  }
}

/// A zero on the diagonal has LAPACK's number, and the matrix stays as it was; trti2 does not look for it.
template <class T>
void singular(Index n) {
  Matrix<T> a = dominant<T>(n, Seed{4});
  a(n / 2, n / 2) = 0;
  const auto order = static_cast<blas_int>(n);
  std::vector<blas_int> pivots(static_cast<std::size_t>(n), 1);
  std::vector<T> work(static_cast<std::size_t>(n));
  Columns<T> matrix(a);
  blas_int info = 77;
  const auto refuses = [&](const char* what) {
    must_equal(what, info, n / 2 + 1);
    must_be(what, matrix, a);
    info = 77;
  };
  Lapack<T>::getri(&order, matrix.data(), matrix.ld(), pivots.data(), work.data(), &order, &info);
  refuses("getri of a singular matrix");
  Lapack<T>::potri("L", &order, matrix.data(), matrix.ld(), &info);
  refuses("potri of a singular matrix");
  Lapack<T>::trtri("U", "N", &order, matrix.data(), matrix.ld(), &info);
  refuses("trtri of a singular triangle");
  Lapack<T>::trti2("U", "N", &order, matrix.data(), matrix.ld(), &info);
  must_equal("trti2 of a singular triangle", info, 0);
  must_equal("its infinite element", std::real(matrix.at(n / 2, n / 2)) == std::numeric_limits<Part<T>>::infinity(), 1);
}

template <class T>
void wrong_arguments(char type) {
  T a[64] = {}, work[8] = {};
  blas_int pivots[8] = {}, info = 77;
  const blas_int good = 4, bad = -1, small = 3;
  const auto refused = [&](const char* name, int expected) {
    char full[8];
    std::snprintf(full, sizeof full, "%c%s", type, name);
    must_refuse_lapack(full, expected, info);
  };
  TESSERA_REFUSED(1, getri, "GETRI", &bad, a, &good, pivots, work, &good);
  TESSERA_REFUSED(3, getri, "GETRI", &good, a, &small, pivots, work, &good);
  TESSERA_REFUSED(6, getri, "GETRI", &good, a, &good, pivots, work, &small);
  TESSERA_REFUSED(1, trtri, "TRTRI", "X", "N", &good, a, &good);
  TESSERA_REFUSED(2, trtri, "TRTRI", "L", "X", &good, a, &good);
  TESSERA_REFUSED(3, trtri, "TRTRI", "L", "N", &bad, a, &good);
  TESSERA_REFUSED(5, trtri, "TRTRI", "L", "N", &good, a, &small);
  TESSERA_REFUSED(5, trti2, "TRTI2", "L", "N", &good, a, &small);
  TESSERA_REFUSED(1, lauum, "LAUUM", "X", &good, a, &good);
  TESSERA_REFUSED(2, lauu2, "LAUU2", "L", &bad, a, &good);
  TESSERA_REFUSED(4, potri, "POTRI", "U", &good, a, &small);
}

template <class T>
void nothing_to_do() {
  T number = untouched_number<T>(), work = 0;
  const blas_int none = 0, one = 1;
  blas_int pivot = 99, info = 77;
  const auto done = [&](const char* what) {
    must_equal(what, info, 0);
    info = 77;
  };
  Lapack<T>::getri(&none, &number, &one, &pivot, &work, &one, &info), done("getri of nothing");
  must_equal("getri's length for nothing", static_cast<Index>(std::real(work)), 1);
  Lapack<T>::trtri("L", "N", &none, &number, &one, &info), done("trtri of nothing");
  Lapack<T>::lauum("L", &none, &number, &one, &info), done("lauum of nothing");
  Lapack<T>::potri("U", &none, &number, &one, &info), done("potri of nothing");
  must_equal("untouched by nothing", number == untouched_number<T>() && pivot == 99, 1);
  const blas_int query = -1, no_float = (1 << 24) + 1; // the answer must not be below it, or getri would refuse it
  Lapack<T>::getri(&no_float, &number, &no_float, &pivot, &work, &query, &info), done("getri's query");
  must_equal("getri's answer is enough", static_cast<Index>(std::real(work)) >= no_float, 1);
}

template <class T>
void check(char type) {
  for (const Index n : {1, 2, 5, 63, 64, 65, 130, 200}) {
    triangles<T>(n);
    inverses<T>(n);
  }
  triangles<T>(540); // more than a segment of complex numbers
  inverses<T>(540);
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
