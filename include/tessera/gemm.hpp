#pragma once

/// The matrix product, C := alpha · op(A) · op(B) + beta · C.
///
///     Matrix c = gemm(a, b);                                   // best backend present
///     Matrix d = gemm(a.transposed(), b, Backend::Tbb);        // this one, or an exception with the reason
///     gemm(2.0f, a, b, 1.0f, c, {.backend = Backend::OpenMP, .kernel = "simd"});
///     Matrix<float> e = gemm<float>(x, y);                     // of Matrix<bf16>: the result not rounded to bf16
///
/// op(A) is m×k, op(B) k×n, C m×n; 2·m·n·k operations. The result is bitwise reproducible: Math::Strict, the default,
/// gives the same bits on every backend, with any number of threads. docs/contract.md has the contract of every mode.
/// Operands that do not fit into a device's memory stay on the host, and C is computed there in blocks, with the same
/// bits; a view of the caller's own memory has the result when the call returns.
///
/// With GemmOptions::verify a product checks itself: DataCorruption says that it is wrong.
///
/// Errors: InvalidArgument (shapes, leading dimensions, null, overflow, C overlapping A or B; the message names the
/// argument and both values), BackendUnavailable, KernelRejected, OutOfMemory, DeviceError. After an error C is
/// unchanged, except that a DeviceError or a DataCorruption leaves it undefined.
///
/// Source: the level 3 BLAS (Dongarra, Du Croz, Hammarling, Duff, 1990); the order of additions is Tessera's own.

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include <tessera/detail/floating_point.hpp>
#include <tessera/matrix.hpp>
#include <tessera/types.hpp>

#include <tessera/detail/macros_off.hpp>

