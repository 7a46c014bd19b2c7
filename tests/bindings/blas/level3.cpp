/// Level 3 of the drop-in: each routine, in each type, has the bits of the C++ interface through CBLAS in either layout
/// and through Fortran, and memory outside the result stays as it was. Exit status: failed checks.

#include "level3.hpp"

#include <tessera/linear_algebra/symm.hpp>
#include <tessera/linear_algebra/syrk.hpp>

namespace tessera::test {
namespace {

template <class T>
T value_of(unsigned& state) {
  const auto part = [&] {
    state = state * 1664525u + 1013904223u;
    return static_cast<RealOf<T>>(static_cast<int>(state >> 8) % 2001 - 1000) / 1000;
  };
  if constexpr (is_complex<T>) {
    const RealOf<T> re = part();
    return {re, part()};
  } else {
    return part();
  }
}

/// A row-major matrix, or the column-major one of the transpose, whose lines lie apart.
template <class T>
struct Memory {
  Memory(Index rows, Index cols, unsigned seed) : ld(static_cast<blas_int>(cols + 2)), rows_(rows) {
    values.resize(static_cast<std::size_t>(rows * ld));
    for (T& value : values) value = value_of<T>(seed);
  }
  T* data() { return values.data(); }
  blas_int ld;
  std::vector<T> values;

