/// cublas_lt: for each math mode, the fastest kernel of cuBLASLt's heuristics list.
///
/// cuBLAS chooses a kernel by a guess. cublas_lt times each of the (up to eight) kernels that cuBLASLt holds to be good
/// when a product is first met, and keep the fastest for products with equal shape, transposes and alignment. That is
/// the best that the vendor offers: a yardstick, which runs only where it is named. The order of summation is
/// cuBLASLt's choice, so that no kernel keeps the contract.

#include <new>

#include "cublas_lt_library.hpp"
#include "cublas_lt_products.hpp"
#include "cuda/gemm/ladder.hpp"

namespace tessera::cuda {
namespace {

const char* reject(const GemmKernel&, const GemmCall&, const Capabilities&) noexcept {
  return CublasLtLibrary::instance().missing();
}
const char* reject_before_ampere(const GemmKernel& kernel, const GemmCall& call, const Capabilities& machine) noexcept {
  if (machine.compute_major < 8) return "this mode needs compute capability 8.0 or higher; use math mode strict";
  return reject(kernel, call, machine);
}

/// Enqueues the product. T is the type of alpha, beta and the sums.
template <class T, cublasComputeType_t compute>
Status run(const GemmKernel&, Executor& executor, Queue& queue, const GemmCall& call) noexcept try {
  const T alpha = static_cast<T>(call.alpha);
  const T beta = static_cast<T>(call.beta);
  constexpr cudaDataType scalar = sizeof(T) == 8 ? CUDA_R_64F : CUDA_R_32F;
  return CublasLtProducts::instance().run(executor, queue, {call, compute, scalar, &alpha, &beta});
} catch (const std::bad_alloc&) {
  return {StatusCode::OutOfMemory, {}};
}

constexpr const char* source = "cuBLAS documentation, cublasLtMatmulAlgoGetHeuristic";

template <class T, cublasComputeType_t compute>
constexpr GemmKernel strict(DType type) {
  return {.name = "cublas_lt",
          .summary = "the fastest kernel of cuBLASLt's list, its own summation",
          .source = source,
          .type = type,
          .reject = reject,
          .run = run<T, compute>,
          .yardstick = true};
}

template <cublasComputeType_t compute>
constexpr GemmKernel reduced(const char* name, const char* summary, DType type, Math math) {
  return {.name = name,
          .summary = summary,
          .source = source,
          .type = type,
          .math = math,
          .accumulator = Accumulator::Truncating,
          .reject = reject_before_ampere,
          .run = run<float, compute>,
          .yardstick = true};
}

} // namespace

const GemmKernel cublas_lt_f32 = strict<float, CUBLAS_COMPUTE_32F>(DType::F32);
const GemmKernel cublas_lt_f64 = strict<double, CUBLAS_COMPUTE_64F>(DType::F64);
const GemmKernel cublas_lt_tf32_f32 = reduced<CUBLAS_COMPUTE_32F_FAST_TF32>(
    "cublas_lt_tf32", "the fastest of cuBLASLt's list, operands rounded to tf32", DType::F32, Math::Tf32);
const GemmKernel cublas_lt_bf16_f32 = reduced<CUBLAS_COMPUTE_32F_FAST_16BF>(
    "cublas_lt_bf16", "the fastest of cuBLASLt's list, operands rounded to bf16", DType::F32, Math::Bf16);
const GemmKernel cublas_lt_fp16_f32 = reduced<CUBLAS_COMPUTE_32F_FAST_16F>(
    "cublas_lt_fp16", "the fastest of cuBLASLt's list, operands rounded to fp16", DType::F32, Math::Fp16);
const GemmKernel cublas_lt_bf16 = reduced<CUBLAS_COMPUTE_32F>(
    "cublas_lt_bf16", "the fastest of cuBLASLt's list, bf16 operands, f32 sums", DType::BF16, Math::Bf16);
const GemmKernel cublas_lt_f16 = reduced<CUBLAS_COMPUTE_32F>(
    "cublas_lt_fp16", "the fastest of cuBLASLt's list, f16 operands, f32 sums", DType::F16, Math::Fp16);

} // namespace tessera::cuda
