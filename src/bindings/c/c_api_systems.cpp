/// Linear systems of matrices in the host's memory or an executor's, for the C interface.

#include "c_api_systems.hpp"

#include <algorithm>
#include <complex>
#include <limits>
#include <span>

#include <tessera/interop/executor_memory.hpp>
#include <tessera/linear_algebra/cholesky.hpp>
#include <tessera/linear_algebra/qr.hpp>
#include <tessera/linear_algebra/solve.hpp>

using namespace tessera;
using namespace tessera::c_api;

namespace {

/// A rectangle of the caller's memory.
struct Rectangle {
  const char* name;
  Index rows, cols;
  void* data;
  Index ld;
  Executor* executor = nullptr; ///< whose memory it is; null: the host's

  /// Throws InvalidArgument, which names the argument.
  void check(std::size_t element) const {
    const auto refuse = [&](const std::string& why) { throw InvalidArgument(name + why); };
    const std::string shape = std::to_string(rows) + "×" + std::to_string(cols);
    if (rows < 0 || cols < 0) refuse(" is " + shape + "; sizes must not be negative");
    if (rows == 0 || cols == 0) return;
    if (ld < cols) refuse(": ld = " + std::to_string(ld) + ", and its rows have " + std::to_string(cols) + " elements");
    if (ld > std::numeric_limits<std::ptrdiff_t>::max() / static_cast<Index>(element) / rows)
      refuse(" is too large: " + std::to_string(rows) + " rows of ld = " + std::to_string(ld) +
             " elements overflow the address space");
    if (data == nullptr) refuse(" is null, and has " + shape + " elements");
  }
  template <class T>
  MatrixView<const T> view() const {
    if (rows == 0 || cols == 0) return Matrix<T>(rows, cols).view();
    if (executor != nullptr) return from_executor(*executor, static_cast<const T*>(data), rows, cols, ld).view();
    return MatrixView<const T>::wrap(static_cast<const T*>(data), rows, cols, ld);
  }
};

Rectangle operand(const MatrixMemory& memory, const char* name, Index rows, Index cols, const void* data, Index ld) {
  return {name, rows, cols, const_cast<void*>(data), ld, memory.executor};
}
Rectangle result_in(const MatrixMemory& memory, const char* name, Index rows, Index cols, void* data, Index ld) {
  return {name, rows, cols, data, ld, memory.executor};
}

template <class T>
void store(const Matrix<T>& from, const Rectangle& to) {
  if (to.executor != nullptr) return to_executor(from, *to.executor, static_cast<T*>(to.data), to.ld);
  for (Index i = 0; i < from.rows(); ++i)
    std::copy(from.row(i).begin(), from.row(i).end(), static_cast<T*>(to.data) + i * to.ld);
}

/// Checks the type, the options and the rectangles, and calls work(type, options).
template <class Work>
tessera_status run_checked(const MatrixMemory& memory, NumberWord word, const tessera_options* words,
                           std::initializer_list<Rectangle> all, bool refine, const Work& work) {
  return guarded([&] {
    const DType type = linear_algebra_type(word.part);
    SolveOptions options = solve_options_of(words, type, refine);
    if (memory.executor != nullptr) options.backend = memory.executor->capabilities().backend;
    for (const Rectangle& one : all) one.check(tessera::detail::NumberType(type, word.is_complex).bytes());
    work(type, options);
  });
}

/// Calls work(T(), options) for the type of elements.
template <class Work>
tessera_status run(const MatrixMemory& memory, NumberWord word, const tessera_options* words,
                   std::initializer_list<Rectangle> all, const Work& work, bool refine = false) {
  return run_checked(memory, word, words, all, refine, [&](DType type, const SolveOptions& options) {
    const bool is_narrow = type == DType::F32;
    if (!word.is_complex)
      is_narrow ? work(float(), options) : work(double(), options);
    else
      is_narrow ? work(std::complex<float>(), options) : work(std::complex<double>(), options);
  });
}

/// Returns the inverse, by an identity in the executor's memory where that is not the host's.
template <class T>
Matrix<T> inverse_in(const MatrixMemory& memory, const MatrixView<const T>& a, const SolveOptions& options) {
  if (memory.executor != nullptr) {
    tessera::detail::check_square("inverse", a.rows(), a.cols());
    return solve(a, tessera::detail::identity_on<T>(*memory.executor, a.rows()), options);
  }
  return inverse(a, options);
}

} // namespace

tessera_status c_api::solve_of(const MatrixMemory& memory, NumberWord type, int64_t n, int64_t count, const void* a,
                               int64_t lda, const void* b, int64_t ldb, void* x, int64_t ldx,
                               const tessera_options* options, bool refine) {
  const Rectangle matrix = operand(memory, "a", n, n, a, lda), right = operand(memory, "b", n, count, b, ldb),
                  result = result_in(memory, "x", n, count, x, ldx);
  const auto work = [&]<class T>(T, const SolveOptions& choices) {
    store(solve(matrix.view<T>(), right.view<T>(), choices), result);
  };
  return run(memory, type, options, {matrix, right, result}, work, refine);
}

tessera_status c_api::solve_positive_of(const MatrixMemory& memory, NumberWord type, tessera_triangle triangle,
                                        int64_t n, int64_t count, const void* a, int64_t lda, const void* b,
                                        int64_t ldb, void* x, int64_t ldx, const tessera_options* options) {
  const Rectangle matrix = operand(memory, "a", n, n, a, lda), right = operand(memory, "b", n, count, b, ldb),
                  result = result_in(memory, "x", n, count, x, ldx);
  return run(memory, type, options, {matrix, right, result}, [&]<class T>(T, const SolveOptions& choices) {
    store(Cholesky<T>(matrix.view<T>(), triangle_of(triangle), choices).solve(right.view<T>()), result);
  });
}

