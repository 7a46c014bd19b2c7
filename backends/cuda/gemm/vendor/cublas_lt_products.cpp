#include "cublas_lt_products.hpp"

#include <cstdint>
#include <string>
#include <utility>

#include "cublas_lt_search.hpp"
#include "cuda/device/status.hpp"
#include "cuda/queue/scratch.hpp"
#include "cuda/queue/stream.hpp"

namespace tessera::cuda {
namespace {

cudaDataType data_type(DType type) {
  return type == DType::F64    ? CUDA_R_64F
         : type == DType::F16  ? CUDA_R_16F
         : type == DType::BF16 ? CUDA_R_16BF
                               : CUDA_R_32F;
}

unsigned alignment_of(const void* pointer) {
  const auto address = reinterpret_cast<std::uintptr_t>(pointer);
  unsigned alignment = 256;
  while (address % alignment != 0) alignment /= 2;
  return alignment;
}

LtKey key_of(int device, const LtCall& call) {
  const GemmCall& x = call.gemm;
  return {device,
          x.type,
          x.result,
          call.compute,
          x.op_a,
          x.op_b,
          x.shape(),
          x.lda,
          x.ldb,
          x.ldc,
          {alignment_of(x.a), alignment_of(x.b), alignment_of(x.c)},
          x.beta != 0};
}

/// Describes a row-major matrix as the column-major matrix of its transpose.
Status describe_matrix(DType type, Index rows, Index cols, Index ld, LtOwner<cublasLtMatrixLayout_t>& layout) {
  const CublasLtLibrary& library = CublasLtLibrary::instance();
  cublasLtMatrixLayout_t made = nullptr;
  Status status = library.check(library.create_layout(&made, data_type(type), static_cast<std::uint64_t>(cols),
                                                      static_cast<std::uint64_t>(rows), ld),
                                "cublasLtMatrixLayoutCreate");
  layout.reset(made);
  return status;
}

Status describe(const LtCall& call, LtProduct& product) {
  const CublasLtLibrary& library = CublasLtLibrary::instance();
  const GemmCall& x = call.gemm;
  cublasLtMatmulDesc_t made = nullptr;
  Status status = library.check(library.create_product(&made, call.compute, call.scalar), "cublasLtMatmulDescCreate");
  product.description.reset(made);
  const auto set = [&](cublasLtMatmulDescAttributes_t attribute, Op op) {
    const std::int32_t operation = op == Op::None ? CUBLAS_OP_N : CUBLAS_OP_T;
    if (status.ok())
      status = library.check(library.set_product(made, attribute, &operation, sizeof operation),
                             "cublasLtMatmulDescSetAttribute");
  };
  set(CUBLASLT_MATMUL_DESC_TRANSA, x.op_b); // A and B change places
  set(CUBLASLT_MATMUL_DESC_TRANSB, x.op_a);
  const auto matrix = [&](DType type, Op op, Index rows, Index cols, Index ld, auto& layout) {
    if (op == Op::Transpose) std::swap(rows, cols);
    if (status.ok()) status = describe_matrix(type, rows, cols, ld, layout);
  };
  matrix(x.type, x.op_a, x.m, x.k, x.lda, product.a);
  matrix(x.type, x.op_b, x.k, x.n, x.ldb, product.b);
  matrix(x.result, Op::None, x.m, x.n, x.ldc, product.c);
  return status;
}

/// Rejects a queue that is recording: timing waits for the device, which a recording does not allow.
Status check_not_recorded(cudaStream_t stream) {
  cudaStreamCaptureStatus capture = cudaStreamCaptureStatusNone;
  if (Status status = check(cudaStreamIsCapturing(stream, &capture), "cuBLASLt: state of the queue"); !status.ok())
    return status;
  if (capture == cudaStreamCaptureStatusNone) return {};
  return {StatusCode::Rejected,
          "cuBLASLt's kernels are timed at the first product of a kind, which cannot be recorded; run it once before"};
}

} // namespace

CublasLtProducts& CublasLtProducts::instance() {
  static CublasLtProducts products;
  return products;
}

Status CublasLtProducts::handle(int device, cublasLtHandle_t& handle) {
  if (device < 0 || device >= most_devices)
    return {StatusCode::DeviceError, "cuBLASLt: device " + std::to_string(device) + " is beyond the " +
                                         std::to_string(most_devices) + " that Tessera keeps handles for"};
  const CublasLtLibrary& library = CublasLtLibrary::instance();
  cublasLtHandle_t& kept = handles_[static_cast<std::size_t>(device)];
  if (kept == nullptr)
    if (Status status = library.check(library.create(&kept), "cublasLtCreate"); !status.ok()) return status;
  handle = kept;
  return {};
}

Status CublasLtProducts::run(Executor& executor, Queue& queue, const LtCall& call) {
  const CublasLtLibrary& library = CublasLtLibrary::instance();
  const cudaStream_t stream = stream_of(queue);
  Scratch workspace;
  if (Status status = workspace.allocate(executor, queue, lt_workspace_bytes); !status.ok()) return status;
  int device = 0;
  if (Status status = check(cudaGetDevice(&device), "cuBLASLt: current device"); !status.ok()) return status;
  const LtKey key = key_of(device, call);

  const std::lock_guard lock(mutex_);
  cublasLtHandle_t handle = nullptr;
  if (Status status = this->handle(device, handle); !status.ok()) return status;
  auto found = products_.find(key);
  if (found == products_.end()) {
    if (Status status = check_not_recorded(stream); !status.ok()) return status;
    LtProduct product;
    if (Status status = describe(call, product); !status.ok()) return status;
    if (Status status = find_fastest(handle, key, executor, queue, call, workspace.data(), product); !status.ok())
      return status;
    found = products_.emplace(key, std::move(product)).first;
  }
  const LtProduct& product = found->second;
  return library.check(
      library.matmul(handle, product.description.get(), call.alpha, call.gemm.b, product.b.get(), call.gemm.a,
                     product.a.get(), call.beta, call.gemm.c, product.c.get(), call.gemm.c, product.c.get(),
                     &product.algorithm, workspace.data(), lt_workspace_bytes, stream),
      "cublasLtMatmul");
}

} // namespace tessera::cuda
