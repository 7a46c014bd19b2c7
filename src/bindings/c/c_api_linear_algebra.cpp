/// Linear algebra in the C interface.

#include <tessera/linear_algebra/tessera_linear_algebra.h>

#include <algorithm>
#include <complex>
#include <limits>
#include <span>

#include <tessera/linear_algebra/cholesky.hpp>
#include <tessera/linear_algebra/qr.hpp>
#include <tessera/linear_algebra/solve.hpp>
#include <tessera/linear_algebra/syrk.hpp>

#include "c_api_linear_algebra.hpp"

using namespace tessera;
using namespace tessera::c_api;

SolveOptions tessera::c_api::solve_options_of(const tessera_options* words, DType type, bool refine) {
  expect_plain(words, type, "linear algebra has results of the operands' type");
  const GemmOptions options = options_of(words);
  if (options.math != Math::Strict && !refine)
    throw InvalidArgument("options.math = " + std::string(to_string(options.math)) +
                          ", but linear algebra is computed with strict products alone, unless it is refined");
  if (!options.kernel.empty())
    throw InvalidArgument("options.kernel is '" + std::string(options.kernel) +
                          "', but linear algebra chooses the kernels of its products itself");
  return {.backend = options.backend, .threads = options.threads, .refine = refine, .math = options.math};
}

DType tessera::c_api::linear_algebra_type(tessera_dtype part) {
  const DType type = checked_type(part, "type");
  if (type != DType::F32 && type != DType::F64)
    throw InvalidArgument("type = " + std::string(to_string(type)) + ", but linear algebra is computed in f32 and f64");
  return type;
}

namespace {

/// A rectangle of the caller's memory.
struct Rectangle {
  const char* name;
  Index rows, cols;
  void* data;
  Index ld;

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
    return MatrixView<const T>::wrap(static_cast<const T*>(data), rows, cols, ld);
  }
};

Rectangle operand(const char* name, Index rows, Index cols, const void* data, Index ld) {
  return {name, rows, cols, const_cast<void*>(data), ld};
}

template <class T>
void store(const Matrix<T>& from, const Rectangle& to) {
  for (Index i = 0; i < from.rows(); ++i)
    std::copy(from.row(i).begin(), from.row(i).end(), static_cast<T*>(to.data) + i * to.ld);
}

/// Checks the type, the options and the rectangles, and calls work(type, options).
template <class Work>
tessera_status run_checked(NumberWord word, const tessera_options* words, std::initializer_list<Rectangle> all,
                           const Work& work) {
  return guarded([&] {
    const DType type = linear_algebra_type(word.part);
    const SolveOptions options = solve_options_of(words, type);
    for (const Rectangle& one : all) one.check(tessera::detail::NumberType(type, word.is_complex).bytes());
    work(type, options);
  });
}

/// Calls work(T(), options) for the type of real elements.
template <class Work>
tessera_status run_real(tessera_dtype type_word, const tessera_options* words, std::initializer_list<Rectangle> all,
                        const Work& work) {
  return run_checked({type_word}, words, all, [&](DType type, const SolveOptions& options) {
    type == DType::F32 ? work(float(), options) : work(double(), options);
  });
}
/// Calls it for the type of any elements.
template <class Work>
tessera_status run(NumberWord word, const tessera_options* words, std::initializer_list<Rectangle> all,
                   const Work& work) {
  if (!word.is_complex) return run_real(word.part, words, all, work);
  return run_checked(word, words, all, [&](DType type, const SolveOptions& options) {
    type == DType::F32 ? work(std::complex<float>(), options) : work(std::complex<double>(), options);
  });
}

Triangle triangle_of(tessera_triangle triangle) { return c_api::checked(triangle, Triangle::Upper, "triangle"); }

tessera_status solve_of(NumberWord type, int64_t n, int64_t count, const void* a, int64_t lda, const void* b,
                        int64_t ldb, void* x, int64_t ldx, const tessera_options* options) {
  const Rectangle matrix = operand("a", n, n, a, lda), right = operand("b", n, count, b, ldb),
                  result{"x", n, count, x, ldx};
  return run(type, options, {matrix, right, result}, [&]<class T>(T, const SolveOptions& choices) {
    store(solve(matrix.view<T>(), right.view<T>(), choices), result);
  });
}

