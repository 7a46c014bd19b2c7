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
#include "xerbla.hpp"

namespace tessera::blas {

/// Reports an illegal argument. `position` counts as C does, with the layout first. The call is not handed on: other
/// libraries compute batches that this one refuses.
using Refuse = void (*)(const Routine& routine, int position);

inline void refuse_c(const Routine& routine, int position) { report_cblas(routine, position, "%s", ""); }
inline void refuse_fortran(const Routine& routine, int position) { report_fortran(routine, position - 1); }

/// One product's arguments except for its matrices, as the caller passed them.
template <class T>
struct BatchArguments {
  std::optional<Op> op_a, op_b;
  GemmShape shape;
  T alpha;
  Index lda, ldb;
  T beta;
  Index ldc;

  bool by_rows_a(bool rows) const { return (*op_a == Op::None) == rows; }
  bool by_rows_b(bool rows) const { return (*op_b == Op::None) == rows; }
  /// Returns the position of an illegal argument in a single product's list: 0 for none, 2, 3 for the transposes, 4, 5,
  /// 6 for sizes, 9, 11, 14 for leading dimensions.
  int wrong(bool rows) const {
    if (!op_a) return 2;
    if (!op_b) return 3;
    const Spans spans{by_rows_a(rows) ? shape.k : shape.m, by_rows_b(rows) ? shape.n : shape.k,
                      rows ? shape.n : shape.m};
    const int position = wrong_argument(shape, lda, ldb, ldc, spans);
    return position == 0 ? 0 : position + 1;
  }
  CallOf<T> call(bool rows, const T* a, const T* b, T* c) const {
    return rows ? by_rows<T>(*op_a, *op_b, shape.m, shape.n, shape.k, alpha, a, lda, b, ldb, beta, c, ldc)
                : column_major<T>(*op_a, *op_b, shape.m, shape.n, shape.k, alpha, a, lda, b, ldb, beta, c, ldc);
  }
};

inline Order order_of(bool rows) { return rows ? Order::Rows : Order::Columns; }

template <class T>
void strided_batch(const Routine& routine, Refuse refuse, bool rows, const BatchArguments<T>& x, const T* a,
                   Index stride_a, const T* b, Index stride_b, T* c, Index stride_c, Index count) {
  const int wrong = x.wrong(rows);
  // A batch has strides between the arguments of a single product.
  if (wrong != 0) return refuse(routine, wrong == 11 ? 12 : wrong == 14 ? 16 : wrong);
  if (stride_a < 0) return refuse(routine, 10);
  if (stride_b < 0) return refuse(routine, 13);
  const Index lines = rows ? x.shape.m : x.shape.n, length = rows ? x.shape.n : x.shape.m;
  const Index extent = lines == 0 || length == 0 ? 0 : (lines - 1) * x.ldc + length;
  if (stride_c < 0 || (count > 1 && stride_c < extent)) return refuse(routine, 17);
  if (count < 0) return refuse(routine, 18);
  if constexpr (is_complex<T>) {
    for (Index p = 0; p < count; ++p)
      multiply(routine.word, x.call(rows, a + p * stride_a, b + p * stride_b, c + p * stride_c), order_of(rows));
  } else {
    const GemmBatch batch{.call = x.call(rows, a, b, c),
                          .count = count,
                          .stride_a = rows ? stride_a : stride_b,
                          .stride_b = rows ? stride_b : stride_a,
                          .stride_c = stride_c};
    multiply(routine.word, {&batch, 1}, order_of(rows));
  }
}

/// Returns the groups with real elements in place of complex ones, which are two side by side. Their operands are not
/// looked at.
template <class T, class ProductOf, class SizeOf>
std::vector<GemmBatch> results_of(bool rows, Index groups, SizeOf size, ProductOf product, T* const* c) {
  std::vector<GemmBatch> all;
  all.reserve(static_cast<std::size_t>(groups));
  Index first = 0;
  for (Index g = 0; g < groups; first += size(g++)) {
    const ComplexGemmCall call = product(g).call(rows, nullptr, nullptr, nullptr);
    GemmBatch batch{.call = {}, .count = size(g)};
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
template <class T, class ProductOf, class SizeOf>
void multiply_groups(const Routine& routine, bool rows, Index groups, SizeOf size, ProductOf product, const T* const* a,
                     const T* const* b, T* const* c) {
  Index first = 0;
  if constexpr (is_complex<T>) {
    expect_results_apart(routine.word, results_of<T>(rows, groups, size, product, c));
    for (Index g = 0; g < groups; first += size(g++))
      for (Index p = first; p < first + size(g); ++p)
        multiply(routine.word, product(g).call(rows, a[p], b[p], c[p]), order_of(rows));
  } else {
    std::vector<GemmBatch> all;
    all.reserve(static_cast<std::size_t>(groups));
    for (Index g = 0; g < groups; first += size(g++)) {
      GemmBatch batch{.call = product(g).call(rows, nullptr, nullptr, nullptr), .count = size(g)};
      batch.a = reinterpret_cast<const void* const*>((rows ? a : b) + first);
      batch.b = reinterpret_cast<const void* const*>((rows ? b : a) + first);
      batch.c = reinterpret_cast<void* const*>(const_cast<T**>(c) + first);
      all.push_back(batch);
    }
    multiply(routine.word, all, order_of(rows));
  }
}

/// Checks and computes groups of products. `product(g)` returns the arguments of group g. The arrays hold the pointers
/// of all groups, one group after another.
template <class T, class ProductOf, class SizeOf>
void grouped_batch(const Routine& routine, Refuse refuse, bool rows, Index groups, SizeOf size, ProductOf product,
                   const T* const* a, const T* const* b, T* const* c) {
  if (groups < 0) return refuse(routine, 15);
  for (Index g = 0; g < groups; ++g) {
    if (const int wrong = product(g).wrong(rows); wrong != 0) return refuse(routine, wrong);
    if (size(g) < 0) return refuse(routine, 16);
  }
  try {
    multiply_groups<T>(routine, rows, groups, size, product, a, b, c);
  } catch (const std::exception& error) {
    std::fprintf(stderr, "tessera: %s: %s\n", routine.word, error.what());
    std::abort();
  }
}

template <class T>
std::optional<Op> cblas_op(int letter) {
  return known(letter) ? std::optional(op_of<T>(letter)) : std::nullopt;
}

template <class T>
void cblas_strided(const Routine& routine, int layout, int trans_a, int trans_b, blas_word m, blas_word n, blas_word k,
                   T alpha, const T* a, blas_word lda, blas_word stride_a, const T* b, blas_word ldb,
                   blas_word stride_b, T beta, T* c, blas_word ldc, blas_word stride_c, blas_word count) {
  if (layout != row_major && layout != col_major) return refuse_c(routine, 1);
  const Integers value(routine);
  strided_batch<T>(routine, refuse_c, layout == row_major,
                   {cblas_op<T>(trans_a),
                    cblas_op<T>(trans_b),
                    {.m = value(m), .n = value(n), .k = value(k)},
                    alpha,
                    value(lda),
                    value(ldb),
                    beta,
                    value(ldc)},
                   a, value(stride_a), b, value(stride_b), c, value(stride_c), value(count));
}

template <class T>
void cblas_groups(const Routine& routine, int layout, const int* trans_a, const int* trans_b, const blas_int* m,
                  const blas_int* n, const blas_int* k, const T* alpha, const T* const* a, const blas_int* lda,
                  const T* const* b, const blas_int* ldb, const T* beta, T* const* c, const blas_int* ldc,
                  blas_word groups, const blas_int* sizes) {
  if (layout != row_major && layout != col_major) return refuse_c(routine, 1);
  const Integers value(routine);
  const auto product = [&](Index g) {
    return BatchArguments<T>{cblas_op<T>(trans_a[g]),
                             cblas_op<T>(trans_b[g]),
                             {.m = value.at(m, g), .n = value.at(n, g), .k = value.at(k, g)},
                             alpha[g],
                             value.at(lda, g),
                             value.at(ldb, g),
                             beta[g],
                             value.at(ldc, g)};
  };
  const auto size = [&](Index g) { return value.at(sizes, g); };
  grouped_batch<T>(routine, refuse_c, layout == row_major, value(groups), size, product, a, b, c);
}

template <class T>
void fortran_strided(const Routine& routine, const char* trans_a, const char* trans_b, const blas_int* m,
                     const blas_int* n, const blas_int* k, const T* alpha, const T* a, const blas_int* lda,
                     const blas_int* stride_a, const T* b, const blas_int* ldb, const blas_int* stride_b, const T* beta,
                     T* c, const blas_int* ldc, const blas_int* stride_c, const blas_int* count) {
  const Integers value(routine);
  strided_batch<T>(routine, refuse_fortran, false,
                   {parse_op<T>(*trans_a),
                    parse_op<T>(*trans_b),
                    {.m = value(m), .n = value(n), .k = value(k)},
                    *alpha,
                    value(lda),
                    value(ldb),
                    *beta,
                    value(ldc)},
                   a, value(stride_a), b, value(stride_b), c, value(stride_c), value(count));
}

template <class T>
void fortran_groups(const Routine& routine, const char* trans_a, const char* trans_b, const blas_int* m,
                    const blas_int* n, const blas_int* k, const T* alpha, const T* const* a, const blas_int* lda,
                    const T* const* b, const blas_int* ldb, const T* beta, T* const* c, const blas_int* ldc,
                    const blas_int* groups, const blas_int* sizes) {
  const Integers value(routine);
  const auto product = [&](Index g) {
    return BatchArguments<T>{parse_op<T>(trans_a[g]),
                             parse_op<T>(trans_b[g]),
                             {.m = value.at(m, g), .n = value.at(n, g), .k = value.at(k, g)},
                             alpha[g],
                             value.at(lda, g),
                             value.at(ldb, g),
                             beta[g],
                             value.at(ldc, g)};
  };
  const auto size = [&](Index g) { return value.at(sizes, g); };
  grouped_batch<T>(routine, refuse_fortran, false, value(groups), size, product, a, b, c);
}

} // namespace tessera::blas
