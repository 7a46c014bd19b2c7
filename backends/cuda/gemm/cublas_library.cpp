#include "cublas_library.hpp"

#include <dlfcn.h>

#include <cstdlib>

#include "status.hpp"

namespace tessera::cuda {
namespace {

constexpr const char* candidates[] = {"libcublas.so.13", "libcublas.so.12", "/usr/local/cuda/lib64/libcublas.so.13",
                                      "/usr/local/cuda/lib64/libcublas.so.12"};

std::string loader_error() {
  const char* why = dlerror();
  return why == nullptr ? "unknown error of the dynamic loader" : why;
}

template <class Function>
bool find(void* library, const char* name, Function& function) {
  function = reinterpret_cast<Function>(dlsym(library, name));
  return function != nullptr;
}

} // namespace

CublasLibrary& CublasLibrary::instance() {
  static CublasLibrary library;
  return library;
}

CublasLibrary::CublasLibrary() { open(); }

void CublasLibrary::open() {
  void* library = nullptr;
  const char* named = std::getenv("TESSERA_CUBLAS");
  if (named != nullptr && *named != '\0') {
    library = dlopen(named, RTLD_NOW | RTLD_LOCAL);
    if (library == nullptr) {
      missing_ = "cuBLAS could not be opened at TESSERA_CUBLAS=" + std::string(named) + " (" + loader_error() +
                 "); set it to the path of libcublas.so.13 or .12";
      return;
    }
  }
  for (const char* candidate : candidates)
    if (library == nullptr) library = dlopen(candidate, RTLD_NOW | RTLD_LOCAL);
  if (library == nullptr) {
    missing_ = "cuBLAS was not found (" + loader_error() +
               "); install it, or set TESSERA_CUBLAS or LD_LIBRARY_PATH to where libcublas.so.13 or .12 is";
    return;
  }
  if (!find(library, "cublasCreate_v2", create_) || !find(library, "cublasSetStream_v2", set_stream_) ||
      !find(library, "cublasSetWorkspace_v2", set_workspace_) || !find(library, "cublasSetMathMode", set_math_mode_) ||
      !find(library, "cublasGetStatusString", status_string_) || !find(library, "cublasGemmEx_64", gemm_ex))
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
    // No tf32 unless a row's compute type asks for it; parts of a sum of 16-bit products are never rounded to 16 bits.
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
