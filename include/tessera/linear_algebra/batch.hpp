#pragma once

/// Many small systems in one call, with the bits that each has alone.
///
///     solve_batch(16, 1, a, 16, 256, b, 1, 16, nullptr, 10000);   // Aᵢ·Xᵢ = Bᵢ at strides; X takes the place of B
///     lu_batch(16, 16, a, 16, 256, pivots, info, 10000);          // factors in the place of A, kept and used again:
///     lu_solve_batch(Op::None, 16, 1, a, 16, 256, pivots, b, 1, 16, 10000);
///     std::vector<Matrix<double>> x = solve_batch(a, b);          // of vectors of matrices
///
/// A batch is `count` systems of one size in the caller's row-major host memory: f32, f64 or complex numbers of either.
/// Leading dimensions and strides count elements, a stride from one system's matrix to the next one's; it may be
/// negative, and 0 for what is only read: then all systems share the matrix. Each function has a second form, which
/// takes arrays of `count` pointers to the matrices. Pivots lie one system after another without gaps, and are counted
/// from 0.
///
/// Each system has the bits of solve(), Lu, Cholesky or inverse() for it alone (docs/contract.md, "Linear algebra").
/// Small ones are computed side by side in the lanes of vectors, on all threads; larger ones one on each thread, and
/// large ones one after another. Options are the ones of single systems, but for `refine`.
///
/// `info` takes a number for each system: 0, or where its factorisation met a pivot of 0 (LU) or a leading minor that
/// is not positive (Cholesky), counted from 1. Such a system is not solved, its B or X stays as it was, and all others
/// are computed. Where `info` is null, FailedSystem is thrown for the first one when all others are done.
///
/// Errors: InvalidArgument (sizes, null, matrices that overlap where one is written; nothing is written), FailedSystem,
/// BackendUnavailable, OutOfMemory (nothing is written where systems are small; of large ones some may be done).
///
/// Source: getrf_batched, getrs_batched and their kin of cuBLAS and MKL.

#include <algorithm>
#include <span>
#include <string>
#include <vector>

#include <tessera/detail/number_type.hpp>
#include <tessera/linear_algebra/complex_matrix.hpp>
#include <tessera/linear_algebra/options.hpp>
#include <tessera/matrix.hpp>
#include <tessera/status.hpp>

#include <tessera/detail/macros_off.hpp>

namespace tessera {

/// Thrown where systems of a batch cannot be solved, or factored by Cholesky, and the caller has no `info`.
class TESSERA_API FailedSystem : public InvalidArgument {
 public:
  /// Makes the exception for a system, from 0 on, and what `info` would say of it.
  FailedSystem(const std::string& why, Index system, Index info);
  /// Ends the exception.
  ~FailedSystem() override;
  /// Returns the number of the first such system, from 0 on.
  Index system() const noexcept { return system_; }
  /// Returns the first pivot of it that is 0, or the order of its first leading minor that is not positive, from 1 on.
  Index info() const noexcept { return info_; }

