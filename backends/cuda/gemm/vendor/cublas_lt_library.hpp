#pragma once

/// cuBLASLt, opened when a row first asks for it.
///
/// TESSERA_CUBLASLT names the library to use, and then no other is tried. Else libcublasLt.so.13 and .12 are looked for
/// where the dynamic loader looks, and in /usr/local/cuda/lib64.

#include <cublasLt.h>

#include <memory>
#include <string>

#include <tessera/status.hpp>

namespace tessera::cuda {

class CublasLtLibrary {
 public:
  /// The one library of this process; opened by the first call.
  static const CublasLtLibrary& instance();

  /// Null, or why it cannot be used and what to do.
  const char* missing() const noexcept { return missing_.empty() ? nullptr : missing_.c_str(); }

  /// What it does not support is Rejected.
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

/// Owners of its descriptors.
struct DestroyLt {
  void operator()(cublasLtMatmulDesc_t x) const { CublasLtLibrary::instance().destroy_product(x); }
  void operator()(cublasLtMatrixLayout_t x) const { CublasLtLibrary::instance().destroy_layout(x); }
  void operator()(cublasLtMatmulPreference_t x) const { CublasLtLibrary::instance().destroy_preference(x); }
};
template <class Pointer>
using LtOwner = std::unique_ptr<std::remove_pointer_t<Pointer>, DestroyLt>;

} // namespace tessera::cuda