 private:
  Index rows_;
};

template <class T>
void must_be(const char* what, const Memory<T>& got, const Memory<T>& expected) {
  for (std::size_t i = 0; i < got.values.size(); ++i)
    if (!same_bits(std::real(got.values[i]), std::real(expected.values[i])) ||
        !same_bits(std::imag(got.values[i]), std::imag(expected.values[i]))) {
      std::fprintf(stderr, "%s, %d bytes: element %d differs\n", what, static_cast<int>(sizeof(T)),
                   static_cast<int>(i));
      ++failures;
      return;
    }
}

Triangle other(Triangle triangle) { return triangle == Triangle::Lower ? Triangle::Upper : Triangle::Lower; }
Side other(Side side) { return side == Side::Left ? Side::Right : Side::Left; }
int word(Triangle triangle) { return triangle == Triangle::Lower ? lower : upper; }
int word(Side side) { return side == Side::Left ? left_side : right_side; }
int word(Op op) { return op == Op::None ? no_trans : op == Op::Transpose ? trans : conj_trans; }
int word(Diagonal diagonal) { return diagonal == Diagonal::Unit ? unit : non_unit; }
const char* letter(Triangle triangle) { return triangle == Triangle::Lower ? "L" : "u"; }
const char* letter(Side side) { return side == Side::Left ? "l" : "R"; }
const char* letter(Op op) { return op == Op::None ? "n" : op == Op::Transpose ? "T" : "c"; }
const char* letter(Diagonal diagonal) { return diagonal == Diagonal::Unit ? "U" : "n"; }

constexpr Triangle triangles[] = {Triangle::Lower, Triangle::Upper};
constexpr Side sides[] = {Side::Left, Side::Right};

blas_int integer(Index value) { return static_cast<blas_int>(value); }

template <class T, class Symm, class CblasSymm>
void symmetric(const char* name, bool is_hermitian, Symm* symm, CblasSymm* cblas_symm, Index m, Index n, T alpha,
               T beta) {
  for (const Side side : sides)
    for (const Triangle triangle : triangles) {
      const Index order = side == Side::Left ? m : n;
      Memory<T> a(order, order, 1), b(m, n, 2), c(m, n, 3), by_rows = c, by_columns = c, by_fortran = c;
      detail::symmetric_multiply<T>(
          {is_hermitian, side, triangle, m, n, alpha, a.data(), a.ld, b.data(), b.ld, beta, c.data(), c.ld}, {});
      const blas_int rows = integer(m), cols = integer(n);
      cblas_symm(row_major, word(side), word(triangle), rows, cols, passed(alpha), a.data(), a.ld, b.data(), b.ld,
                 passed(beta), by_rows.data(), c.ld);
      must_be(name, by_rows, c);
      cblas_symm(col_major, word(other(side)), word(other(triangle)), cols, rows, passed(alpha), a.data(), a.ld,
                 b.data(), b.ld, passed(beta), by_columns.data(), c.ld);
      must_be(name, by_columns, c);
      symm(letter(other(side)), letter(other(triangle)), &cols, &rows, &alpha, a.data(), &a.ld, b.data(), &b.ld, &beta,
           by_fortran.data(), &c.ld);
      must_be(name, by_fortran, c);
    }
}

/// `Scalar` is the type of an update's real factors, or T.
template <class T, class Scalar, class RankK, class CblasRankK>
void rank_k(const char* name, RankK* routine, CblasRankK* cblas_routine, Index n, Index k, Scalar alpha, Scalar beta) {
  constexpr bool is_hermitian = !std::is_same_v<T, Scalar>;
  constexpr Op transposed = is_hermitian ? Op::ConjugateTranspose : Op::Transpose;
  for (const Op op : {Op::None, transposed})
    for (const Triangle triangle : triangles) {
      Memory<T> a(op == Op::None ? n : k, op == Op::None ? k : n, 1), c(n, n, 3), by_rows = c, by_columns = c,
                                                                                  by_fortran = c;
      detail::rank_update<T>(
          {is_hermitian, false, triangle, op, n, k, alpha, a.data(), a.ld, nullptr, 1, beta, c.data(), c.ld}, {});
      const blas_int order = integer(n), depth = integer(k);
      cblas_routine(row_major, word(triangle), word(op), order, depth, passed(alpha), a.data(), a.ld, passed(beta),
                    by_rows.data(), c.ld);
      must_be(name, by_rows, c);
      const Op turned = op == Op::None ? transposed : Op::None;
      cblas_routine(col_major, word(other(triangle)), word(turned), order, depth, passed(alpha), a.data(), a.ld,
                    passed(beta), by_columns.data(), c.ld);
      must_be(name, by_columns, c);
      routine(letter(other(triangle)), letter(turned), &order, &depth, &alpha, a.data(), &a.ld, &beta,
              by_fortran.data(), &c.ld);
      must_be(name, by_fortran, c);
    }
}

template <class T, class Scalar, class Rank2K, class CblasRank2K>
void rank_2k(const char* name, Rank2K* routine, CblasRank2K* cblas_routine, Index n, Index k, T alpha, Scalar beta) {
  constexpr bool is_hermitian = !std::is_same_v<T, Scalar>;
  constexpr Op transposed = is_hermitian ? Op::ConjugateTranspose : Op::Transpose;
  for (const Op op : {Op::None, transposed})
    for (const Triangle triangle : triangles) {
      const Index rows = op == Op::None ? n : k, cols = op == Op::None ? k : n;
      Memory<T> a(rows, cols, 1), b(rows, cols, 2), c(n, n, 3), by_rows = c, by_columns = c, by_fortran = c;
      detail::rank_update<T>(
          {is_hermitian, true, triangle, op, n, k, alpha, a.data(), a.ld, b.data(), b.ld, beta, c.data(), c.ld}, {});
      const blas_int order = integer(n), depth = integer(k);
      cblas_routine(row_major, word(triangle), word(op), order, depth, passed(alpha), a.data(), a.ld, b.data(), b.ld,
                    passed(beta), by_rows.data(), c.ld);
      must_be(name, by_rows, c);
      // The transpose of A·Bᵀ is B·Aᵀ, so the two matrices change places.
      const Op turned = op == Op::None ? transposed : Op::None;
      cblas_routine(col_major, word(other(triangle)), word(turned), order, depth, passed(alpha), b.data(), b.ld,
                    a.data(), a.ld, passed(beta), by_columns.data(), c.ld);
      must_be(name, by_columns, c);
      routine(letter(other(triangle)), letter(turned), &order, &depth, &alpha, b.data(), &b.ld, a.data(), &a.ld, &beta,
              by_fortran.data(), &c.ld);
      must_be(name, by_fortran, c);
    }
}

template <class T, class Routine, class CblasRoutine, class Own>
void triangular(const char* name, Routine* routine, CblasRoutine* cblas_routine, Own* own, Index m, Index n, T alpha) {
  for (const Side side : sides)
    for (const Triangle triangle : triangles)
      for (const Op op : {Op::None, Op::Transpose, Op::ConjugateTranspose})
        for (const Diagonal diagonal : {Diagonal::Stored, Diagonal::Unit}) {
          const Index order = side == Side::Left ? m : n;
          Memory<T> t(order, order, 1), b(m, n, 2), by_rows = b, by_columns = b, by_fortran = b;
          for (Index i = 0; i < order; ++i)
            t.values[static_cast<std::size_t>(i * t.ld + i)] += T(static_cast<RealOf<T>>(order));
          own({side, triangle, op, diagonal, order, side == Side::Left ? n : m, alpha, t.data(), t.ld, b.data(), b.ld},
              {}, {});
          const blas_int rows = integer(m), cols = integer(n);
          cblas_routine(row_major, word(side), word(triangle), word(op), word(diagonal), rows, cols, passed(alpha),
                        t.data(), t.ld, by_rows.data(), b.ld);
          must_be(name, by_rows, b);
          cblas_routine(col_major, word(other(side)), word(other(triangle)), word(op), word(diagonal), cols, rows,
                        passed(alpha), t.data(), t.ld, by_columns.data(), b.ld);
          must_be(name, by_columns, b);
          routine(letter(other(side)), letter(other(triangle)), letter(op), letter(diagonal), &cols, &rows, &alpha,
                  t.data(), &t.ld, by_fortran.data(), &b.ld);
          must_be(name, by_fortran, b);
        }
}

template <class T>
void check() {
  using B = Blas<T>;
  unsigned seed = 7;
  for (const auto& [m, n] : {std::pair<Index, Index>{1, 1}, {5, 3}, {70, 40}, {9, 130}})
    for (const bool plain : {true, false}) {
      const T alpha = plain ? T(1) : value_of<T>(seed), beta = plain ? T(0) : value_of<T>(seed);
      symmetric<T>("symm", false, B::symm, B::cblas_symm, m, n, alpha, beta);
      rank_k<T, T>("syrk", B::syrk, B::cblas_syrk, n, m, alpha, beta);
      rank_2k<T, T>("syr2k", B::syr2k, B::cblas_syr2k, n, m, alpha, beta);
      triangular<T>("trmm", B::trmm, B::cblas_trmm, &detail::triangular_multiply<T>, m, n, alpha);
      triangular<T>("trsm", B::trsm, B::cblas_trsm, &detail::triangular_solve<T>, m, n, alpha);
      if constexpr (is_complex<T>) {
        symmetric<T>("hemm", true, B::hemm, B::cblas_hemm, m, n, alpha, beta);
        rank_k<T, RealOf<T>>("herk", B::herk, B::cblas_herk, n, m, alpha.real(), beta.real());
        rank_2k<T, RealOf<T>>("her2k", B::her2k, B::cblas_her2k, n, m, alpha, beta.real());
      }
    }
  must_equal("calls that were refused", position, 0);
}

/// The standard's quick return: an update that adds nothing and scales by 1 leaves even the imaginary parts.
void untouched_diagonals() {
  const std::complex<double> a = {1, 2};
  std::complex<double> c = {3, 4};
  const blas_int one = 1, none = 0;
  const double factor = 1, zero = 0;
  Blas<std::complex<double>>::herk("L", "N", &one, &none, &factor, &a, &one, &factor, &c, &one);
  must_equal("herk that adds nothing", c == std::complex<double>(3, 4), 1);
  Blas<std::complex<double>>::herk("L", "N", &one, &one, &factor, &a, &one, &zero, &c, &one);
  must_equal("herk", c == std::complex<double>(5, 0), 1);
}

} // namespace
} // namespace tessera::test

int main() {
  tessera::test::check<float>();
  tessera::test::check<double>();
  tessera::test::check<std::complex<float>>();
  tessera::test::check<std::complex<double>>();
  tessera::test::untouched_diagonals();
  return failures == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}