tessera_status c_api::triangular_solve_of(const MatrixMemory& memory, NumberWord type, tessera_side side,
                                          tessera_triangle triangle, tessera_diagonal diagonal, int64_t n,
                                          int64_t count, const void* t, int64_t ldt, const void* b, int64_t ldb,
                                          void* x, int64_t ldx, const tessera_options* options) {
  const bool is_left = side == TESSERA_ON_THE_LEFT;
  const int64_t rows = is_left ? n : count, cols = is_left ? count : n;
  const Rectangle matrix = operand(memory, "t", n, n, t, ldt), right = operand(memory, "b", rows, cols, b, ldb),
                  result = result_in(memory, "x", rows, cols, x, ldx);
  return run(memory, type, options, {matrix, right, result}, [&]<class T>(T, const SolveOptions& choices) {
    store(triangular_solve(triangle_of(triangle), matrix.view<T>(), right.view<T>(),
                           c_api::checked(side, Side::Right, "side"),
                           c_api::checked(diagonal, Diagonal::Unit, "diagonal"), choices),
          result);
  });
}

tessera_status c_api::inverse_of(const MatrixMemory& memory, NumberWord type, int64_t n, const void* a, int64_t lda,
                                 void* x, int64_t ldx, const tessera_options* options) {
  const Rectangle matrix = operand(memory, "a", n, n, a, lda), result = result_in(memory, "x", n, n, x, ldx);
  return run(memory, type, options, {matrix, result}, [&]<class T>(T, const SolveOptions& choices) {
    store(inverse_in<T>(memory, matrix.view<T>(), choices), result);
  });
}

tessera_status c_api::cholesky_of(const MatrixMemory& memory, NumberWord type, tessera_triangle triangle, int64_t n,
                                  const void* a, int64_t lda, void* l, int64_t ldl, const tessera_options* options) {
  const Rectangle matrix = operand(memory, "a", n, n, a, lda), result = result_in(memory, "l", n, n, l, ldl);
  return run(memory, type, options, {matrix, result}, [&]<class T>(T, const SolveOptions& choices) {
    store(Cholesky<T>(matrix.view<T>(), triangle_of(triangle), choices).l(), result);
  });
}

tessera_status c_api::lu_of(const MatrixMemory& memory, NumberWord type, int64_t m, int64_t n, const void* a,
                            int64_t lda, void* lu, int64_t ldlu, int64_t* pivots, const tessera_options* options) {
  const Rectangle matrix = operand(memory, "a", m, n, a, lda), result = result_in(memory, "lu", m, n, lu, ldlu);
  return run(memory, type, options, {matrix, result}, [&]<class T>(T, const SolveOptions& choices) {
    if (pivots == nullptr && std::min(m, n) > 0)
      throw InvalidArgument("pivots is null; pass the address of " + std::to_string(std::min(m, n)) + " numbers");
    const Lu<T> factors(matrix.view<T>(), choices);
    store(factors.packed(), result);
    std::ranges::copy(factors.pivots(), pivots);
  });
}

tessera_status c_api::condition_of(const MatrixMemory& memory, NumberWord type, int64_t n, const void* a, int64_t lda,
                                   double* condition, const tessera_options* options) {
  const Rectangle matrix = operand(memory, "a", n, n, a, lda);
  return run(memory, type, options, {matrix}, [&]<class T>(T, const SolveOptions& choices) {
    if (condition == nullptr) throw InvalidArgument("condition is null; pass the address of a double");
    *condition = Lu<T>(matrix.view<T>(), choices).condition();
  });
}

tessera_status c_api::qr_of(const MatrixMemory& memory, NumberWord type, int64_t m, int64_t n, const void* a,
                            int64_t lda, void* q, int64_t ldq, void* r, int64_t ldr, const tessera_options* options) {
  const int64_t least = std::min(m, n), cols_of_q = q == nullptr ? 0 : least;
  const Rectangle matrix = operand(memory, "a", m, n, a, lda),
                  orthogonal = result_in(memory, "q", m, cols_of_q, q, ldq),
                  triangle = result_in(memory, "r", least, n, r, ldr);
  return run(memory, type, options, {matrix, orthogonal, triangle}, [&]<class T>(T, const SolveOptions& choices) {
    const Qr<T> factors(matrix.view<T>(), choices);
    const Matrix<T> upper = factors.r();
    if (q != nullptr) store(factors.q(), orthogonal);
    store(upper, triangle);
  });
}

tessera_status c_api::least_squares_of(const MatrixMemory& memory, NumberWord type, int64_t m, int64_t n, int64_t count,
                                       const void* a, int64_t lda, const void* b, int64_t ldb, void* x, int64_t ldx,
                                       const tessera_options* options) {
  const Rectangle matrix = operand(memory, "a", m, n, a, lda), right = operand(memory, "b", m, count, b, ldb),
                  result = result_in(memory, "x", n, count, x, ldx);
  return run(memory, type, options, {matrix, right, result}, [&]<class T>(T, const SolveOptions& choices) {
    store(least_squares(matrix.view<T>(), right.view<T>(), choices), result);
  });
}
