/// Batches of the C interface.

#include <vector>

#include <tessera/gemm_batch.hpp>

#include "c_api.hpp"

using namespace tessera;
using namespace tessera::c_api;

namespace {

template <class T>
tessera_status strided_batch(tessera_op op_a, tessera_op op_b, int64_t m, int64_t n, int64_t k, T alpha, const T* a,
                             int64_t lda, int64_t stride_a, const T* b, int64_t ldb, int64_t stride_b, T beta, T* c,
                             int64_t ldc, int64_t stride_c, int64_t count, const tessera_options* options) noexcept {
  return guarded([&] {
    expect_plain(options, dtype_of<T>, "use tessera_gemm_batch()");
    gemm_batch<T>(checked(op_a, "op_a"), checked(op_b, "op_b"), m, n, k, alpha, a, lda, stride_a, b, ldb, stride_b,
                  beta, c, ldc, stride_c, count, options_of(options));
  });
}

GemmBatch batch_of(DType type, const tessera_gemm_group& x, const tessera_options* words, const GemmOptions& options) {
  return {.call = {{.type = type,
                    .math = options.math,
                    .op_a = checked(x.op_a, "op_a"),
                    .op_b = checked(x.op_b, "op_b"),
                    .m = x.m,
                    .n = x.n,
                    .k = x.k,
                    .alpha = as_scalar(x.alpha, type),
                    .a = x.a,
                    .lda = x.lda,
                    .b = x.b,
                    .ldb = x.ldb,
                    .beta = as_scalar(x.beta, type),
                    .c = x.c,
                    .ldc = x.ldc,
                    .threads = options.threads},
                   result_of(words, type),
                   epilogue_of(words)},
          .count = x.count,
          .stride_a = x.stride_a,
          .stride_b = x.stride_b,
          .stride_c = x.stride_c,
          .a = x.all_a,
          .b = x.all_b,
          .c = x.all_c};
}

std::vector<GemmBatch> batches_of(tessera_dtype type, const tessera_gemm_group* groups, size_t group_count,
                                  const tessera_options* words, const GemmOptions& options) {
  const DType element = checked_type(type, "type");
  if (groups == nullptr && group_count > 0)
    throw InvalidArgument("groups is null, but group_count = " + std::to_string(group_count));
  std::vector<GemmBatch> batches;
  batches.reserve(group_count);
  for (size_t g = 0; g < group_count; ++g) batches.push_back(batch_of(element, groups[g], words, options));
  return batches;
}

} // namespace

tessera_status tessera_gemm_strided_batch_f32(tessera_op op_a, tessera_op op_b, int64_t m, int64_t n, int64_t k,
                                              float alpha, const float* a, int64_t lda, int64_t stride_a,
                                              const float* b, int64_t ldb, int64_t stride_b, float beta, float* c,
                                              int64_t ldc, int64_t stride_c, int64_t count,
                                              const tessera_options* options) {
  return strided_batch(op_a, op_b, m, n, k, alpha, a, lda, stride_a, b, ldb, stride_b, beta, c, ldc, stride_c, count,
                       options);
}

tessera_status tessera_gemm_strided_batch_f64(tessera_op op_a, tessera_op op_b, int64_t m, int64_t n, int64_t k,
                                              double alpha, const double* a, int64_t lda, int64_t stride_a,
                                              const double* b, int64_t ldb, int64_t stride_b, double beta, double* c,
                                              int64_t ldc, int64_t stride_c, int64_t count,
                                              const tessera_options* options) {
  return strided_batch(op_a, op_b, m, n, k, alpha, a, lda, stride_a, b, ldb, stride_b, beta, c, ldc, stride_c, count,
                       options);
}

tessera_status tessera_gemm_batch(tessera_dtype type, const tessera_gemm_group* groups, size_t group_count,
                                  const tessera_options* options) {
  return guarded([&] {
    const GemmOptions chosen = options_of(options);
    tessera::detail::gemm_batch_raw(batches_of(type, groups, group_count, options, chosen), chosen);
  });
}

tessera_status tessera_executor_gemm_batch(tessera_executor* executor, tessera_dtype type,
                                           const tessera_gemm_group* groups, size_t group_count,
                                           const tessera_options* options) {
  return guarded([&] {
    Executor& target = executor_of(executor);
    const GemmOptions chosen = options_of(options);
    throw_if_failed(target.gemm_batch(target.default_queue(), batches_of(type, groups, group_count, options, chosen),
                                      chosen.kernel));
  });
}
