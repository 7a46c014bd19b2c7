#pragma once

/// cblas_?gemm_batch, cblas_?gemm_batch_strided and the Fortran routines of these names: the form that MKL and OpenBLAS
/// share. All groups are checked before anything is computed. Complex products run one after another, each on all
/// threads.
///
/// An illegal argument is reported by its own position, as the BLAS standard says and as oneMKL 2026.2 does. (OpenBLAS'
/// interface/gemm_batch_strided.c reports the positions of a single Fortran product, in row-major order the positions
/// of the swapped operands, and checks neither strides nor counts.)

#include <cstdio>
#include <cstdlib>
#include <optional>
#include <string>
#include <vector>

#include "ops.hpp"

namespace tessera::blas {

/// Reports an illegal argument. `position` counts as C does, with the layout first.
using Refuse = void (*)(const char* routine, blas_int position);

inline void refuse_c(const char* routine, blas_int position) {
  TESSERA_BLAS_NAME(cblas_xerbla)(position, routine, "%s", "");
}
inline void refuse_fortran(const char* routine, blas_int position) {
  const blas_int fortran = position - 1;
  TESSERA_BLAS_NAME(xerbla_)(routine, &fortran, std::char_traits<char>::length(routine));
}

/// One product's arguments but for its matrices, as the caller passed them.
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
  /// Returns the position of an illegal argument in a single product's list: 0 for none, 2, 3 for the transposes, 4, 5,
  /// 6 for sizes, 9, 11, 14 for leading dimensions.
  blas_int wrong(bool rows) const {
    if (!op_a) return 2;
    if (!op_b) return 3;
    const Spans spans{by_rows_a(rows) ? k : m, by_rows_b(rows) ? n : k, rows ? n : m};
    const blas_int position = wrong_argument(m, n, k, lda, ldb, ldc, spans);
    return position == 0 ? 0 : position + 1;
  }
  CallOf<T> call(bool rows, const T* a, const T* b, T* c) const {
    return rows ? by_rows<T>(*op_a, *op_b, m, n, k, alpha, a, lda, b, ldb, beta, c, ldc)
                : column_major<T>(*op_a, *op_b, m, n, k, alpha, a, lda, b, ldb, beta, c, ldc);
  }
};

template <class T>
void strided_batch(const char* routine, Refuse refuse, bool rows, const Product<T>& x, const T* a, blas_int stride_a,
                   const T* b, blas_int stride_b, T* c, blas_int stride_c, blas_int count) {
  const blas_int wrong = x.wrong(rows);
  // A batch has strides between the arguments of a single product.
  if (wrong != 0) return refuse(routine, wrong == 11 ? 12 : wrong == 14 ? 16 : wrong);
  if (stride_a < 0) return refuse(routine, 10);
  if (stride_b < 0) return refuse(routine, 13);
  const Index lines = rows ? x.m : x.n, length = rows ? x.n : x.m;
  const Index extent = lines == 0 || length == 0 ? 0 : (lines - 1) * static_cast<Index>(x.ldc) + length;
  if (stride_c < 0 || (count > 1 && stride_c < extent)) return refuse(routine, 17);
  if (count < 0) return refuse(routine, 18);
  if constexpr (is_complex<T>) {
    for (Index p = 0; p < count; ++p)
      multiply(routine, x.call(rows, a + p * stride_a, b + p * stride_b, c + p * stride_c));
  } else {
    const GemmBatch batch{.call = x.call(rows, a, b, c),
                          .count = count,
                          .stride_a = rows ? stride_a : stride_b,
                          .stride_b = rows ? stride_b : stride_a,
                          .stride_c = stride_c};
    multiply(routine, {&batch, 1});
  }
}

