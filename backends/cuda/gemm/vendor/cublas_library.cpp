#include "cublas_library.hpp"

#include <memory>

#include <tessera/detail/found_once.hpp>

#include "cuda/device/status.hpp"
#include "cuda/device/vendor_library.hpp"

namespace tessera::cuda {

CublasLibrary& CublasLibrary::instance() {
  static constinit detail::FoundOnce<CublasLibrary> library;
  return library.get([] { return std::unique_ptr<CublasLibrary>(new CublasLibrary); });
}

CublasLibrary::CublasLibrary() { open(); }

void CublasLibrary::open() {
  void* library = open_library({"cuBLAS", "TESSERA_CUBLAS", "libcublas"}, missing_);
  if (library == nullptr) return;
  if (!find_symbol(library, "cublasCreate_v2", create_) || !find_symbol(library, "cublasSetStream_v2", set_stream_) ||
      !find_symbol(library, "cublasSetWorkspace_v2", set_workspace_) ||
      !find_symbol(library, "cublasSetMathMode", set_math_mode_) ||
      !find_symbol(library, "cublasGetStatusString", status_string_) ||
      !find_symbol(library, "cublasGemmEx_64", gemm_ex))
    missing_ = "this cuBLAS has not all functions that are needed (" + loader_error() + "); use version 12 or newer";
}

Status CublasLibrary::prepare(cudaStream_t stream, void* workspace, std::size_t workspace_bytes,
                              cublasHandle_t& handle) {
  int device = 0;
  if (Status status = cuda::check(cudaGetDevice(&device), "cuBLAS: current device"); !status.ok()) return status;
  if (device < 0 || device >= most_devices)
    return {StatusCode::DeviceError, "cuBLAS: device " + std::to_string(device) + " is beyond the " +
                                         std::to_string(most_devices) + " that Tessera keeps handles for"};
  cublasHandle_t& kept = handles_[device];
  if (kept == nullptr) {
    if (Status status = check(create_(&kept), "cublasCreate"); !status.ok()) return status;
    // tf32 is used only if a kernel's compute type asks for it. Partial sums of 16-bit products are never rounded to 16
    // bits.
    const auto mode = static_cast<cublasMath_t>(CUBLAS_DEFAULT_MATH | CUBLAS_MATH_DISALLOW_REDUCED_PRECISION_REDUCTION);
    if (Status status = check(set_math_mode_(kept, mode), "cublasSetMathMode"); !status.ok()) return status;
  }
  handle = kept;
  if (Status status = check(set_stream_(handle, stream), "cublasSetStream"); !status.ok()) return status;
  return check(set_workspace_(handle, workspace, workspace_bytes), "cublasSetWorkspace");
}

Status CublasLibrary::check(cublasStatus_t status, const char* what) const {
  if (status == CUBLAS_STATUS_SUCCESS) return {};
  const std::string why = std::string(what) + ": " + status_string_(status);
  if (status == CUBLAS_STATUS_ALLOC_FAILED) return {StatusCode::OutOfMemory, "out of device memory: " + why};
  return {StatusCode::DeviceError, why};
}

} // namespace tessera::cuda