/// T is double, or complex numbers of it.
template <class T>
tessera_status solve_refined_of(int64_t n, int64_t count, const void* a, int64_t lda, const void* b, int64_t ldb,
                                void* x, int64_t ldx, const tessera_options* words) {
  return guarded([&] {
    const SolveOptions options = solve_options_of(words, DType::F64, true);
    const Rectangle matrix = operand("a", n, n, a, lda), right = operand("b", n, count, b, ldb),
                    result{"x", n, count, x, ldx};
    for (const Rectangle& one : {matrix, right, result}) one.check(sizeof(T));
    store(solve(matrix.view<T>(), right.view<T>(), options), result);
  });
}

tessera_status solve_positive_of(NumberWord type, tessera_triangle triangle, int64_t n, int64_t count, const void* a,
                                 int64_t lda, const void* b, int64_t ldb, void* x, int64_t ldx,
                                 const tessera_options* options) {
  const Rectangle matrix = operand("a", n, n, a, lda), right = operand("b", n, count, b, ldb),
                  result{"x", n, count, x, ldx};
  return run(type, options, {matrix, right, result}, [&]<class T>(T, const SolveOptions& choices) {
    store(Cholesky<T>(matrix.view<T>(), triangle_of(triangle), choices).solve(right.view<T>()), result);
  });
}

tessera_status triangular_solve_of(NumberWord type, tessera_side side, tessera_triangle triangle,
                                   tessera_diagonal diagonal, int64_t n, int64_t count, const void* t, int64_t ldt,
                                   const void* b, int64_t ldb, void* x, int64_t ldx, const tessera_options* options) {
  const bool is_left = side == TESSERA_ON_THE_LEFT;
  const int64_t rows = is_left ? n : count, cols = is_left ? count : n;
  const Rectangle matrix = operand("t", n, n, t, ldt), right = operand("b", rows, cols, b, ldb),
                  result{"x", rows, cols, x, ldx};
  return run(type, options, {matrix, right, result}, [&]<class T>(T, const SolveOptions& choices) {
    store(triangular_solve(triangle_of(triangle), matrix.view<T>(), right.view<T>(),
                           c_api::checked(side, Side::Right, "side"),
                           c_api::checked(diagonal, Diagonal::Unit, "diagonal"), choices),
          result);
  });
}

tessera_status inverse_of(NumberWord type, int64_t n, const void* a, int64_t lda, void* x, int64_t ldx,
                          const tessera_options* options) {
  const Rectangle matrix = operand("a", n, n, a, lda), result{"x", n, n, x, ldx};
  return run(type, options, {matrix, result},
             [&]<class T>(T, const SolveOptions& choices) { store(inverse(matrix.view<T>(), choices), result); });
}

tessera_status cholesky_of(NumberWord type, tessera_triangle triangle, int64_t n, const void* a, int64_t lda, void* l,
                           int64_t ldl, const tessera_options* options) {
  const Rectangle matrix = operand("a", n, n, a, lda), result{"l", n, n, l, ldl};
  return run(type, options, {matrix, result}, [&]<class T>(T, const SolveOptions& choices) {
    store(Cholesky<T>(matrix.view<T>(), triangle_of(triangle), choices).l(), result);
  });
}

tessera_status lu_of(NumberWord type, int64_t m, int64_t n, const void* a, int64_t lda, void* lu, int64_t ldlu,
                     int64_t* pivots, const tessera_options* options) {
  const Rectangle matrix = operand("a", m, n, a, lda), result{"lu", m, n, lu, ldlu};
  return run(type, options, {matrix, result}, [&]<class T>(T, const SolveOptions& choices) {
    if (pivots == nullptr && std::min(m, n) > 0)
      throw InvalidArgument("pivots is null; pass the address of " + std::to_string(std::min(m, n)) + " numbers");
    const Lu<T> factors(matrix.view<T>(), choices);
    store(factors.packed(), result);
    std::ranges::copy(factors.pivots(), pivots);
  });
}

tessera_status condition_of(NumberWord type, int64_t n, const void* a, int64_t lda, double* condition,
                            const tessera_options* options) {
  const Rectangle matrix = operand("a", n, n, a, lda);
  return run(type, options, {matrix}, [&]<class T>(T, const SolveOptions& choices) {
    if (condition == nullptr) throw InvalidArgument("condition is null; pass the address of a double");
    *condition = Lu<T>(matrix.view<T>(), choices).condition();
  });
}

