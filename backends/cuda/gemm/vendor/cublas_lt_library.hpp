#pragma once

/// cuBLASLt, opened when a kernel first asks for it.
///
/// If TESSERA_CUBLASLT names a library, that one is used and no other is tried. Otherwise libcublasLt.so.13 and .12 are
/// looked for in the folders of TESSERA_CUBLAS_PATH, where the dynamic loader looks, and in /usr/local/cuda/lib64.

#include <cublasLt.h>

#include <memory>
#include <string>

#include <tessera/status.hpp>

namespace tessera::cuda {

class CublasLtLibrary {
 public:
  /// Returns the only instance of this process. The first call opens the library.
  static const CublasLtLibrary& instance();

  /// Returns null, or the reason why the library cannot be used and what to do.
  const char* missing() const noexcept { return missing_.empty() ? nullptr : missing_.c_str(); }

  /// Converts a status of cuBLASLt. A product that it does not support is Rejected.
  Status check(cublasStatus_t status, const char* what) const;

  decltype(&cublasLtCreate) create = nullptr;
  decltype(&cublasLtMatmul) matmul = nullptr;
  decltype(&cublasLtMatmulAlgoGetHeuristic) heuristic = nullptr;
  decltype(&cublasLtMatmulDescCreate) create_product = nullptr;
  decltype(&cublasLtMatmulDescDestroy) destroy_product = nullptr;
  decltype(&cublasLtMatmulDescSetAttribute) set_product = nullptr;
  decltype(&cublasLtMatrixLayoutCreate) create_layout = nullptr;
  decltype(&cublasLtMatrixLayoutDestroy) destroy_layout = nullptr;
  decltype(&cublasLtMatmulPreferenceCreate) create_preference = nullptr;
  decltype(&cublasLtMatmulPreferenceDestroy) destroy_preference = nullptr;
  decltype(&cublasLtMatmulPreferenceSetAttribute) set_preference = nullptr;

 private:
  CublasLtLibrary();

  std::string missing_;
  decltype(&cublasLtGetStatusString) status_string_ = nullptr;
};

/// Owners of cuBLASLt's descriptors.
struct DestroyLt {
  void operator()(cublasLtMatmulDesc_t x) const { CublasLtLibrary::instance().destroy_product(x); }
  void operator()(cublasLtMatrixLayout_t x) const { CublasLtLibrary::instance().destroy_layout(x); }
  void operator()(cublasLtMatmulPreference_t x) const { CublasLtLibrary::instance().destroy_preference(x); }
};
template <class Pointer>
using LtOwner = std::unique_ptr<std::remove_pointer_t<Pointer>, DestroyLt>;

} // namespace tessera::cuda