/// Returns the groups with real elements in place of complex ones, which are two side by side. Their operands are not
/// looked at.
template <class T, class ProductOf>
std::vector<GemmBatch> results_of(bool rows, blas_int groups, const blas_int* sizes, ProductOf product, T* const* c) {
  std::vector<GemmBatch> all;
  all.reserve(static_cast<std::size_t>(groups));
  Index first = 0;
  for (blas_int g = 0; g < groups; first += sizes[g++]) {
    const ComplexGemmCall call = product(g).call(rows, nullptr, nullptr, nullptr);
    GemmBatch batch{.call = {}, .count = sizes[g]};
    batch.call.type = batch.call.result = call.type;
    batch.call.m = call.m;
    batch.call.n = 2 * call.n;
    batch.call.ldc = 2 * call.ldc;
    batch.c = reinterpret_cast<void* const*>(const_cast<T**>(c) + first);
    all.push_back(batch);
  }
  return all;
}

/// Computes all products of checked groups.
template <class T, class ProductOf>
void multiply_groups(const char* routine, bool rows, blas_int groups, const blas_int* sizes, ProductOf product,
                     const T* const* a, const T* const* b, T* const* c) {
  Index first = 0;
  if constexpr (is_complex<T>) {
    expect_results_apart(routine, results_of<T>(rows, groups, sizes, product, c));
    for (blas_int g = 0; g < groups; first += sizes[g++])
      for (Index p = first; p < first + sizes[g]; ++p) multiply(routine, product(g).call(rows, a[p], b[p], c[p]));
  } else {
    std::vector<GemmBatch> all;
    all.reserve(static_cast<std::size_t>(groups));
    for (blas_int g = 0; g < groups; first += sizes[g++]) {
      GemmBatch batch{.call = product(g).call(rows, nullptr, nullptr, nullptr), .count = sizes[g]};
      batch.a = reinterpret_cast<const void* const*>((rows ? a : b) + first);
      batch.b = reinterpret_cast<const void* const*>((rows ? b : a) + first);
      batch.c = reinterpret_cast<void* const*>(const_cast<T**>(c) + first);
      all.push_back(batch);
    }
    multiply(routine, all);
  }
}

/// Checks and computes groups of products. `product(g)` returns the arguments of group g. The arrays hold the pointers
/// of all groups, one group after another.
template <class T, class ProductOf>
void grouped_batch(const char* routine, Refuse refuse, bool rows, blas_int groups, const blas_int* sizes,
                   ProductOf product, const T* const* a, const T* const* b, T* const* c) noexcept {
  if (groups < 0) return refuse(routine, 15);
  for (blas_int g = 0; g < groups; ++g) {
    if (const blas_int wrong = product(g).wrong(rows); wrong != 0) return refuse(routine, wrong);
    if (sizes[g] < 0) return refuse(routine, 16);
  }
  try {
    multiply_groups<T>(routine, rows, groups, sizes, product, a, b, c);
  } catch (const std::exception& error) {
    std::fprintf(stderr, "tessera: %s: %s\n", routine, error.what());
    std::abort();
  }
}

template <class T>
std::optional<Op> cblas_op(int letter) {
  return known(letter) ? std::optional(op_of<T>(letter)) : std::nullopt;
}

template <class T>
void cblas_strided(const char* routine, int layout, int trans_a, int trans_b, blas_int m, blas_int n, blas_int k,
                   T alpha, const T* a, blas_int lda, blas_int stride_a, const T* b, blas_int ldb, blas_int stride_b,
                   T beta, T* c, blas_int ldc, blas_int stride_c, blas_int count) {
  if (layout != row_major && layout != col_major) return refuse_c(routine, 1);
  strided_batch<T>(routine, refuse_c, layout == row_major,
                   {cblas_op<T>(trans_a), cblas_op<T>(trans_b), m, n, k, alpha, lda, ldb, beta, ldc}, a, stride_a, b,
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
        cblas_op<T>(trans_a[g]), cblas_op<T>(trans_b[g]), m[g], n[g], k[g], alpha[g], lda[g], ldb[g], beta[g], ldc[g]};
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

} // namespace tessera::blas
