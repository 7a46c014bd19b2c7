/// cblas_?gemm_batch, cblas_?gemm_batch_strided and the Fortran routines of these names: the form that MKL and OpenBLAS
/// share. Positions of illegal arguments are MKL's; all groups are looked at before anything is computed.

#include <cstdio>
#include <cstdlib>
#include <optional>
#include <string>
#include <vector>

#include "blas/ops.hpp"

namespace tessera::blas {
namespace {

/// Told the position as C counts it, with the layout first.
using Refuse = void (*)(const char* routine, blas_int position);

void refuse_c(const char* routine, blas_int position) { TESSERA_BLAS_NAME(cblas_xerbla)(position, routine, "%s", ""); }
void refuse_fortran(const char* routine, blas_int position) {
  const blas_int fortran = position - 1;
  TESSERA_BLAS_NAME(xerbla_)(routine, &fortran, std::char_traits<char>::length(routine));
}

/// One shape, as it was called.
template <class T>
struct Product {
  std::optional<Op> op_a, op_b;
  blas_int m, n, k;
  T alpha;
  blas_int lda, ldb;
  T beta;
  blas_int ldc;

  bool by_rows_a(bool rows) const { return (*op_a == Op::None) == rows; }
  bool by_rows_b(bool rows) const { return (*op_b == Op::None) == rows; }
  /// As for a single product: 0, or 2, 3 for the transposes, 4, 5, 6 for sizes, 9, 11, 14 for leading dimensions.
  blas_int wrong(bool rows) const {
    if (!op_a) return 2;
    if (!op_b) return 3;
    const Spans spans{by_rows_a(rows) ? k : m, by_rows_b(rows) ? n : k, rows ? n : m};
    const blas_int position = wrong_argument(m, n, k, lda, ldb, ldc, spans);
    return position == 0 ? 0 : position + 1;
  }
  GemmCall call(bool rows, const T* a, const T* b, T* c) const {
    return rows ? by_rows<T>(*op_a, *op_b, m, n, k, alpha, a, lda, b, ldb, beta, c, ldc)
                : column_major<T>(*op_a, *op_b, m, n, k, alpha, a, lda, b, ldb, beta, c, ldc);
  }
};

template <class T>
void strided_batch(const char* routine, Refuse refuse, bool rows, const Product<T>& x, const T* a, blas_int stride_a,
                   const T* b, blas_int stride_b, T* c, blas_int stride_c, blas_int count) {
  const blas_int wrong = x.wrong(rows);
  // Strides stand between the arguments that a single product has.
  if (wrong != 0) return refuse(routine, wrong == 11 ? 12 : wrong == 14 ? 16 : wrong);
  if (stride_a < 0) return refuse(routine, 10);
  if (stride_b < 0) return refuse(routine, 13);
  const Index lines = rows ? x.m : x.n, length = rows ? x.n : x.m;
  const Index extent = lines == 0 || length == 0 ? 0 : (lines - 1) * static_cast<Index>(x.ldc) + length;
  if (stride_c < 0 || (count > 1 && stride_c < extent)) return refuse(routine, 17);
  if (count < 0) return refuse(routine, 18);
  const GemmBatch batch{.call = x.call(rows, a, b, c),
                        .count = count,
                        .stride_a = rows ? stride_a : stride_b,
                        .stride_b = rows ? stride_b : stride_a,
                        .stride_c = stride_c};
  multiply(routine, {&batch, 1});
}

/// `product(g)` is that of group g. The arrays of pointers have those of all groups, one after another.
template <class T, class ProductOf>
void grouped_batch(const char* routine, Refuse refuse, bool rows, blas_int groups, const blas_int* sizes,
                   ProductOf product, const T* const* a, const T* const* b, T* const* c) noexcept {
  if (groups < 0) return refuse(routine, 15);
  try {
    std::vector<GemmBatch> all;
    all.reserve(static_cast<std::size_t>(groups));
    Index first = 0;
    for (blas_int g = 0; g < groups; ++g) {
      const Product<T> x = product(g);
      if (const blas_int wrong = x.wrong(rows); wrong != 0) return refuse(routine, wrong);
      if (sizes[g] < 0) return refuse(routine, 16);
      GemmBatch batch{.call = x.call(rows, nullptr, nullptr, nullptr), .count = sizes[g]};
      batch.a = reinterpret_cast<const void* const*>((rows ? a : b) + first);
      batch.b = reinterpret_cast<const void* const*>((rows ? b : a) + first);
      batch.c = reinterpret_cast<void* const*>(const_cast<T**>(c) + first);
      first += sizes[g];
      all.push_back(batch);
    }
    multiply(routine, all);
  } catch (const std::exception& error) {
    std::fprintf(stderr, "tessera: %s: %s\n", routine, error.what());
    std::abort();
  }
}

std::optional<Op> cblas_op(int letter) { return known(letter) ? std::optional(op_of<float>(letter)) : std::nullopt; }

template <class T>
void cblas_strided(const char* routine, int layout, int trans_a, int trans_b, blas_int m, blas_int n, blas_int k,
                   T alpha, const T* a, blas_int lda, blas_int stride_a, const T* b, blas_int ldb, blas_int stride_b,
                   T beta, T* c, blas_int ldc, blas_int stride_c, blas_int count) {
  if (layout != row_major && layout != col_major) return refuse_c(routine, 1);
  strided_batch<T>(routine, refuse_c, layout == row_major,
                   {cblas_op(trans_a), cblas_op(trans_b), m, n, k, alpha, lda, ldb, beta, ldc}, a, stride_a, b,
                   stride_b, c, stride_c, count);
}

template <class T>
void cblas_groups(const char* routine, int layout, const int* trans_a, const int* trans_b, const blas_int* m,
                  const blas_int* n, const blas_int* k, const T* alpha, const T* const* a, const blas_int* lda,
                  const T* const* b, const blas_int* ldb, const T* beta, T* const* c, const blas_int* ldc,
                  blas_int groups, const blas_int* sizes) {
  if (layout != row_major && layout != col_major) return refuse_c(routine, 1);
  const auto product = [&](blas_int g) {
    return Product<T>{
        cblas_op(trans_a[g]), cblas_op(trans_b[g]), m[g], n[g], k[g], alpha[g], lda[g], ldb[g], beta[g], ldc[g]};
  };
  grouped_batch<T>(routine, refuse_c, layout == row_major, groups, sizes, product, a, b, c);
}

template <class T>
void fortran_strided(const char* routine, const char* trans_a, const char* trans_b, const blas_int* m,
                     const blas_int* n, const blas_int* k, const T* alpha, const T* a, const blas_int* lda,
                     const blas_int* stride_a, const T* b, const blas_int* ldb, const blas_int* stride_b, const T* beta,
                     T* c, const blas_int* ldc, const blas_int* stride_c, const blas_int* count) {
  strided_batch<T>(routine, refuse_fortran, false,
                   {parse_op<T>(*trans_a), parse_op<T>(*trans_b), *m, *n, *k, *alpha, *lda, *ldb, *beta, *ldc}, a,
                   *stride_a, b, *stride_b, c, *stride_c, *count);
}

template <class T>
void fortran_groups(const char* routine, const char* trans_a, const char* trans_b, const blas_int* m, const blas_int* n,
                    const blas_int* k, const T* alpha, const T* const* a, const blas_int* lda, const T* const* b,
                    const blas_int* ldb, const T* beta, T* const* c, const blas_int* ldc, const blas_int* groups,
                    const blas_int* sizes) {
  const auto product = [&](blas_int g) {
    return Product<T>{
        parse_op<T>(trans_a[g]), parse_op<T>(trans_b[g]), m[g], n[g], k[g], alpha[g], lda[g], ldb[g], beta[g], ldc[g]};
  };
  grouped_batch<T>(routine, refuse_fortran, false, *groups, sizes, product, a, b, c);
}

} // namespace
} // namespace tessera::blas

