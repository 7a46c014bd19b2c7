#pragma once

/// Many products in one call, Cᵢ := alpha · op(Aᵢ) · op(Bᵢ) + beta · Cᵢ, with the bits of gemm() for each.
///
///     gemm_batch(Op::None, Op::None, 16, 16, 16, 1.0f, a, 16, 256, b, 16, 256, 0.0f, c, 16, 256, 10000);   // strides
///     std::vector<Matrix<float>> c = gemm_batch(std::span(a), std::span(b));                        // of any shapes
///
/// A processor shares small products out to its threads, each whole; a device computes all of them in one launch (see
/// batch.hpp for what is possible on memory of one's own choice, with groups of unlike shapes). Products are computed
/// in any order: no C may overlap an operand of another product. What is checked of that is written in batch.hpp.
///
/// Host memory and a device: operands are copied as a whole, gathered first where they are scattered. What the device
/// cannot hold at once goes through it in parts of the batch, the results of matrices coming home then. If that fails
/// when some results are written, it is a DeviceError that says so. Backend::Auto
/// stays on the host unless single products are worth a device by themselves: copies of small ones take longer than
/// they do. Errors are those of gemm(); no C is changed where an argument is wrong.

#include <algorithm>
#include <span>
#include <vector>

#include <tessera/batch.hpp>
#include <tessera/gemm.hpp>

namespace tessera {

namespace detail {
/// Groups in host memory.
TESSERA_API void gemm_batch_raw(std::span<const GemmBatch> groups, const GemmOptions& options);
TESSERA_API void gemm_batch(double alpha, std::span<const Operand> a, std::span<const Operand> b, double beta,
                            std::span<const Operand> c, const GemmOptions& options);
} // namespace detail

/// The BLAS form on the caller's row-major host memory: `count` products of one shape, operands `stride` elements
/// apart. The strides of A and B may be 0: all products share the operand.
template <class T, class R = T>
requires ResultOf<R, T>
void gemm_batch(Op op_a, Op op_b, Index m, Index n, Index k, Scalar<T> alpha, const T* a, Index lda, Index stride_a,
                const T* b, Index ldb, Index stride_b, Scalar<T> beta, R* c, Index ldc, Index stride_c, Index count,
                const GemmOptions& options = {}) {
  const GemmBatch batch{.call = {dtype_of<T>, options.math, op_a, op_b, m, n, k, alpha, a, lda, b, ldb, beta, c, ldc,
                                 options.threads, dtype_of<R>},
                        .count = count,
                        .stride_a = stride_a,
                        .stride_b = stride_b,
                        .stride_c = stride_c};
  detail::gemm_batch_raw({&batch, 1}, options);
}

/// The same with arrays of pointers to the operands.
template <class T, class R = T>
requires ResultOf<R, T>
void gemm_batch(Op op_a, Op op_b, Index m, Index n, Index k, Scalar<T> alpha, const T* const* a, Index lda,
                const T* const* b, Index ldb, Scalar<T> beta, R* const* c, Index ldc, Index count,
                const GemmOptions& options = {}) {
  GemmBatch batch{.call = {dtype_of<T>, options.math, op_a, op_b, m, n, k, alpha, nullptr, lda, nullptr, ldb, beta,
                           nullptr, ldc, options.threads, dtype_of<R>},
                  .count = count};
  batch.a = reinterpret_cast<const void* const*>(a);
  batch.b = reinterpret_cast<const void* const*>(b);
  batch.c = reinterpret_cast<void* const*>(const_cast<R**>(c));
  detail::gemm_batch_raw({&batch, 1}, options);
}

/// Cᵢ := alpha·Aᵢ·Bᵢ + beta·Cᵢ for matrices of any shapes; as many of each.
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
  detail::gemm_batch(alpha, of_a, of_b, beta, of_c, options);
}

/// Aᵢ·Bᵢ as new matrices.
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
template <class T>
std::vector<Matrix<T>> gemm_batch(const std::vector<Matrix<T>>& a, const std::vector<Matrix<T>>& b,
                                  const GemmOptions& options = {}) {
  return gemm_batch(std::span(a), std::span(b), options);
}

} // namespace tessera
