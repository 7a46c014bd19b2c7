#pragma once

/// Linear systems with the arguments of the BLAS and of LAPACK, which are column-major. The memory of a
/// column-major matrix is its transpose by rows, so that its lower triangle is the upper one there, and what stands on
/// the left of X stands on the right.

#include <algorithm>
#include <atomic>
#include <cmath>
#include <complex>
#include <limits>
#include <optional>

#include <tessera/detail/floating_point.hpp>
#include <tessera/linear_algebra/triangular.hpp>

#include "ops.hpp"
#include "xerbla.hpp"

namespace tessera::blas {

/// Parse letters; uplo means the triangle of the column-major matrix.
inline std::optional<Triangle> parse_triangle(char letter) {
  if (letter == 'L' || letter == 'l') return Triangle::Lower;
  if (letter == 'U' || letter == 'u') return Triangle::Upper;
  return std::nullopt;
}
inline std::optional<Diagonal> parse_diagonal(char letter) {
  if (letter == 'N' || letter == 'n') return Diagonal::Stored;
  if (letter == 'U' || letter == 'u') return Diagonal::Unit;
  return std::nullopt;
}
inline std::optional<Side> parse_side(char letter) {
  if (letter == 'L' || letter == 'l') return Side::Left;
  if (letter == 'R' || letter == 'r') return Side::Right;
  return std::nullopt;
}

/// Parses the letter of a routine that knows a matrix and its transpose, or its conjugate transpose if it is complex.
template <class T>
std::optional<Op> parse_turned(char letter) {
  const std::optional<Op> op = parse_op<T>(letter);
  const bool is_conjugate = letter == 'C' || letter == 'c';
  return op == Op::None || is_conjugate == is_complex<T> ? op : std::nullopt;
}
/// Conjugates the numbers of a column-major matrix, if they are complex.
template <class T>
void conjugate_columns([[maybe_unused]] Index rows, [[maybe_unused]] Index cols, [[maybe_unused]] T* a,
                       [[maybe_unused]] Index lda) {
  if constexpr (is_complex<T>)
    for (Index j = 0; j < cols; ++j)
      for (Index i = 0; i < rows; ++i) a[j * lda + i] = std::conj(a[j * lda + i]);
}

/// The triangle's name in the transpose, and the side's.
inline Triangle other(Triangle triangle) { return triangle == Triangle::Lower ? Triangle::Upper : Triangle::Lower; }
inline Side other(Side side) { return side == Side::Left ? Side::Right : Side::Left; }

/// Returns LAPACK's number of the first diagonal element that is 0, or 0.
template <class T>
Index first_zero(Index n, const T* a, Index lda) {
  for (Index i = 0; i < n; ++i)
    if (detail::is_exact_zero(a[i * lda + i])) return i + 1;
  return 0;
}

/// Finds the first wrong argument of a routine of one triangle: uplo, n, a, lda.
inline int wrong_of_triangle(const std::optional<Triangle>& triangle, Index n, Index lda) {
  return !triangle ? 1 : n < 0 ? 2 : lda < std::max<Index>(1, n) ? 4 : 0;
}

/// Sizes for the log.
struct Sizes {
  Index n = 0, count = 0;
};
/// Has the process done what it does before its first call, and does no user want to see calls? Short vectors take less
/// time than the questions one by one.
inline std::atomic<bool> calls_are_quiet = false;
/// Does what begin_routine() does for the first call, and for every call where the user wants to see them.
void begin_loudly(const Routine& routine, Sizes sizes) noexcept;
/// Begins a call: passes over variables that hold no number of threads from now on, and tells the log which routine of
/// this library runs, where the user wants to see it.
inline void begin_routine(const Routine& routine, Sizes sizes) noexcept {
  if (!calls_are_quiet.load(std::memory_order_relaxed)) [[unlikely]]
    begin_loudly(routine, sizes);
}

/// Calls work(options, shortage). If that fails, prints the reason and ends the process: these interfaces report no
/// failures of that kind. A lack of memory is none: slow loops go on without.
template <class Work>
void compute(const Routine& routine, Sizes sizes, const Work& work) noexcept try {
  begin_routine(routine, sizes);
  work(SolveOptions{}, detail::Shortage{routine.word});
} catch (const std::exception& error) {
  abort_with(routine.word, error.what());
}

/// A column-major triangle.
template <class T>
struct ColumnTriangle {
  Triangle triangle;
  Op op;
  Diagonal diagonal;
  Index n;
  const T* data;
  Index ld;
};

/// Returns the row-major call of op(T)·X = B or X·op(T) = B with `count` right-hand sides.
template <class T>
detail::TriangularCall<T> by_columns(Side side, const ColumnTriangle<T>& t, Index count, T* b, Index ldb) {
  return {.side = other(side),
          .triangle = other(t.triangle),
          .op = t.op,
          .diagonal = t.diagonal,
          .n = t.n,
          .count = count,
          .t = t.data,
          .ldt = t.ld,
          .b = b,
          .ldb = ldb};
}

/// Refuses an argument of LAPACK: info is minus its position. A call that has letters has their lengths at its end.
template <class... Arguments>
void refuse_lapack(const Routine& routine, int position, blas_int* info, Arguments... arguments) {
  Integers(routine).set(info, -position);
  if (!hand_on(routine, arguments...)) report_fortran(routine, position);
}
inline constexpr std::size_t letter = 1; ///< the length of a letter

/// Tells the caller in work[0] that the routine takes `length` elements of memory. A float has no more than 24 digits:
/// where it is not the length, it is a greater number, because the routine refuses a smaller one.
template <class T>
void tell_length(T* work, Index length) {
  const detail::ContractArithmetic contract;
  auto told = static_cast<decltype(std::real(T()))>(length);
  constexpr auto most = std::numeric_limits<decltype(told)>::max();
  if (static_cast<double>(told) < static_cast<double>(length)) told = std::nextafter(told, most);
  *work = told;
}

} // namespace tessera::blas
