#pragma once

/// The products that cuBLASLt was asked for, each with the fastest kernel of its heuristics list.

#include <array>
#include <map>
#include <memory>
#include <mutex>
#include <tuple>

#include <tessera/executor.hpp>

#include "cublas_lt_library.hpp"

namespace tessera::cuda {

/// The properties of a product that decide which kernel is fastest.
struct LtKey {
  int device;
  DType type, result;
  cublasComputeType_t compute;
  Op op_a, op_b;
  GemmShape shape;
  Index lda, ldb, ldc;
  std::array<unsigned, 3> alignment; ///< of A, B and C in bytes, 256 at most
  bool reads_c;

  auto order() const {
    return std::tie(device, type, result, compute, op_a, op_b, shape, lda, ldb, ldc, alignment, reads_c);
  }
  bool operator<(const LtKey& other) const { return order() < other.order(); }
};

/// A product in cuBLASLt's terms. These are column-major: it computes Cᵀ = op(B)ᵀ·op(A)ᵀ, so that A and B change
/// places.
struct LtProduct {
  LtOwner<cublasLtMatmulDesc_t> description;
  LtOwner<cublasLtMatrixLayout_t> a, b, c; ///< layouts of the row-major operands with these names
  cublasLtMatmulAlgo_t algorithm{};
};

/// A call with its scalars in the type of the sums.
struct LtCall {
  const GemmCall& gemm;
  cublasComputeType_t compute;
  cudaDataType scalar;
  const void* alpha;
  const void* beta;
};

/// The products of this process, with their handles.
class CublasLtProducts {
 public:
  /// Returns the only instance.
  static CublasLtProducts& instance();

  /// Enqueues the product. The first call with a new LtKey times each kernel of the list on the queue, with the call's
  /// A and B and a C of scratch memory, and waits for that; so it cannot be recorded.
  Status run(Executor& executor, Queue& queue, const LtCall& call);

 private:
  CublasLtProducts() = default;
  Status handle(int device, cublasLtHandle_t& handle);

  static constexpr int most_devices = 64;

  std::mutex mutex_;
  std::array<cublasLtHandle_t, most_devices> handles_{};
  std::map<LtKey, LtProduct> products_;
};

} // namespace tessera::cuda
