#pragma once

/// Many products in one call, Cᵢ := alpha · op(Aᵢ) · op(Bᵢ) + beta · Cᵢ, with the bits of gemm() for each.
///
///     gemm_batch(Op::None, Op::None, 16, 16, 16, 1.0f, a, 16, 256, b, 16, 256, 0.0f, c, 16, 256, 10000);   // strides
///     std::vector<Matrix<float>> c = gemm_batch(std::span(a), std::span(b));                        // of any shapes
///
/// On a processor each thread computes whole small products; a device computes all of them in one launch. For operands
/// in an executor's memory, and for groups of different shapes, see batch.hpp. Products are computed in any order: no C
/// may overlap an operand or the result of another product. batch.hpp says what is checked of that; results that share
/// elements are always refused.
///
/// If operands in host memory are multiplied on a device, they are copied all at once; scattered ones are gathered
/// first. If the device cannot hold them all, the batch is computed in parts, and the results of matrices are then on
/// the host. A failure after some results were written is a DeviceError that says so. Backend::Auto stays on the host
/// unless each product alone is worth the copies, because copying a small product takes longer than computing it.
///
/// gemm.hpp lists the errors. No C is changed if an argument is invalid.

#include <algorithm>
#include <span>
#include <vector>

#include <tessera/batch.hpp>
#include <tessera/detail/floating_point.hpp>
#include <tessera/gemm.hpp>

#include <tessera/detail/macros_off.hpp>

namespace tessera {

namespace detail {
/// The groups' operands are in host memory.
TESSERA_API void gemm_batch_raw(std::span<const GemmBatch> groups, const GemmOptions& options);
TESSERA_API void gemm_batch(double alpha, std::span<const Operand> a, std::span<const Operand> b, double beta,
                            std::span<const Operand> c, const GemmOptions& options);
} // namespace detail

/// The BLAS form on the caller's row-major host memory: `count` products of one shape. Strides count elements from one
/// product's operand to the next one's; a stride of A or B may be 0, then all products share the operand.
template <class T, class R = T>
requires ResultOf<R, T>
void gemm_batch(Op op_a, Op op_b, Index m, Index n, Index k, Scalar<T> alpha, const T* a, Index lda, Index stride_a,
                const T* b, Index ldb, Index stride_b, Scalar<T> beta, R* c, Index ldc, Index stride_c, Index count,
                const GemmOptions& options = {}) {
  const GemmBatch batch{.call = {{.type = dtype_of<T>,
                                  .math = options.math,
                                  .op_a = op_a,
                                  .op_b = op_b,
                                  .m = m,
                                  .n = n,
                                  .k = k,
                                  .alpha = detail::exact_double(alpha),
                                  .a = a,
                                  .lda = lda,
                                  .b = b,
                                  .ldb = ldb,
                                  .beta = detail::exact_double(beta),
                                  .c = c,
                                  .ldc = ldc,
                                  .threads = options.threads},
                                 dtype_of<R>},
                        .count = count,
                        .stride_a = stride_a,
                        .stride_b = stride_b,
                        .stride_c = stride_c};
  detail::gemm_batch_raw({&batch, 1}, options);
}

/// The BLAS form with arrays of `count` pointers to the operands.
template <class T, class R = T>
requires ResultOf<R, T>
void gemm_batch(Op op_a, Op op_b, Index m, Index n, Index k, Scalar<T> alpha, const T* const* a, Index lda,
                const T* const* b, Index ldb, Scalar<T> beta, R* const* c, Index ldc, Index count,
                const GemmOptions& options = {}) {
  GemmBatch batch{.call = {{.type = dtype_of<T>,
                            .math = options.math,
                            .op_a = op_a,
                            .op_b = op_b,
                            .m = m,
                            .n = n,
                            .k = k,
                            .alpha = detail::exact_double(alpha),
                            .lda = lda,
                            .ldb = ldb,
                            .beta = detail::exact_double(beta),
                            .ldc = ldc,
                            .threads = options.threads},
                           dtype_of<R>},
                  .count = count};
  batch.a = reinterpret_cast<const void* const*>(a);
  batch.b = reinterpret_cast<const void* const*>(b);
  batch.c = reinterpret_cast<void* const*>(const_cast<R**>(c));
  detail::gemm_batch_raw({&batch, 1}, options);
}

/// Computes Cᵢ := alpha·Aᵢ·Bᵢ + beta·Cᵢ for matrices of any shapes. a, b and c must have equal lengths.
template <class T, class R>
requires ResultOf<R, T>
void gemm_batch(Scalar<T> alpha, std::span<const Matrix<T>> a, std::span<const Matrix<T>> b, Scalar<T> beta,
                std::span<Matrix<R>> c, const GemmOptions& options = {}) {
  std::vector<detail::Operand> of_a, of_b, of_c;
  of_a.reserve(a.size());
  of_b.reserve(b.size());
  of_c.reserve(c.size());
  for (const Matrix<T>& x : a) of_a.push_back(x.view().operand());
  for (const Matrix<T>& x : b) of_b.push_back(x.view().operand());
  for (Matrix<R>& x : c) of_c.push_back(x.operand());
  detail::gemm_batch(detail::exact_double(alpha), of_a, of_b, detail::exact_double(beta), of_c, options);
}

/// Returns all Aᵢ·Bᵢ as new matrices.
template <class T>
std::vector<Matrix<T>> gemm_batch(std::span<const Matrix<T>> a, std::span<const Matrix<T>> b,
                                  const GemmOptions& options = {}) {
  std::vector<Matrix<T>> c;
  c.reserve(a.size());
  for (std::size_t i = 0; i < std::min(a.size(), b.size()); ++i)
    c.push_back(Matrix<T>::uninitialized(a[i].rows(), b[i].cols()));
  gemm_batch<T, T>(1, a, b, 0, c, options);
  return c;
}
/// Returns all Aᵢ·Bᵢ as new matrices.
template <class T>
std::vector<Matrix<T>> gemm_batch(const std::vector<Matrix<T>>& a, const std::vector<Matrix<T>>& b,
                                  const GemmOptions& options = {}) {
  return gemm_batch(std::span(a), std::span(b), options);
}

} // namespace tessera

#include <tessera/detail/macros_on.hpp>
