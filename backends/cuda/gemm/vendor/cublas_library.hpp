#pragma once

/// cuBLAS, opened when a kernel first asks for it. The plug-in does not link it, because the handwritten rungs do not
/// need it.
///
/// If TESSERA_CUBLAS names a library, that one is used and no other is tried. Otherwise libcublas.so.13 and .12 are
/// looked for in the folders of TESSERA_CUBLAS_PATH, where the dynamic loader looks, and in /usr/local/cuda/lib64.

#include <cublas_v2.h>
#include <cuda_runtime_api.h>

#include <mutex>
#include <string>

#include <tessera/status.hpp>

namespace tessera::cuda {

class CublasLibrary {
 public:
  /// Returns the only instance of this process. The first call opens the library.
  static CublasLibrary& instance();

  /// Returns null, or the reason why the library cannot be used and what to do.
  const char* missing() const noexcept { return missing_.empty() ? nullptr : missing_.c_str(); }

  /// Calls use(handle) with the current device's handle, which is set to the stream and the workspace, under a lock: no
  /// other thread uses the handle meanwhile. A handle is created on first use and kept.
  template <class Use>
  Status with_handle(cudaStream_t stream, void* workspace, std::size_t workspace_bytes, Use use) {
    const std::lock_guard lock(mutex_);
    cublasHandle_t handle = nullptr;
    if (Status status = prepare(stream, workspace, workspace_bytes, handle); !status.ok()) return status;
    return check(use(handle), "cublasGemmEx");
  }

  decltype(&cublasGemmEx_64) gemm_ex = nullptr;

 private:
  CublasLibrary();
  void open();
  Status prepare(cudaStream_t stream, void* workspace, std::size_t workspace_bytes, cublasHandle_t& handle);
  Status check(cublasStatus_t status, const char* what) const;

  static constexpr int most_devices = 64;

  std::string missing_;
  std::mutex mutex_;
  cublasHandle_t handles_[most_devices] = {};
  decltype(&cublasCreate_v2) create_ = nullptr;
  decltype(&cublasSetStream_v2) set_stream_ = nullptr;
  decltype(&cublasSetWorkspace_v2) set_workspace_ = nullptr;
  decltype(&cublasSetMathMode) set_math_mode_ = nullptr;
  decltype(&cublasGetStatusString) status_string_ = nullptr;
};

} // namespace tessera::cuda