extern "C" {

TESSERA_BLAS_API void TESSERA_BLAS_NAME(cblas_sgemm_batch_strided)(int layout, int trans_a, int trans_b, blas_int m,
                                                                   blas_int n, blas_int k, float alpha, const float* a,
                                                                   blas_int lda, blas_int stride_a, const float* b,
                                                                   blas_int ldb, blas_int stride_b, float beta,
                                                                   float* c, blas_int ldc, blas_int stride_c,
                                                                   blas_int count) {
  tessera::blas::cblas_strided("cblas_sgemm_batch_strided", layout, trans_a, trans_b, m, n, k, alpha, a, lda, stride_a,
                               b, ldb, stride_b, beta, c, ldc, stride_c, count);
}

TESSERA_BLAS_API void TESSERA_BLAS_NAME(cblas_dgemm_batch_strided)(int layout, int trans_a, int trans_b, blas_int m,
                                                                   blas_int n, blas_int k, double alpha,
                                                                   const double* a, blas_int lda, blas_int stride_a,
                                                                   const double* b, blas_int ldb, blas_int stride_b,
                                                                   double beta, double* c, blas_int ldc,
                                                                   blas_int stride_c, blas_int count) {
  tessera::blas::cblas_strided("cblas_dgemm_batch_strided", layout, trans_a, trans_b, m, n, k, alpha, a, lda, stride_a,
                               b, ldb, stride_b, beta, c, ldc, stride_c, count);
}

TESSERA_BLAS_API void TESSERA_BLAS_NAME(cblas_sgemm_batch)(int layout, const int* trans_a, const int* trans_b,
                                                           const blas_int* m, const blas_int* n, const blas_int* k,
                                                           const float* alpha, const float** a, const blas_int* lda,
                                                           const float** b, const blas_int* ldb, const float* beta,
                                                           float** c, const blas_int* ldc, blas_int groups,
                                                           const blas_int* sizes) {
  tessera::blas::cblas_groups<float>("cblas_sgemm_batch", layout, trans_a, trans_b, m, n, k, alpha, a, lda, b, ldb,
                                     beta, c, ldc, groups, sizes);
}

TESSERA_BLAS_API void TESSERA_BLAS_NAME(cblas_dgemm_batch)(int layout, const int* trans_a, const int* trans_b,
                                                           const blas_int* m, const blas_int* n, const blas_int* k,
                                                           const double* alpha, const double** a, const blas_int* lda,
                                                           const double** b, const blas_int* ldb, const double* beta,
                                                           double** c, const blas_int* ldc, blas_int groups,
                                                           const blas_int* sizes) {
  tessera::blas::cblas_groups<double>("cblas_dgemm_batch", layout, trans_a, trans_b, m, n, k, alpha, a, lda, b, ldb,
                                      beta, c, ldc, groups, sizes);
}

TESSERA_BLAS_API void TESSERA_BLAS_NAME(sgemm_batch_strided_)(const char* trans_a, const char* trans_b,
                                                              const blas_int* m, const blas_int* n, const blas_int* k,
                                                              const float* alpha, const float* a, const blas_int* lda,
                                                              const blas_int* stride_a, const float* b,
                                                              const blas_int* ldb, const blas_int* stride_b,
                                                              const float* beta, float* c, const blas_int* ldc,
                                                              const blas_int* stride_c, const blas_int* count) {
  tessera::blas::fortran_strided("SGEMM_BATCH_STRIDED", trans_a, trans_b, m, n, k, alpha, a, lda, stride_a, b, ldb,
                                 stride_b, beta, c, ldc, stride_c, count);
}

TESSERA_BLAS_API void TESSERA_BLAS_NAME(dgemm_batch_strided_)(const char* trans_a, const char* trans_b,
                                                              const blas_int* m, const blas_int* n, const blas_int* k,
                                                              const double* alpha, const double* a, const blas_int* lda,
                                                              const blas_int* stride_a, const double* b,
                                                              const blas_int* ldb, const blas_int* stride_b,
                                                              const double* beta, double* c, const blas_int* ldc,
                                                              const blas_int* stride_c, const blas_int* count) {
  tessera::blas::fortran_strided("DGEMM_BATCH_STRIDED", trans_a, trans_b, m, n, k, alpha, a, lda, stride_a, b, ldb,
                                 stride_b, beta, c, ldc, stride_c, count);
}

TESSERA_BLAS_API void TESSERA_BLAS_NAME(sgemm_batch_)(const char* trans_a, const char* trans_b, const blas_int* m,
                                                      const blas_int* n, const blas_int* k, const float* alpha,
                                                      const float** a, const blas_int* lda, const float** b,
                                                      const blas_int* ldb, const float* beta, float** c,
                                                      const blas_int* ldc, const blas_int* groups,
                                                      const blas_int* sizes) {
  tessera::blas::fortran_groups<float>("SGEMM_BATCH", trans_a, trans_b, m, n, k, alpha, a, lda, b, ldb, beta, c, ldc,
                                       groups, sizes);
}

TESSERA_BLAS_API void TESSERA_BLAS_NAME(dgemm_batch_)(const char* trans_a, const char* trans_b, const blas_int* m,
                                                      const blas_int* n, const blas_int* k, const double* alpha,
                                                      const double** a, const blas_int* lda, const double** b,
                                                      const blas_int* ldb, const double* beta, double** c,
                                                      const blas_int* ldc, const blas_int* groups,
                                                      const blas_int* sizes) {
  tessera::blas::fortran_groups<double>("DGEMM_BATCH", trans_a, trans_b, m, n, k, alpha, a, lda, b, ldb, beta, c, ldc,
                                        groups, sizes);
}
}
