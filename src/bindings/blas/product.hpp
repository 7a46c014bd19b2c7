#pragma once

/// One product with the BLAS's arguments.

#include <algorithm>
#include <complex>
#include <type_traits>

#include <tessera/complex.hpp>
#include <tessera/detail/floating_point.hpp>
#include <tessera/gemm.hpp>
#include <tessera/gemm_batch.hpp>

#include "caller.hpp"
#include "symbols.hpp"

namespace tessera::blas {

/// How the matrices that the caller passed lie. Calls are row-major; a product of column-major matrices is
/// called as its transpose (column_major()), and messages say what the caller passed.
enum class Order { Rows, Columns };

/// Prints why the routine fails, and ends the process.
[[noreturn]] void abort_with(const char* routine, const char* why) noexcept;

/// Computes a row-major product whose arguments have been checked. Where memory is short, it is computed by a loop that
/// needs none. If it fails otherwise, the function prints the reason and ends the process: the BLAS has no way to
/// report a failure, and the caller would go on with a C that was not computed.
void multiply(const char* routine, const GemmCall& call, Order order) noexcept;
void multiply(const char* routine, const ComplexGemmCall& call, Order order) noexcept;
void multiply(const char* routine, std::span<const GemmBatch> groups, Order order) noexcept;
/// Says once that the routine runs unverified, if TESSERA_VERIFY is set. Ends the process for a wrong word there.
void say_unverified(const char* routine) noexcept;
/// Prints the reason and ends the process if two results of a batch share an element. The groups may be complex ones,
/// whose numbers are two elements side by side.
void expect_results_apart(const char* routine, std::span<const GemmBatch> groups) noexcept;

/// The call and the element type for a type of the BLAS, real or complex.
template <class T>
struct Element {
  using Call = GemmCall;
  static constexpr DType type = dtype_of<T>;
  static constexpr Op conjugate_transpose = Op::Transpose; ///< a real matrix is its own conjugate
};
template <class T>
struct Element<std::complex<T>> {
  using Call = ComplexGemmCall;
  static constexpr DType type = dtype_of<T>;
  static constexpr Op conjugate_transpose = Op::ConjugateTranspose;
};
template <class T>
inline constexpr bool is_complex = std::is_same_v<typename Element<T>::Call, ComplexGemmCall>;
template <class T>
using CallOf = typename Element<T>::Call;

template <class T>
CallOf<T> by_rows(Op op_a, Op op_b, Index m, Index n, Index k, T alpha, const T* a, Index lda, const T* b, Index ldb,
                  T beta, T* c, Index ldc) {
  const auto x = detail::exact_double(alpha), y = detail::exact_double(beta);
  return {{.type = Element<T>::type,
           .op_a = op_a,
           .op_b = op_b,
           .m = m,
           .n = n,
           .k = k,
           .alpha = x,
           .a = a,
           .lda = lda,
           .b = b,
           .ldb = ldb,
           .beta = y,
           .c = c,
           .ldc = ldc}};
}

/// The lengths that the leading dimensions must span: of the columns of column-major operands as they are stored, of
/// the rows of row-major ones.
struct Spans {
  Index a, b, c;
};
/// Returns the position of the first wrong argument as the Fortran routine counts: 0 for none, 3 m, 4 n, 5 k, 8 lda,
/// 10 ldb, 13 ldc.
inline int wrong_argument(const GemmShape& shape, Index lda, Index ldb, Index ldc, const Spans& spans) {
  if (shape.m < 0) return 3;
  if (shape.n < 0) return 4;
  if (shape.k < 0) return 5;
  if (lda < std::max<Index>(1, spans.a)) return 8;
  if (ldb < std::max<Index>(1, spans.b)) return 10;
  if (ldc < std::max<Index>(1, spans.c)) return 13;
  return 0;
}

/// Returns the row-major call of a column-major product: Cᵀ = op(B)ᵀ·op(A)ᵀ, and a column-major matrix is the transpose
/// of a row-major one.
template <class T>
CallOf<T> column_major(Op op_a, Op op_b, Index m, Index n, Index k, T alpha, const T* a, Index lda, const T* b,
                       Index ldb, T beta, T* c, Index ldc) {
  return by_rows(op_b, op_a, n, m, k, alpha, b, ldb, a, lda, beta, c, ldc);
}

} // namespace tessera::blas