 private:
  Index system_, info_;
};

namespace detail {
/// The matrices of a batch as the caller passed them: at strides, or by pointers.
struct BatchMatrices {
  const char* name = ""; ///< as the caller of the function knows it
  const void* first = nullptr;
  const void* const* all = nullptr; ///< not null: `count` pointers; `first` and `stride` are ignored
  bool has_pointers = false;
  Index ld = 0, stride = 0;
};
template <class T>
BatchMatrices at_strides(const char* name, const T* first, Index ld, Index stride) {
  return {.name = name, .first = first, .ld = ld, .stride = stride};
}
template <class T>
BatchMatrices by_pointers(const char* name, T* const* all, Index ld) {
  return {.name = name, .all = reinterpret_cast<const void* const*>(all), .has_pointers = true, .ld = ld};
}

/// A call for a batch. A function uses what it needs.
struct SystemBatch {
  NumberType type;
  Index m = 0, n = 0, columns = 0, count = 0;
  BatchMatrices a = {}, b = {};
  Triangle triangle = Triangle::Lower;
  Op op = Op::None;
  const Index* pivots = nullptr; ///< written by lu_batch() alone
  Index* info = nullptr;
};
TESSERA_API void lu_batch(const SystemBatch& call, const SolveOptions& options);
TESSERA_API void lu_solve_batch(const SystemBatch& call, const SolveOptions& options);
TESSERA_API void cholesky_batch(const SystemBatch& call, const SolveOptions& options);
TESSERA_API void cholesky_solve_batch(const SystemBatch& call, const SolveOptions& options);
TESSERA_API void solve_batch(const SystemBatch& call, const SolveOptions& options);
TESSERA_API void solve_positive_batch(const SystemBatch& call, const SolveOptions& options);
TESSERA_API void inverse_batch(const SystemBatch& call, const SolveOptions& options);
/// Solves by LU for matrices that are all on one device, where X takes the place of each B. Says no, and has written
/// nothing, where they are not, or the device cannot.
TESSERA_API bool solve_batch_on_device(std::span<const Operand> a, std::span<const Operand> x, bool are_complex,
                                       const SolveOptions& options);
/// Throws InvalidArgument where matrices of a list have not the size of the first ones.
TESSERA_API void check_batch_lists(std::size_t count_a, std::size_t count_b);
TESSERA_API void check_batch_member(std::size_t i, Index rows_a, Index cols_a, Index rows_b, Index cols_b, Index n,
                                    Index columns);
} // namespace detail

/// Factors P·A = L·U in the place of each A, m×n, as Lu::packed() has them. `pivots` takes min(m, n) numbers for each
/// system. A pivot of 0 is no failure here: the factors are whole, and `info` says where it is. `info` may be null.
template <class T>
requires detail::RealOrComplex<T>
void lu_batch(Index m, Index n, T* a, Index lda, Index stride_a, Index* pivots, Index* info, Index count,
              const SolveOptions& options = {}) {
  detail::lu_batch({.type = detail::number_type_of<T>,
                    .m = m,
                    .n = n,
                    .count = count,
                    .a = detail::at_strides("a", a, lda, stride_a),
                    .pivots = pivots,
                    .info = info},
                   options);
}
/// Does so for matrices given by pointers.
template <class T>
requires detail::RealOrComplex<T>
void lu_batch(Index m, Index n, T* const* a, Index lda, Index* pivots, Index* info, Index count,
              const SolveOptions& options = {}) {
  detail::lu_batch({.type = detail::number_type_of<T>,
                    .m = m,
                    .n = n,
                    .count = count,
                    .a = detail::by_pointers("a", a, lda),
                    .pivots = pivots,
                    .info = info},
                   options);
}

/// Solves op(A)·X = B with the factors of lu_batch(), n×n; X takes the place of each B, n×columns. A 0 on U's diagonal
/// gives Inf or NaN, as the division does.
template <class T>
requires detail::RealOrComplex<T>
void lu_solve_batch(Op op, Index n, Index columns, const T* lu, Index ldlu, Index stride_lu, const Index* pivots, T* b,
                    Index ldb, Index stride_b, Index count, const SolveOptions& options = {}) {
  detail::lu_solve_batch({.type = detail::number_type_of<T>,
                          .m = n,
                          .n = n,
                          .columns = columns,
                          .count = count,
                          .a = detail::at_strides("lu", lu, ldlu, stride_lu),
                          .b = detail::at_strides("b", b, ldb, stride_b),
                          .op = op,
                          .pivots = pivots},
                         options);
}
/// Does so for matrices given by pointers.
template <class T>
requires detail::RealOrComplex<T>
void lu_solve_batch(Op op, Index n, Index columns, const T* const* lu, Index ldlu, const Index* pivots, T* const* b,
                    Index ldb, Index count, const SolveOptions& options = {}) {
  detail::lu_solve_batch({.type = detail::number_type_of<T>,
                          .m = n,
                          .n = n,
                          .columns = columns,
                          .count = count,
                          .a = detail::by_pointers("lu", lu, ldlu),
                          .b = detail::by_pointers("b", b, ldb),
                          .op = op,
                          .pivots = pivots},
                         options);
}

/// Factors A = L·Lᴴ in the place of the lower triangle of each A, n×n, or A = Uᴴ·U in the place of the upper one, as
/// LAPACK's potrf does. The other triangle is neither read nor written. A matrix that is not positive definite stays as
/// it was.
template <class T>
requires detail::RealOrComplex<T>
void cholesky_batch(Triangle triangle, Index n, T* a, Index lda, Index stride_a, Index* info, Index count,
                    const SolveOptions& options = {}) {
  detail::cholesky_batch({.type = detail::number_type_of<T>,
                          .m = n,
                          .n = n,
                          .count = count,
                          .a = detail::at_strides("a", a, lda, stride_a),
                          .triangle = triangle,
                          .info = info},
                         options);
}
/// Does so for matrices given by pointers.
template <class T>
requires detail::RealOrComplex<T>
void cholesky_batch(Triangle triangle, Index n, T* const* a, Index lda, Index* info, Index count,
                    const SolveOptions& options = {}) {
  detail::cholesky_batch({.type = detail::number_type_of<T>,
                          .m = n,
                          .n = n,
                          .count = count,
                          .a = detail::by_pointers("a", a, lda),
                          .triangle = triangle,
                          .info = info},
                         options);
}

/// Solves A·X = B with the factors of cholesky_batch(); X takes the place of each B, n×columns.
template <class T>
requires detail::RealOrComplex<T>
void cholesky_solve_batch(Triangle triangle, Index n, Index columns, const T* f, Index ldf, Index stride_f, T* b,
                          Index ldb, Index stride_b, Index count, const SolveOptions& options = {}) {
  detail::cholesky_solve_batch({.type = detail::number_type_of<T>,
                                .m = n,
                                .n = n,
                                .columns = columns,
                                .count = count,
                                .a = detail::at_strides("f", f, ldf, stride_f),
                                .b = detail::at_strides("b", b, ldb, stride_b),
                                .triangle = triangle},
                               options);
}
/// Does so for matrices given by pointers.
template <class T>
requires detail::RealOrComplex<T>
void cholesky_solve_batch(Triangle triangle, Index n, Index columns, const T* const* f, Index ldf, T* const* b,
                          Index ldb, Index count, const SolveOptions& options = {}) {
  detail::cholesky_solve_batch({.type = detail::number_type_of<T>,
                                .m = n,
                                .n = n,
                                .columns = columns,
                                .count = count,
                                .a = detail::by_pointers("f", f, ldf),
                                .b = detail::by_pointers("b", b, ldb),
                                .triangle = triangle},
                               options);
}

/// Solves A·X = B by LU for each n×n matrix A, which is not changed; X takes the place of each B, n×columns.
template <class T>
requires detail::RealOrComplex<T>
void solve_batch(Index n, Index columns, const T* a, Index lda, Index stride_a, T* b, Index ldb, Index stride_b,
                 Index* info, Index count, const SolveOptions& options = {}) {
  detail::solve_batch({.type = detail::number_type_of<T>,
                       .m = n,
                       .n = n,
                       .columns = columns,
                       .count = count,
                       .a = detail::at_strides("a", a, lda, stride_a),
                       .b = detail::at_strides("b", b, ldb, stride_b),
                       .info = info},
                      options);
}
/// Does so for matrices given by pointers.
template <class T>
requires detail::RealOrComplex<T>
void solve_batch(Index n, Index columns, const T* const* a, Index lda, T* const* b, Index ldb, Index* info, Index count,
                 const SolveOptions& options = {}) {
  detail::solve_batch({.type = detail::number_type_of<T>,
                       .m = n,
                       .n = n,
                       .columns = columns,
                       .count = count,
                       .a = detail::by_pointers("a", a, lda),
                       .b = detail::by_pointers("b", b, ldb),
                       .info = info},
                      options);
}

/// Does what solve_batch() does by Cholesky's factors, for symmetric or Hermitian positive definite matrices, of each
/// of which one triangle is read.
template <class T>
requires detail::RealOrComplex<T>
void solve_positive_batch(Triangle triangle, Index n, Index columns, const T* a, Index lda, Index stride_a, T* b,
                          Index ldb, Index stride_b, Index* info, Index count, const SolveOptions& options = {}) {
  detail::solve_positive_batch({.type = detail::number_type_of<T>,
                                .m = n,
                                .n = n,
                                .columns = columns,
                                .count = count,
                                .a = detail::at_strides("a", a, lda, stride_a),
                                .b = detail::at_strides("b", b, ldb, stride_b),
                                .triangle = triangle,
                                .info = info},
                               options);
}
/// Does so for matrices given by pointers.
template <class T>
requires detail::RealOrComplex<T>
void solve_positive_batch(Triangle triangle, Index n, Index columns, const T* const* a, Index lda, T* const* b,
                          Index ldb, Index* info, Index count, const SolveOptions& options = {}) {
  detail::solve_positive_batch({.type = detail::number_type_of<T>,
                                .m = n,
                                .n = n,
                                .columns = columns,
                                .count = count,
                                .a = detail::by_pointers("a", a, lda),
                                .b = detail::by_pointers("b", b, ldb),
                                .triangle = triangle,
                                .info = info},
                               options);
}

/// Computes the inverse X of each A, n×n. Where solutions are enough, solve_batch() is faster and more accurate.
template <class T>
requires detail::RealOrComplex<T>
void inverse_batch(Index n, const T* a, Index lda, Index stride_a, T* x, Index ldx, Index stride_x, Index* info,
                   Index count, const SolveOptions& options = {}) {
  detail::inverse_batch({.type = detail::number_type_of<T>,
                         .m = n,
                         .n = n,
                         .columns = n,
                         .count = count,
                         .a = detail::at_strides("a", a, lda, stride_a),
                         .b = detail::at_strides("x", x, ldx, stride_x),
                         .info = info},
                        options);
}
/// Does so for matrices given by pointers.
template <class T>
requires detail::RealOrComplex<T>
void inverse_batch(Index n, const T* const* a, Index lda, T* const* x, Index ldx, Index* info, Index count,
                   const SolveOptions& options = {}) {
  detail::inverse_batch({.type = detail::number_type_of<T>,
                         .m = n,
                         .n = n,
                         .columns = n,
                         .count = count,
                         .a = detail::by_pointers("a", a, lda),
                         .b = detail::by_pointers("x", x, ldx),
                         .info = info},
                        options);
}

/// Returns the X of all Aᵢ·Xᵢ = Bᵢ as new matrices. All A have one size, and so have all B. Throws FailedSystem where
/// a pivot is 0. Matrices that are all on one CUDA device are solved there, and the solutions stay there.
template <class T>
requires detail::RealOrComplex<T> std::vector<Matrix<T>> solve_batch(const std::vector<Matrix<T>>& a,
                                                                     const std::vector<Matrix<T>>& b,
                                                                     const SolveOptions& options = {}) {
  detail::check_batch_lists(a.size(), b.size());
  std::vector<Matrix<T>> x;
  if (a.empty()) return x;
  const Index n = a[0].rows(), columns = b[0].cols(), count = static_cast<Index>(a.size());
  for (std::size_t i = 0; i < a.size(); ++i)
    detail::check_batch_member(i, a[i].rows(), a[i].cols(), b[i].rows(), b[i].cols(), n, columns);
  x.reserve(a.size());
  for (const Matrix<T>& right : b) x.emplace_back(right.view());
  std::vector<detail::Operand> of_a, of_x;
  for (std::size_t i = 0; i < a.size(); ++i) {
    of_a.push_back(a[i].view().operand());
    of_x.push_back(x[i].operand());
  }
  if (detail::solve_batch_on_device(of_a, of_x, detail::Complex<T>, options)) return x;
  std::vector<const T*> from;
  std::vector<T*> to;
  for (std::size_t i = 0; i < a.size(); ++i) {
    from.push_back(a[i].data());
    to.push_back(x[i].data());
  }
  const auto ld = [](const Matrix<T>& one) { return std::max<Index>(1, one.ld()); }; // one for all of a shape
  solve_batch(n, columns, from.data(), ld(a[0]), to.data(), ld(x[0]), nullptr, count, options);
  return x;
}

} // namespace tessera

#include <tessera/detail/macros_on.hpp>
