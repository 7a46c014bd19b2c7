/// trsm, syrk and gemv of the drop-in: their results have the bits of the C++ interface, in either layout, memory
/// outside them stays as it was, and handlers hear of wrong arguments. Exit status: failed checks.

#include "systems.hpp"

#define TESSERA_DECLARE(T, s)                                                                                          \
  void NAME(s##trsm_)(const char*, const char*, const char*, const char*, const blas_int*, const blas_int*, const T*,  \
                      const T*, const blas_int*, T*, const blas_int*);                                                 \
  void NAME(cblas_##s##trsm)(int, int, int, int, int, blas_int, blas_int, T, const T*, blas_int, T*, blas_int);        \
  void NAME(s##syrk_)(const char*, const char*, const blas_int*, const blas_int*, const T*, const T*, const blas_int*, \
                      const T*, T*, const blas_int*);                                                                  \
  void NAME(cblas_##s##syrk)(int, int, int, blas_int, blas_int, T, const T*, blas_int, T, T*, blas_int);               \
  void NAME(s##gemv_)(const char*, const blas_int*, const blas_int*, const T*, const T*, const blas_int*, const T*,    \
                      const blas_int*, const T*, T*, const blas_int*);                                                 \
  void NAME(cblas_##s##gemv)(int, int, blas_int, blas_int, T, const T*, blas_int, const T*, blas_int, T, T*, blas_int);
extern "C" {
TESSERA_DECLARE(float, s)
TESSERA_DECLARE(double, d)
}

namespace tessera::test {
namespace {

enum { upper = 121, lower = 122, non_unit = 131, unit = 132, left_side = 141, right_side = 142 };

/// The routines of a type.
template <class T>
struct Blas;
#define TESSERA_ROUTINES(T, s)                                 \
  template <>                                                  \
  struct Blas<T> {                                             \
    static constexpr auto trsm = &NAME(s##trsm_);              \
    static constexpr auto cblas_trsm = &NAME(cblas_##s##trsm); \
    static constexpr auto syrk = &NAME(s##syrk_);              \
    static constexpr auto cblas_syrk = &NAME(cblas_##s##syrk); \
    static constexpr auto gemv = &NAME(s##gemv_);              \
    static constexpr auto cblas_gemv = &NAME(cblas_##s##gemv); \
  };
TESSERA_ROUTINES(float, s)
TESSERA_ROUTINES(double, d)

constexpr const char* letters = "NTC"; // from no_trans on

blas_int integer(Index value) { return static_cast<blas_int>(value); }

/// op(A) as a matrix.
template <class T>
Matrix<T> apply(int op, const Matrix<T>& a) {
  return op == no_trans ? Matrix<T>(a.view()) : Matrix<T>(a.transposed());
}

template <class T>
Matrix<T> scaled(T alpha, const Matrix<T>& b) {
  Matrix<T> result(b.view());
  for (Index i = 0; i < b.rows(); ++i)
    for (Index j = 0; j < b.cols(); ++j) result(i, j) = alpha == 0 ? T(0) : alpha * b(i, j);
  return result;
}

/// All forms of a system with B m×n; the row-major memory of a matrix is the column-major one of its transpose.
template <class T>
void systems(Index m, Index n, T alpha) {
  const auto b = Matrix<T>::random(m, n, Seed{1});
  for (const bool left : {true, false}) {
    const Index order = left ? m : n;
    auto a = Matrix<T>::random(order, order, Seed{2});
    for (Index i = 0; i < order; ++i) a(i, i) += static_cast<T>(order);
    for (const bool low : {true, false})
      for (int op = no_trans; op <= conj_trans; ++op)
        for (const bool ones : {true, false}) {
          const auto in = [&](Index i, Index j) { return (low ? i >= j : i <= j) && !(ones && i == j); };
          const Matrix<T> expected =
              alpha == 0 ? Matrix<T>(m, n)
                         : triangular_solve(low == (op == no_trans) ? Triangle::Lower : Triangle::Upper, apply(op, a),
                                            scaled(alpha, b), left ? Side::Left : Side::Right,
                                            ones ? Diagonal::Unit : Diagonal::Stored);
          Columns<T> t(a, in), x(b);
          const blas_int rows = integer(m), cols = integer(n);
          Blas<T>::trsm(left ? "L" : "r", low ? "l" : "U", letters + (op - no_trans), ones ? "u" : "N", &rows, &cols,
                        &alpha, t.data(), t.ld(), x.data(), x.ld());
          must_be("trsm", x, expected);
          const auto call = [&](int layout, Columns<T>& triangle, Columns<T>& result) {
            Blas<T>::cblas_trsm(layout, left ? left_side : right_side, low ? lower : upper, op, ones ? unit : non_unit,
                                rows, cols, alpha, triangle.data(), *triangle.ld(), result.data(), *result.ld());
          };
          Columns<T> y(b);
          call(col_major, t, y);
          must_be("cblas_trsm by columns", y, expected);
          Columns<T> turned(Matrix<T>(a.transposed()), [&](Index i, Index j) { return in(j, i); });
          Columns<T> z(Matrix<T>(b.transposed()));
          call(row_major, turned, z);
          must_be("cblas_trsm by rows", z, Matrix<T>(expected.transposed()));
        }
  }
}

template <class T>
void symmetric_products(Index n, Index k, T alpha, T beta) {
  const auto before = Matrix<T>::random(n, n, Seed{3});
  for (int op = no_trans; op <= conj_trans; ++op) {
    const bool straight = op == no_trans;
    const auto a = straight ? Matrix<T>::random(n, k, Seed{4}) : Matrix<T>::random(k, n, Seed{4});
    Matrix<T> expected(before.view());
    const Matrix<T> factor = apply(op, a);
    gemm(alpha, factor, factor.transposed(), beta, expected);
    for (const bool low : {true, false}) {
      const auto in = low ? in_lower : in_upper;
      Columns<T> operand(a), c(before, in), d(before, in);
      const blas_int order = integer(n), depth = integer(k);
      Blas<T>::syrk(low ? "L" : "u", letters + (op - no_trans), &order, &depth, &alpha, operand.data(), operand.ld(),
                    &beta, c.data(), c.ld());
      must_be("syrk", c, expected, in);
      Blas<T>::cblas_syrk(col_major, low ? lower : upper, op, order, depth, alpha, operand.data(), *operand.ld(), beta,
                          d.data(), *d.ld());
      must_be("cblas_syrk by columns", d, expected, in);
      // A row-major C lies in memory as a column-major Cᵀ does.
      const auto other = low ? in_upper : in_lower;
      Columns<T> by_rows(Matrix<T>(a.transposed())), e(Matrix<T>(before.transposed()), other);
      Blas<T>::cblas_syrk(row_major, low ? lower : upper, op, order, depth, alpha, by_rows.data(), *by_rows.ld(), beta,
                          e.data(), *e.ld());
      must_be("cblas_syrk by rows", e, Matrix<T>(expected.transposed()), other);
    }
  }
}

/// A vector in memory with gaps, from its last element on where the step is negative.
template <class T>
struct Spread {
  Spread(const Matrix<T>& column, Index by) : size(column.rows()), step(by) {
    values.assign(static_cast<std::size_t>(size * std::abs(by) + 1), T(untouched));
    for (Index i = 0; i < size; ++i) at(i) = column(i, 0);
  }
  T& at(Index i) { return values[static_cast<std::size_t>((step < 0 ? size - 1 - i : i) * std::abs(step))]; }
  void must_be(const char* what, const Matrix<T>& expected) {
    Index gaps = 0;
    for (const T value : values) gaps += value == T(untouched);
    must_equal("gaps of a vector", gaps, static_cast<Index>(values.size()) - size);
    for (Index i = 0; i < size; ++i)
      if (!same_bits(at(i), expected(i, 0))) {
        std::fprintf(stderr, "%s, step %d: element %d is %.17g, not %.17g\n", what, static_cast<int>(step),
                     static_cast<int>(i), static_cast<double>(at(i)), static_cast<double>(expected(i, 0)));
        ++failures;
        return;
      }
  }

  Index size, step;
  std::vector<T> values;
};

template <class T>
void vectors(Index m, Index n, T alpha, T beta) {
  const auto a = Matrix<T>::random(m, n, Seed{5});
  const Matrix<T> turned(a.transposed());
  for (int op = no_trans; op <= conj_trans; ++op) {
    const Matrix<T> matrix = apply(op, a);
    const auto x = Matrix<T>::random(matrix.cols(), 1, Seed{6}), before = Matrix<T>::random(matrix.rows(), 1, Seed{7});
    Matrix<T> expected(before.view());
    gemm(alpha, matrix, x, beta, expected);
    for (const Index step_x : {1, 3, -1, -2})
      for (const Index step_y : {1, 2, -1, -3}) {
        const blas_int rows = integer(m), cols = integer(n), incx = integer(step_x), incy = integer(step_y);
        Columns<T> by_columns(a), by_rows(turned);
        Spread<T> from(x, step_x), y(before, step_y), z(before, step_y), w(before, step_y);
        Blas<T>::gemv(letters + (op - no_trans), &rows, &cols, &alpha, by_columns.data(), by_columns.ld(),
                      from.values.data(), &incx, &beta, y.values.data(), &incy);
        y.must_be("gemv", expected);
        Blas<T>::cblas_gemv(col_major, op, rows, cols, alpha, by_columns.data(), *by_columns.ld(), from.values.data(),
                            incx, beta, z.values.data(), incy);
        z.must_be("cblas_gemv by columns", expected);
        Blas<T>::cblas_gemv(row_major, op, rows, cols, alpha, by_rows.data(), *by_rows.ld(), from.values.data(), incx,
                            beta, w.values.data(), incy);
        w.must_be("cblas_gemv by rows", expected);
      }
  }
}

template <class T>
void wrong_arguments(char type) {
  const T a[64] = {}, one = 1;
  T b[64] = {};
  const blas_int good = 4, bad = -1, small = 3, none = 0;
  const auto refused = [&](int expected, const char* format, char letter) {
    char name[16];
    std::snprintf(name, sizeof name, format, letter);
    must_refuse(name, expected);
  };
  const auto fortran = [&](int expected, const char* format) { refused(expected, format, type); };
  const auto c = [&](int expected, const char* format) {
    refused(expected, format, static_cast<char>(type - 'A' + 'a'));
  };
#define TESSERA_TRSM(position, ...) Blas<T>::trsm(__VA_ARGS__), fortran(position, "%cTRSM ")
  TESSERA_TRSM(1, "X", "L", "N", "N", &good, &good, &one, a, &good, b, &good);
  TESSERA_TRSM(2, "L", "X", "N", "N", &good, &good, &one, a, &good, b, &good);
  TESSERA_TRSM(3, "L", "L", "X", "N", &good, &good, &one, a, &good, b, &good);
  TESSERA_TRSM(4, "L", "L", "N", "X", &good, &good, &one, a, &good, b, &good);
  TESSERA_TRSM(5, "L", "L", "N", "N", &bad, &good, &one, a, &good, b, &good);
  TESSERA_TRSM(6, "L", "L", "N", "N", &good, &bad, &one, a, &good, b, &good);
  TESSERA_TRSM(9, "L", "L", "N", "N", &good, &small, &one, a, &small, b, &good);
  TESSERA_TRSM(9, "R", "L", "N", "N", &small, &good, &one, a, &small, b, &good);
  TESSERA_TRSM(11, "R", "L", "N", "N", &good, &small, &one, a, &good, b, &small);
#define TESSERA_CTRSM(position, ...) Blas<T>::cblas_trsm(__VA_ARGS__), c(position, "cblas_%ctrsm")
  TESSERA_CTRSM(1, 99, left_side, lower, no_trans, unit, 4, 4, one, a, 4, b, 4);
  TESSERA_CTRSM(2, row_major, 99, lower, no_trans, unit, 4, 4, one, a, 4, b, 4);
  TESSERA_CTRSM(3, row_major, left_side, 99, no_trans, unit, 4, 4, one, a, 4, b, 4);
  TESSERA_CTRSM(4, row_major, left_side, lower, 99, unit, 4, 4, one, a, 4, b, 4);
  TESSERA_CTRSM(5, row_major, left_side, lower, no_trans, 99, 4, 4, one, a, 4, b, 4);
  TESSERA_CTRSM(6, col_major, left_side, lower, no_trans, unit, -1, 4, one, a, 4, b, 4);
  TESSERA_CTRSM(7, row_major, left_side, lower, no_trans, unit, -1, 4, one, a, 4, b, 4); // as netlib's CBLAS counts
  TESSERA_CTRSM(6, row_major, left_side, lower, no_trans, unit, 4, -1, one, a, 4, b, 4);
  TESSERA_CTRSM(10, row_major, left_side, lower, no_trans, unit, 4, 2, one, a, 3, b, 4);
  TESSERA_CTRSM(12, row_major, left_side, lower, no_trans, unit, 2, 4, one, a, 4, b, 3);
#define TESSERA_SYRK(position, ...) Blas<T>::syrk(__VA_ARGS__), fortran(position, "%cSYRK ")
  TESSERA_SYRK(1, "X", "N", &good, &good, &one, a, &good, &one, b, &good);
  TESSERA_SYRK(2, "L", "X", &good, &good, &one, a, &good, &one, b, &good);
  TESSERA_SYRK(3, "L", "N", &bad, &good, &one, a, &good, &one, b, &good);
  TESSERA_SYRK(4, "L", "N", &good, &bad, &one, a, &good, &one, b, &good);
  TESSERA_SYRK(7, "L", "N", &good, &small, &one, a, &small, &one, b, &good);
  TESSERA_SYRK(7, "L", "T", &small, &good, &one, a, &small, &one, b, &good);
  TESSERA_SYRK(10, "L", "T", &good, &small, &one, a, &good, &one, b, &small);
#define TESSERA_CSYRK(position, ...) Blas<T>::cblas_syrk(__VA_ARGS__), c(position, "cblas_%csyrk")
  TESSERA_CSYRK(1, 99, lower, no_trans, 4, 4, one, a, 4, one, b, 4);
  TESSERA_CSYRK(2, row_major, 99, no_trans, 4, 4, one, a, 4, one, b, 4);
  TESSERA_CSYRK(3, row_major, lower, 99, 4, 4, one, a, 4, one, b, 4);
  TESSERA_CSYRK(4, row_major, lower, no_trans, -1, 4, one, a, 4, one, b, 4);
  TESSERA_CSYRK(8, row_major, lower, no_trans, 2, 4, one, a, 3, one, b, 4);
  TESSERA_CSYRK(8, col_major, lower, no_trans, 4, 2, one, a, 3, one, b, 4);
  TESSERA_CSYRK(11, col_major, lower, no_trans, 4, 2, one, a, 4, one, b, 3);
#define TESSERA_GEMV(position, ...) Blas<T>::gemv(__VA_ARGS__), fortran(position, "%cGEMV ")
  TESSERA_GEMV(1, "X", &good, &good, &one, a, &good, a, &good, &one, b, &good);
  TESSERA_GEMV(2, "N", &bad, &good, &one, a, &good, a, &good, &one, b, &good);
  TESSERA_GEMV(3, "N", &good, &bad, &one, a, &good, a, &good, &one, b, &good);
  TESSERA_GEMV(6, "T", &good, &small, &one, a, &small, a, &good, &one, b, &good);
  TESSERA_GEMV(8, "N", &good, &good, &one, a, &good, a, &none, &one, b, &good);
  TESSERA_GEMV(11, "N", &good, &good, &one, a, &good, a, &bad, &one, b, &none);
#define TESSERA_CGEMV(position, ...) Blas<T>::cblas_gemv(__VA_ARGS__), c(position, "cblas_%cgemv")
  TESSERA_CGEMV(1, 99, trans, 4, 4, one, a, 4, a, 1, one, b, 1);
  TESSERA_CGEMV(2, row_major, 99, 4, 4, one, a, 4, a, 1, one, b, 1);
  TESSERA_CGEMV(3, col_major, trans, -1, 4, one, a, 4, a, 1, one, b, 1);
  TESSERA_CGEMV(4, row_major, trans, -1, 4, one, a, 4, a, 1, one, b, 1); // as netlib's CBLAS counts
  TESSERA_CGEMV(3, row_major, trans, 4, -1, one, a, 4, a, 1, one, b, 1);
  TESSERA_CGEMV(7, row_major, trans, 2, 4, one, a, 3, a, 1, one, b, 1);
  TESSERA_CGEMV(9, row_major, trans, 4, 4, one, a, 4, a, 0, one, b, 1);
  TESSERA_CGEMV(12, row_major, trans, 4, 4, one, a, 4, a, 1, one, b, 0);
  for (const T value : b) must_equal("untouched by what was refused", value == 0, 1);
}

/// The standard's quick returns: no rows, and gemv of no columns leaves y as it is.
template <class T>
void nothing_to_do() {
  const T one = 1, zero = 0, a = 3;
  T y = 7;
  const blas_int none = 0, some = 1;
  Blas<T>::gemv("N", &some, &none, &one, &a, &some, &a, &some, &zero, &y, &some);
  must_equal("gemv of no columns", y == 7, 1);
  Blas<T>::trsm("L", "L", "N", "N", &none, &some, &one, &a, &some, &y, &some);
  Blas<T>::syrk("L", "N", &none, &some, &one, &a, &some, &zero, &y, &some);
  must_equal("no rows", y == 7, 1);
  Blas<T>::syrk("L", "N", &some, &none, &one, &a, &some, &zero, &y, &some);
  must_equal("syrk of no columns", y == 0, 1);
}

template <class T>
void check(char type) {
  for (const auto& [m, n] : {std::pair<Index, Index>{1, 1}, {5, 3}, {70, 40}, {130, 65}, {9, 200}}) {
    systems<T>(m, n, T(1));
    systems<T>(m, n, T(-0.7));
    vectors<T>(m, n, T(1), T(0));
    vectors<T>(m, n, T(-0.7), T(1.3));
  }
  systems<T>(6, 4, T(0));
  vectors<T>(3, 2100, T(2), T(1)); // several segments
  for (const auto& [n, k] : {std::pair<Index, Index>{1, 1}, {5, 9}, {64, 3}, {65, 40}, {200, 130}, {70, 2100}}) {
    symmetric_products<T>(n, k, T(1), T(0));
    symmetric_products<T>(n, k, T(-0.7), T(1.3));
  }
  symmetric_products<T>(130, 4, T(0), T(0.5));
  must_equal("calls that were refused", position, 0);
  nothing_to_do<T>();
  wrong_arguments<T>(type);
}

} // namespace
} // namespace tessera::test

int main() {
  tessera::test::check<float>('S');
  tessera::test::check<double>('D');
  return failures == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}