tessera_status qr_of(NumberWord type, int64_t m, int64_t n, const void* a, int64_t lda, void* q, int64_t ldq, void* r,
                     int64_t ldr, const tessera_options* options) {
  const int64_t least = std::min(m, n), cols_of_q = q == nullptr ? 0 : least;
  const Rectangle matrix = operand("a", m, n, a, lda), orthogonal{"q", m, cols_of_q, q, ldq},
                  triangle{"r", least, n, r, ldr};
  return run(type, options, {matrix, orthogonal, triangle}, [&]<class T>(T, const SolveOptions& choices) {
    const Qr<T> factors(matrix.view<T>(), choices);
    const Matrix<T> upper = factors.r();
    if (q != nullptr) store(factors.q(), orthogonal);
    store(upper, triangle);
  });
}

tessera_status least_squares_of(NumberWord type, int64_t m, int64_t n, int64_t count, const void* a, int64_t lda,
                                const void* b, int64_t ldb, void* x, int64_t ldx, const tessera_options* options) {
  const Rectangle matrix = operand("a", m, n, a, lda), right = operand("b", m, count, b, ldb),
                  result{"x", n, count, x, ldx};
  return run(type, options, {matrix, right, result}, [&]<class T>(T, const SolveOptions& choices) {
    store(least_squares(matrix.view<T>(), right.view<T>(), choices), result);
  });
}

} // namespace

tessera_status tessera_solve(tessera_dtype type, int64_t n, int64_t count, const void* a, int64_t lda, const void* b,
                             int64_t ldb, void* x, int64_t ldx, const tessera_options* options) {
  return solve_of({type}, n, count, a, lda, b, ldb, x, ldx, options);
}
tessera_status tessera_solve_complex(tessera_dtype type, int64_t n, int64_t count, const void* a, int64_t lda,
                                     const void* b, int64_t ldb, void* x, int64_t ldx, const tessera_options* options) {
  return solve_of({type, true}, n, count, a, lda, b, ldb, x, ldx, options);
}

tessera_status tessera_solve_positive(tessera_dtype type, tessera_triangle triangle, int64_t n, int64_t count,
                                      const void* a, int64_t lda, const void* b, int64_t ldb, void* x, int64_t ldx,
                                      const tessera_options* options) {
  return solve_positive_of({type}, triangle, n, count, a, lda, b, ldb, x, ldx, options);
}
tessera_status tessera_solve_positive_complex(tessera_dtype type, tessera_triangle triangle, int64_t n, int64_t count,
                                              const void* a, int64_t lda, const void* b, int64_t ldb, void* x,
                                              int64_t ldx, const tessera_options* options) {
  return solve_positive_of({type, true}, triangle, n, count, a, lda, b, ldb, x, ldx, options);
}

tessera_status tessera_triangular_solve(tessera_dtype type, tessera_side side, tessera_triangle triangle,
                                        tessera_diagonal diagonal, int64_t n, int64_t count, const void* t, int64_t ldt,
                                        const void* b, int64_t ldb, void* x, int64_t ldx,
                                        const tessera_options* options) {
  return triangular_solve_of({type}, side, triangle, diagonal, n, count, t, ldt, b, ldb, x, ldx, options);
}
tessera_status tessera_triangular_solve_complex(tessera_dtype type, tessera_side side, tessera_triangle triangle,
                                                tessera_diagonal diagonal, int64_t n, int64_t count, const void* t,
                                                int64_t ldt, const void* b, int64_t ldb, void* x, int64_t ldx,
                                                const tessera_options* options) {
  return triangular_solve_of({type, true}, side, triangle, diagonal, n, count, t, ldt, b, ldb, x, ldx, options);
}

tessera_status tessera_inverse(tessera_dtype type, int64_t n, const void* a, int64_t lda, void* x, int64_t ldx,
                               const tessera_options* options) {
  return inverse_of({type}, n, a, lda, x, ldx, options);
}
tessera_status tessera_inverse_complex(tessera_dtype type, int64_t n, const void* a, int64_t lda, void* x, int64_t ldx,
                                       const tessera_options* options) {
  return inverse_of({type, true}, n, a, lda, x, ldx, options);
}