namespace tessera {

/// Whether a product checks its own result, by sums over the rows of C (docs/health.md).
enum class Verify : int {
  None = 0,   ///< it does not
  Detect = 1, ///< a wrong result is thrown as DataCorruption, which names the elements
  Repair = 2, ///< a wrong product is computed again, with the bits of a sound run, and counted (VerifyCounts)
};
inline constexpr Verify last_verify = Verify::Repair; ///< the last of the values

/// Returns "none", "detect" or "repair".
TESSERA_API std::string_view to_string(Verify verify) noexcept;
/// Returns the choice of this word. Throws InvalidArgument for another word.
TESSERA_API Verify parse_verify(std::string_view word);

/// The choices of a caller.
struct GemmOptions {
  Backend backend = Backend::Auto; ///< a backend that is named is used, or the call throws
  Math math = Math::Strict;        ///< how the product may round
  std::string kernel = {};         ///< a kernel of the backend's ladder; empty: the best one that takes the call
  int threads = 0;                 ///< 0: default_threads()
  /// Whether products check their own results. Products and batches in host memory without an epilogue can; whatever
  /// else is asked for is refused with a reason: InvalidArgument, or KernelRejected where another backend could.
  Verify verify = Verify::None;
};

/// What products that verify themselves have found in this process.
struct VerifyCounts {
  std::uint64_t products = 0;          ///< that were verified
  std::uint64_t wrong = 0;             ///< of which the sums did not agree, or an element was wrong
  std::uint64_t repaired = 0;          ///< that were computed again and are right now
  std::uint64_t repaired_rows = 0;     ///< of these, rows that have other bits than before
  std::uint64_t repaired_elements = 0; ///< of these, elements that have other bits than before
};
/// Returns the counts up to now.
TESSERA_API VerifyCounts verify_counts() noexcept;

/// The epilogue of a product of matrices, applied before elements are stored; see epilogue.hpp. C is m×n with elements
/// of R.
template <class R>
struct MatrixEpilogue {
  std::optional<MatrixView<const R>> bias = {};     ///< 1×n: one number for each column; m×1: one for each row
  Activation activation = Activation::None;         ///< the function that is applied after the bias
  std::optional<MatrixView<const R>> residual = {}; ///< m×n
};

namespace detail {
struct EpilogueOperands {
  std::optional<Operand> bias = {};
  Activation activation = Activation::None;
  std::optional<Operand> residual = {};
};
TESSERA_API void gemm(double alpha, const Operand& a, const Operand& b, double beta, const Operand& c,
                      const GemmOptions& options, const EpilogueOperands& epilogue = {});
TESSERA_API void gemm_raw(const GemmCall& call, const GemmOptions& options);
TESSERA_API void check_inner(Index a_rows, Index a_cols, Index b_rows, Index b_cols);
} // namespace detail

/// Returns A·B as a new matrix of R, m×n. It stays on the device that computed it until the host reads it. Operands are
/// matrices or views; transpose them with .transposed().
template <class R, MatrixLike A, MatrixLike B>
requires ResultOf<R, typename A::value_type> Matrix<R> gemm(const A& a, const B& b, const GemmOptions& options) {
  static_assert(std::same_as<typename A::value_type, typename B::value_type>, "gemm: a and b differ in element type");
  detail::check_inner(a.rows(), a.cols(), b.rows(), b.cols());
  auto c = Matrix<R>::uninitialized(a.rows(), b.cols());
  detail::gemm(1.0, a.view().operand(), b.view().operand(), 0.0, c.operand(), options);
  return c;
}
/// Returns A·B as a new matrix of R, computed by this backend with the other options' defaults.
template <class R, MatrixLike A, MatrixLike B>
requires ResultOf<R, typename A::value_type> Matrix<R> gemm(const A& a, const B& b, Backend backend = Backend::Auto) {
  return gemm<R>(a, b, GemmOptions{.backend = backend});
}
/// Returns A·B as a new matrix of the operands' type.
template <MatrixLike A, MatrixLike B>
Matrix<typename A::value_type> gemm(const A& a, const B& b, const GemmOptions& options) {
  return gemm<typename A::value_type>(a, b, options);
}
/// Returns A·B as a new matrix of the operands' type, computed by this backend with the other options' defaults.
template <MatrixLike A, MatrixLike B>
Matrix<typename A::value_type> gemm(const A& a, const B& b, Backend backend = Backend::Auto) {
  return gemm(a, b, GemmOptions{.backend = backend});
}

/// Computes C := alpha·A·B + beta·C for matrices and views; transpose A, B and C with .transposed().
template <MatrixLike A, MatrixLike B, class C>
requires requires(C&& c) { c.writable(); }
void gemm(Scalar<typename A::value_type> alpha, const A& a, const B& b, Scalar<typename A::value_type> beta, C&& c,
          const GemmOptions& options = {}) {
  using R = typename std::remove_cvref_t<C>::value_type;
  static_assert(std::same_as<typename A::value_type, typename B::value_type>, "gemm: a and b differ in element type");
  static_assert(ResultOf<R, typename A::value_type>,
                "gemm: c has the type of a and b, or they have 16 bits and it is float, or the other way round");
  MatrixView<R> target = c.writable();
  detail::gemm(detail::exact_double(alpha), a.view().operand(), b.view().operand(), detail::exact_double(beta),
               target.operand(), options);
}

/// Computes a product with an epilogue: C := activation(alpha·A·B + beta·C + bias) + residual.
template <MatrixLike A, MatrixLike B, class C>
requires requires(C&& c) { c.writable(); }
void gemm(Scalar<typename A::value_type> alpha, const A& a, const B& b, Scalar<typename A::value_type> beta, C&& c,
          const MatrixEpilogue<typename std::remove_cvref_t<C>::value_type>& epilogue, const GemmOptions& options) {
  using R = typename std::remove_cvref_t<C>::value_type;
  static_assert(std::same_as<typename A::value_type, typename B::value_type>, "gemm: a and b differ in element type");
  static_assert(ResultOf<R, typename A::value_type>,
                "gemm: c has the type of a and b, or they have 16 bits and it is float, or the other way round");
  MatrixView<R> target = c.writable();
  detail::EpilogueOperands operands{.activation = epilogue.activation};
  if (epilogue.bias) operands.bias = epilogue.bias->operand();
  if (epilogue.residual) operands.residual = epilogue.residual->operand();
  detail::gemm(detail::exact_double(alpha), a.view().operand(), b.view().operand(), detail::exact_double(beta),
               target.operand(), options, operands);
}

/// The BLAS form on the caller's row-major host memory. op(A) is m×k, op(B) k×n, C m×n; leading dimensions count
/// elements between stored rows. For column-major matrices swap A with B and m with n.
template <class T, class R = T>
requires ResultOf<R, T>
void gemm(Op op_a, Op op_b, Index m, Index n, Index k, Scalar<T> alpha, const T* a, Index lda, const T* b, Index ldb,
          Scalar<T> beta, R* c, Index ldc, const GemmOptions& options = {}, const Epilogue& epilogue = {}) {
  const double x = detail::exact_double(alpha), y = detail::exact_double(beta);
  const GemmCall call{{.type = dtype_of<T>,
                       .math = options.math,
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
                       .ldc = ldc,
                       .threads = options.threads},
                      dtype_of<R>,
                      epilogue};
  detail::gemm_raw(call, options);
}

} // namespace tessera

#include <tessera/detail/macros_on.hpp>
