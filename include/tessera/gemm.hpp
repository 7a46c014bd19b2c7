#pragma once

/// The matrix product, C := alpha · op(A) · op(B) + beta · C.
///
///     Matrix c = gemm(a, b);                                   // best backend present
///     Matrix d = gemm(a.transposed(), b, Backend::Tbb);        // this one, or an exception with the reason
///     gemm(2.0f, a, b, 1.0f, c, {.backend = Backend::OpenMP, .kernel = "simd"});
///     Matrix<float> e = gemm<float>(x, y);                     // of Matrix<bf16>: the result not rounded to bf16
///
/// Numerical contract of Math::Strict, the default. K is cut into segments of 1024. Within a segment each element
/// of C is one chain of fused multiply-adds in ascending k, starting from +0. Segment sums are added in ascending
/// order to s. Then r = alpha·s, and if beta ≠ 0, r = fma(beta, C, r). If alpha = 0 or K = 0, A and B are not
/// read and C becomes beta·C. beta = 0 never reads C. Every canonical kernel gives these bits, on every backend,
/// with any number of threads.
///
/// Numerical contract of the modes of matrix units: Math::Tf32, Bf16, Fp16, EmulatedFp16x3 and EmulatedBf16x6. The bits
/// of C(i, j) depend on row i of op(A), column j of op(B), k, alpha, beta, C(i, j), the mode and the generation of
/// matrix units alone. They do not depend on m, n, i, j, leading dimensions, transposes, a batch's other products, the
/// number of multiprocessors, or the row of the ladder. For Hopper's units they are:
///   - Step: the units add 16 products (8 in Tf32; the last step of a chain has what is left) to a chain: products and
///     chain are aligned to the largest exponent among them, cut to 25 bits behind the point, and added exactly, and
///     the sum is cut to f32. detail/matrix_unit.hpp is that step as code. A chain begins with +0.
///   - Operands of Tf32, Bf16 and Fp16: bf16 elements in Bf16 and f16 elements in Fp16 are taken as they are. f32
///     elements are rounded there to bf16 or f16, to nearest, ties to even; they may become Inf. Of an f32 element in
///     Tf32 the last 13 bits are cut; NaN whose last 13 bits alone are set becomes Inf.
///   - Segments of Tf32, Bf16 and Fp16: K is cut by k alone, as detail/matrix_unit_segments.hpp says. The sum of a
///     segment is one chain of steps, in ascending k.
///   - Emulated modes with k up to 256 (emulated_strict_k) are Math::Strict. With a larger k, C(i, j) has the sum of
///     Math::Strict if row i of op(A) or column j of op(B) has NaN, Inf or, in EmulatedBf16x6, an element that rounds
///     to Inf in bf16. Otherwise K is cut into segments by k alone, as detail/emulated_segments.hpp says. A segment's
///     sum is carried in f32 from +0, over its chains in ascending k:
///   - EmulatedFp16x3: a chain has 128 k. There a row of op(A) is multiplied by a power of two that brings its largest
///     magnitude to [2¹⁴, 2¹⁵), 2¹²⁶ at most, and so is a column of op(B). Each element x becomes two terms: high is x
///     rounded to f16, low is the rest rounded to f16, to nearest, ties to even. For each 16 k in turn the steps are
///     low·high, high·low and high·high (a term of op(A) first). The chain's sum, multiplied by what undoes the two
///     powers of two, is added to the carried sum with one rounding to nearest, as if the scaled sum had been exact.
///   - EmulatedBf16x6: a chain has 64 k. Each element becomes three terms, 0, 1 and 2, each the rest that the terms
///     before it leave, rounded to bf16, to nearest, ties to even. For each 16 k in turn the steps are 2·0, 1·1, 0·2,
///     1·0, 0·1 and 0·0. The chain's sum is added to the carried sum, rounded to nearest.
///   - Sums: the segments' sums are added in f32 in ascending order, rounded to nearest, to s. alpha, beta, the
///     epilogue and the rounding to C's type follow as in Math::Strict.
/// detail/unit_contract.hpp is all of it as code. Rows with Summation::HopperUnits (kernel.hpp) keep this contract:
/// hopper_units of the host's backends on any machine, and rows of a card of compute capability 9.0. Where a ladder has
/// such a row, and the machine is a host or has these units, other rows of the mode run by their names alone. Other
/// machines have no contract in these modes. Products that are streamed to a card or come from files (file_product.hpp)
/// keep it: slices of k are whole segments, or k is not cut.
///
/// Floating-point state. Each thread that takes part in a call computes in the contract's state: it rounds to nearest,
/// keeps subnormal numbers (no FTZ, no DAZ), and traps no exception. The state of the calling thread (MXCSR on x86-64,
/// FPCR and FPSR on AArch64), or of the thread that made a pool's workers, changes no result. This holds for products,
/// batches, complex products, element-wise operations, random fills, reductions and comparisons.
///   - State: after a call, also after one that throws, the calling thread's state is what it was before. The control
///     word of the x87 is neither read nor changed. Workers that a runtime makes during a call begin in the contract's
///     state, in later parallel regions of the program too.
///   - Flags: they are part of that state. A call raises none that the caller can see, whatever overflows or is inexact
///     in it; look into the result instead. Flags that the caller had raised stay.
///   - Traps: a caller that has enabled them (feenableexcept) gets no SIGFPE from a call.
///   - NaN: where the contract gives NaN, every backend does. Its sign and payload are not specified.
///
/// Rows that call another library (cblas, cublas) leave that library's own threads as they are.
///
/// 16-bit operands (half.hpp): elements are converted to f32, which is exact; alpha and beta are f32, and r
/// is computed in f32. r is rounded once, at the end, to C's type, which is the operands' type or f32. r is also
/// rounded once where f32 operands have a 16-bit result. An epilogue (epilogue.hpp) works on r before it is rounded.
/// Math::Bf16 of bf16 operands and Math::Fp16 of f16 operands multiply the elements without rounding them and add in
/// f32, on matrix units. The other modes are for f32 operands, Compensated and Strassen for f64 too.
///
/// Math::Strassen computes large products with seven products of blocks where the definition needs eight, up to
/// strassen_levels() times (kernel.hpp). Its errors are relative to the largest elements of A and B and not to the
/// terms of each sum, so that rows or columns of small elements lose digits beside large ones (grade.hpp: grade C). NaN
/// and Inf are where they are in the other modes: a product whose blocks have one, or whose sums of blocks overflow, is
/// computed again without the recursion, which takes about twice the time.
///
/// Operands that do not fit into a device's memory stay on the host, and C is computed on the device in blocks, with
/// the bits of an undivided product; C is then on the host. If C is a view of the caller's own memory, it has the
/// result when the call returns.
///
/// Errors: InvalidArgument (shapes, leading dimensions, null, overflow, C overlapping A or B; the message names the
/// argument and both values), BackendUnavailable, KernelRejected, OutOfMemory, DeviceError. After an error C is
/// unchanged, except that a DeviceError leaves it undefined.

#include <optional>
#include <string>

#include <tessera/detail/floating_point.hpp>
#include <tessera/matrix.hpp>
#include <tessera/types.hpp>

#include <tessera/detail/macros_off.hpp>

namespace tessera {

/// The choices of a caller.
struct GemmOptions {
  Backend backend = Backend::Auto; ///< a backend that is named is used, or the call throws
  Math math = Math::Strict;        ///< how the product may round
  std::string kernel = {};         ///< a row of the backend's ladder; empty: the best one that takes the call
  int threads = 0;                 ///< 0: default_threads()
};

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
  const GemmCall call{dtype_of<T>, options.math,    op_a,        op_b,    m, n, k, x, a, lda, b, ldb, y, c,
                      ldc,         options.threads, dtype_of<R>, epilogue};
  detail::gemm_raw(call, options);
}

} // namespace tessera

#include <tessera/detail/macros_on.hpp>
