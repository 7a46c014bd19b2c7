#include "cublas_lt_library.hpp"

#include <tessera/detail/found_once.hpp>

#include "cuda/device/vendor_library.hpp"

namespace tessera::cuda {

const CublasLtLibrary& CublasLtLibrary::instance() {
  static constinit detail::FoundOnce<const CublasLtLibrary> library;
  return library.get([] { return std::unique_ptr<const CublasLtLibrary>(new CublasLtLibrary); });
}

CublasLtLibrary::CublasLtLibrary() {
  void* library = open_library({"cuBLASLt", "TESSERA_CUBLASLT", "libcublasLt"}, missing_);
  if (library == nullptr) return;
  const auto find = [&](const char* name, auto& function) { return find_symbol(library, name, function); };
  if (!find("cublasLtCreate", create) || !find("cublasLtMatmul", matmul) ||
      !find("cublasLtMatmulAlgoGetHeuristic", heuristic) || !find("cublasLtMatmulDescCreate", create_product) ||
      !find("cublasLtMatmulDescDestroy", destroy_product) || !find("cublasLtMatmulDescSetAttribute", set_product) ||
      !find("cublasLtMatrixLayoutCreate", create_layout) || !find("cublasLtMatrixLayoutDestroy", destroy_layout) ||
      !find("cublasLtMatmulPreferenceCreate", create_preference) ||
      !find("cublasLtMatmulPreferenceDestroy", destroy_preference) ||
      !find("cublasLtMatmulPreferenceSetAttribute", set_preference) || !find("cublasLtGetStatusString", status_string_))
    missing_ = "this cuBLASLt has not all functions that are needed (" + loader_error() + "); use version 12 or newer";
}

Status CublasLtLibrary::check(cublasStatus_t status, const char* what) const {
  if (status == CUBLAS_STATUS_SUCCESS) return {};
  const std::string why = std::string(what) + ": " + status_string_(status);
  if (status == CUBLAS_STATUS_NOT_SUPPORTED) return {StatusCode::Rejected, "cuBLASLt has no kernel for this: " + why};
  if (status == CUBLAS_STATUS_ALLOC_FAILED) return {StatusCode::OutOfMemory, "out of memory: " + why};
  return {StatusCode::DeviceError, why};
}

} // namespace tessera::cuda
