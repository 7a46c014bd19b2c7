#pragma once

/// Somebody else's GEMM, opened at run time: a library with the C interface of the BLAS (OpenBLAS, MKL, BLIS, …; also
/// scipy-openblas, whose names carry a prefix), or oneDNN with its dnnl_sgemm, which has no double precision.
/// Source: BLAS Technical Forum Standard (2001), appendix B; oneDNN's developer guide, "BLAS functions".

#include <mutex>
#include <string>
#include <string_view>

#include <tessera/backend/kernel.hpp>

namespace tessera::cpu {

class CblasLibrary {
 public:
  /// A file name, found as the dynamic linker does, or a path. Opened when first needed, and never closed: the threads
  /// of such libraries may not survive that.
  explicit CblasLibrary(std::string_view file);

  /// "/usr/lib/libmkl_rt.so.2" → "mkl_rt".
  const std::string& name() const { return name_; }

  /// Why the library cannot be used; null if it can.
  const char* problem();
  /// Null if it can multiply this type.
  const char* problem_with(DType type);

  /// False for oneDNN, which has no function for it: it uses all processors. Opens the library.
  bool can_set_threads() { return problem() == nullptr && set_threads_ != nullptr; }

  /// The product of a checked call whose sizes fit an int; problem_with() was null. One call at a time: the number of
  /// threads is the library's global state.
  void gemm(const GemmCall& call, int threads);

 private:
  void open();
  void set_threads(int threads);
  template <class T>
  void run(const GemmCall& call) const;

  const std::string file_;
  const std::string name_;
  std::once_flag opened_;
  std::string problem_;
  std::string no_double_;
  std::mutex mutex_;
  void* sgemm_ = nullptr;
  void* dgemm_ = nullptr;
  void* dnnl_sgemm_ = nullptr;
  void* set_threads_ = nullptr;
  bool setter_takes_long_ = false;
  int threads_ = 0; ///< what the library was last told
};

} // namespace tessera::cpu