tessera_status tessera_cholesky(tessera_dtype type, tessera_triangle triangle, int64_t n, const void* a, int64_t lda,
                                void* l, int64_t ldl, const tessera_options* options) {
  return cholesky_of({type}, triangle, n, a, lda, l, ldl, options);
}
tessera_status tessera_cholesky_complex(tessera_dtype type, tessera_triangle triangle, int64_t n, const void* a,
                                        int64_t lda, void* l, int64_t ldl, const tessera_options* options) {
  return cholesky_of({type, true}, triangle, n, a, lda, l, ldl, options);
}

tessera_status tessera_lu(tessera_dtype type, int64_t m, int64_t n, const void* a, int64_t lda, void* lu, int64_t ldlu,
                          int64_t* pivots, const tessera_options* options) {
  return lu_of({type}, m, n, a, lda, lu, ldlu, pivots, options);
}
tessera_status tessera_lu_complex(tessera_dtype type, int64_t m, int64_t n, const void* a, int64_t lda, void* lu,
                                  int64_t ldlu, int64_t* pivots, const tessera_options* options) {
  return lu_of({type, true}, m, n, a, lda, lu, ldlu, pivots, options);
}

tessera_status tessera_qr(tessera_dtype type, int64_t m, int64_t n, const void* a, int64_t lda, void* q, int64_t ldq,
                          void* r, int64_t ldr, const tessera_options* options) {
  return qr_of({type}, m, n, a, lda, q, ldq, r, ldr, options);
}
tessera_status tessera_qr_complex(tessera_dtype type, int64_t m, int64_t n, const void* a, int64_t lda, void* q,
                                  int64_t ldq, void* r, int64_t ldr, const tessera_options* options) {
  return qr_of({type, true}, m, n, a, lda, q, ldq, r, ldr, options);
}

tessera_status tessera_least_squares(tessera_dtype type, int64_t m, int64_t n, int64_t count, const void* a,
                                     int64_t lda, const void* b, int64_t ldb, void* x, int64_t ldx,
                                     const tessera_options* options) {
  return least_squares_of({type}, m, n, count, a, lda, b, ldb, x, ldx, options);
}
tessera_status tessera_least_squares_complex(tessera_dtype type, int64_t m, int64_t n, int64_t count, const void* a,
                                             int64_t lda, const void* b, int64_t ldb, void* x, int64_t ldx,
                                             const tessera_options* options) {
  return least_squares_of({type, true}, m, n, count, a, lda, b, ldb, x, ldx, options);
}

tessera_status tessera_condition(tessera_dtype type, int64_t n, const void* a, int64_t lda, double* condition,
                                 const tessera_options* options) {
  return condition_of({type}, n, a, lda, condition, options);
}
tessera_status tessera_condition_complex(tessera_dtype type, int64_t n, const void* a, int64_t lda, double* condition,
                                         const tessera_options* options) {
  return condition_of({type, true}, n, a, lda, condition, options);
}

tessera_status tessera_solve_refined(int64_t n, int64_t count, const double* a, int64_t lda, const double* b,
                                     int64_t ldb, double* x, int64_t ldx, const tessera_options* options) {
  return solve_refined_of<double>(n, count, a, lda, b, ldb, x, ldx, options);
}
tessera_status tessera_solve_refined_complex(int64_t n, int64_t count, const void* a, int64_t lda, const void* b,
                                             int64_t ldb, void* x, int64_t ldx, const tessera_options* options) {
  return solve_refined_of<std::complex<double>>(n, count, a, lda, b, ldb, x, ldx, options);
}

tessera_status tessera_syrk(tessera_dtype type, tessera_triangle triangle, tessera_op op, int64_t n, int64_t k,
                            double alpha, const void* a, int64_t lda, double beta, void* c, int64_t ldc,
                            const tessera_options* options) {
  return run_real(type, options, {}, [&]<class T>(T, const SolveOptions& choices) {
    syrk(triangle_of(triangle), c_api::checked(op, "op"), n, k, static_cast<T>(as_scalar(alpha, dtype_of<T>)),
         static_cast<const T*>(a), lda, static_cast<T>(as_scalar(beta, dtype_of<T>)), static_cast<T*>(c), ldc, choices);
  });
}
