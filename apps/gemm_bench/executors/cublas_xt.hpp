#pragma once

/// cuBLASXt, the vendor's products of host matrices on several GPUs.

#include <memory>
#include <span>
#include <string>

#include <tessera/executor.hpp>

#include "gemm_bench/cublas.hpp"

namespace tessera::bench {

class CublasXt {
 public:
  /// Throws BackendUnavailable without the library, and DeviceError if it does not take the GPUs.
  explicit CublasXt(std::span<const int> devices);
  ~CublasXt();
  CublasXt(const CublasXt&) = delete;
  CublasXt& operator=(const CublasXt&) = delete;

  /// Sets the side of its blocks.
  void set_block(int side);
  /// Computes the row-major product of f32 or f64 operands in host memory, and returns when C is there. Throws
  /// DeviceError.
  void gemm(const GemmCall& call);

  static bool takes(DType type) { return type == DType::F32 || type == DType::F64; }

 private:
  Cublas library_;
  void* handle_ = nullptr;
};

} // namespace tessera::bench
