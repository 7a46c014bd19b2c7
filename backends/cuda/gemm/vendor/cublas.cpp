/// cublas: the vendor's library, with a kernel for each math mode. The handwritten rungs are measured against it.
///
/// cuBLAS is column-major. A row-major matrix is the transpose of a column-major one, and Cᵀ = op(B)ᵀ·op(A)ᵀ: A and B
/// change places, and nothing is copied. Sizes are 64-bit numbers, so that every call fits. The order of summation is
/// cuBLAS's choice, so that no kernel keeps the contract.

#include <new>

#include <tessera/executor.hpp>

#include "cublas_library.hpp"
#include "cuda/gemm/ladder.hpp"
#include "cuda/queue/scratch.hpp"
#include "cuda/queue/stream.hpp"

namespace tessera::cuda {
namespace {

/// Bytes of workspace: NVIDIA's recommendation for Hopper. Each call takes its workspace from the stream's memory, so
/// that calls on different streams do not share one.
constexpr std::size_t workspace_bytes = 32 << 20;

const char* reject(const GemmKernel&, const GemmCall&, const Capabilities&) noexcept {
  return CublasLibrary::instance().missing();
}
const char* reject_before_ampere(const GemmKernel& kernel, const GemmCall& call, const Capabilities& machine) noexcept {
  if (machine.compute_major < 8) return "this mode needs compute capability 8.0 or higher; use math mode strict";
  return reject(kernel, call, machine);
}

cudaDataType data_type(DType type) {
  return type == DType::F64    ? CUDA_R_64F
         : type == DType::F16  ? CUDA_R_16F
         : type == DType::BF16 ? CUDA_R_16BF
                               : CUDA_R_32F;
}

/// Enqueues the product. T is the type of alpha, beta and the sums.
template <class T, cublasComputeType_t compute>
Status run(const GemmKernel&, Executor& executor, Queue& queue, const GemmCall& call) noexcept try {
  const cudaDataType type = data_type(call.type);
  const cudaDataType result = data_type(call.result);
  const auto operation = [](Op op) { return op == Op::None ? CUBLAS_OP_N : CUBLAS_OP_T; };
  const cudaStream_t stream = stream_of(queue);
  Scratch workspace;
  if (Status status = workspace.allocate(executor, queue, workspace_bytes); !status.ok()) return status;
  CublasLibrary& library = CublasLibrary::instance();
  const T alpha = static_cast<T>(call.alpha);
  const T beta = static_cast<T>(call.beta);
  return library.with_handle(stream, workspace.data(), workspace_bytes, [&](cublasHandle_t handle) {
    return library.gemm_ex(handle, operation(call.op_b), operation(call.op_a), call.n, call.m, call.k, &alpha, call.b,
                           type, call.ldb, call.a, type, call.lda, &beta, call.c, result, call.ldc, compute,
                           CUBLAS_GEMM_DEFAULT);
  });
} catch (const std::bad_alloc&) {
  return {StatusCode::OutOfMemory, {}};
}

constexpr GemmKernel strict_f32{.name = "cublas",
                                .summary = "cuBLAS in f32, its own summation",
                                .source = "CUDA matmul blog; kernel walkthrough",
                                .type = DType::F32,
                                .reject = reject,
                                .run = run<float, CUBLAS_COMPUTE_32F>};

constexpr GemmKernel strict_f64{.name = "cublas",
                                .summary = "cuBLAS in f64, on tensor cores where there are any",
                                .source = "CUDA matmul blog; kernel walkthrough",
                                .type = DType::F64,
                                .reject = reject,
                                .run = run<double, CUBLAS_COMPUTE_64F>};

/// A kernel with f32 operands and results, whose operands are rounded on the way to the tensor cores.
template <Math math, cublasComputeType_t compute>
constexpr GemmKernel reduced(const char* name, const char* summary) {
  return {.name = name,
          .summary = summary,
          .source = "CUDA matmul blog; kernel walkthrough",
          .type = DType::F32,
          .math = math,
          .accumulator = Accumulator::Truncating,
          .reject = reject_before_ampere,
          .run = run<float, compute>};
}

/// A kernel with 16-bit operands, which are not converted; C has their type or is f32.
constexpr GemmKernel unrounded(const char* name, const char* summary, DType type, Math math) {
  return {.name = name,
          .summary = summary,
          .source = "CUDA matmul blog; kernel walkthrough",
          .type = type,
          .math = math,
          .accumulator = Accumulator::Truncating,
          .reject = reject_before_ampere,
          .run = run<float, CUBLAS_COMPUTE_32F>};
}

} // namespace

const GemmKernel cublas_f32 = strict_f32;
const GemmKernel cublas_f64 = strict_f64;
const GemmKernel cublas_tf32_f32 =
    reduced<Math::Tf32, CUBLAS_COMPUTE_32F_FAST_TF32>("cublas_tf32", "cuBLAS with operands rounded to tf32");
const GemmKernel cublas_bf16_f32 =
    reduced<Math::Bf16, CUBLAS_COMPUTE_32F_FAST_16BF>("cublas_bf16", "cuBLAS with operands rounded to bf16");
const GemmKernel cublas_fp16_f32 =
    reduced<Math::Fp16, CUBLAS_COMPUTE_32F_FAST_16F>("cublas_fp16", "cuBLAS with operands rounded to fp16");
const GemmKernel cublas_bf16 = unrounded("cublas_bf16", "cuBLAS on bf16 operands, f32 sums", DType::BF16, Math::Bf16);
const GemmKernel cublas_f16 = unrounded("cublas_fp16", "cuBLAS on f16 operands, f32 sums", DType::F16, Math::Fp16);

} // namespace tessera::cuda
