#pragma once

/// Column-major matrices for the tests of the drop-in's linear algebra, and what they must hold.

#include <bit>
#include <complex>
#include <cstdio>
#include <cstdlib>
#include <limits>
#include <type_traits>
#include <vector>

#include <tessera/linear_algebra/cholesky.hpp>
#include <tessera/linear_algebra/solve.hpp>
#include <tessera/tessera.hpp>

extern "C" {
#include "handlers.h"
}

namespace tessera::test {

/// What memory holds that no routine may touch.
inline constexpr double untouched = 12345.0;

template <class T>
inline constexpr bool is_complex = !std::is_floating_point_v<T>;
/// The type of a number's parts.
template <class T>
using Part = decltype(std::real(T()));

template <class T>
T untouched_number() {
  return T(static_cast<Part<T>>(untouched));
}

/// A column-major matrix whose columns lie apart.
template <class T>
class Columns {
 public:
  Columns(Index rows, Index cols) : rows_(rows), cols_(cols), ld_(static_cast<blas_int>(rows + 3)) {
    values_.assign(static_cast<std::size_t>(ld_ * (cols + 1)), untouched_number<T>());
  }
  /// Copies the elements of `from` for which keep(i, j) is true.
  template <class Keep>
  Columns(const Matrix<T>& from, Keep keep) : Columns(from.rows(), from.cols()) {
    for (Index i = 0; i < rows_; ++i)
      for (Index j = 0; j < cols_; ++j)
        if (keep(i, j)) at(i, j) = from(i, j);
  }
  explicit Columns(const Matrix<T>& from) : Columns(from, [](Index, Index) { return true; }) {}

  T* data() { return values_.data(); }
  const blas_int* ld() const { return &ld_; }
  T& at(Index i, Index j) { return values_[static_cast<std::size_t>(j * ld_ + i)]; }

 private:
  Index rows_, cols_;
  blas_int ld_;
  std::vector<T> values_;
};

inline bool everywhere(Index, Index) { return true; }
inline bool in_lower(Index i, Index j) { return i >= j; }
inline bool in_upper(Index i, Index j) { return i <= j; }

template <class T>
bool same_bits(T x, T y) {
  if constexpr (is_complex<T>) {
    return same_bits(x.real(), y.real()) && same_bits(x.imag(), y.imag());
  } else {
    using Bits = std::conditional_t<sizeof(T) == 4, std::uint32_t, std::uint64_t>;
    return std::bit_cast<Bits>(x) == std::bit_cast<Bits>(y) || (x != x && y != y);
  }
}

/// Counts a failure unless the matrix has the bits of `expected` where in(i, j), and is untouched elsewhere.
template <class T, class In>
void must_be(const char* what, Columns<T>& got, const Matrix<T>& expected, In in) {
  for (Index j = 0; j <= expected.cols(); ++j)
    for (Index i = 0; i < *got.ld(); ++i) {
      const bool inside = j < expected.cols() && i < expected.rows() && in(i, j);
      const T wanted = inside ? expected(i, j) : untouched_number<T>();
      if (same_bits(got.at(i, j), wanted)) continue;
      std::fprintf(stderr, "%s, %s of %d bits: element (%d, %d) is %.17g + %.17gi, not %.17g + %.17gi\n", what,
                   is_complex<T> ? "complex numbers" : "numbers", static_cast<int>(8 * sizeof(T)), static_cast<int>(i),
                   static_cast<int>(j), static_cast<double>(std::real(got.at(i, j))),
                   static_cast<double>(std::imag(got.at(i, j))), static_cast<double>(std::real(wanted)),
                   static_cast<double>(std::imag(wanted)));
      ++failures;
      return;
    }
}
template <class T>
void must_be(const char* what, Columns<T>& got, const Matrix<T>& expected) {
  must_be(what, got, expected, everywhere);
}

inline void must_equal(const char* what, std::int64_t got, std::int64_t expected) {
  if (got == expected) return;
  std::fprintf(stderr, "%s: %ld, not %ld\n", what, static_cast<long>(got), static_cast<long>(expected));
  ++failures;
}

/// Returns X of op(T)·X = B as the column-major routine has it: by rows it is Xᵀ·op(T)ᵀ = Bᵀ. Of real numbers X is
/// triangular_solve's.
template <class T>
Matrix<T> solve_by_columns(Triangle triangle, Op op, Diagonal diagonal, const Matrix<T>& t, const Matrix<T>& b) {
  const Matrix<T> memory(t.transposed());
  Matrix<T> x(b.transposed());
  trsm(Side::Right, triangle == Triangle::Lower ? Triangle::Upper : Triangle::Lower, op, diagonal, b.cols(), b.rows(),
       T(1), memory.data(), memory.ld(), x.data(), x.ld(), {});
  return Matrix<T>(std::as_const(x).transposed());
}

template <class T>
void must_be_same(const char* what, const Matrix<T>& x, const Matrix<T>& y) {
  for (Index i = 0; i < x.rows(); ++i)
    for (Index j = 0; j < x.cols(); ++j) must_equal(what, same_bits(x(i, j), y(i, j)), 1);
}

/// The handler must have heard of this position of this routine, and no more.
inline void must_refuse(const char* name, std::int64_t expected) {
  if (position != expected || strcmp(routine, name) != 0) {
    std::fprintf(stderr, "%s refuses position %ld as '%s' %ld\n", name, static_cast<long>(expected), routine,
                 static_cast<long>(position));
    ++failures;
  }
  position = 0;
  routine[0] = '\0';
}

/// The same of a routine of LAPACK, whose info is minus the position.
inline void must_refuse_lapack(const char* name, std::int64_t expected, blas_int& info) {
  must_refuse(name, expected);
  must_equal(name, info, -expected);
  info = 77;
}
/// Calls a routine of the type T, whose last argument is info, with a wrong argument. `NAME_` has five or six letters.
#define TESSERA_REFUSED(expected, name, NAME_, ...) \
  Lapack<T>::name(__VA_ARGS__, &info);              \
  refused(NAME_, expected)

} // namespace tessera::test
