#pragma once

/// Opens another library's GEMM at run time. The library has the C interface of the BLAS (OpenBLAS, MKL, BLIS, …; also
/// scipy-openblas, whose names carry a prefix), or is oneDNN with its dnnl_sgemm, which has no double precision.
/// Source: BLAS Technical Forum Standard (2001), appendix B; oneDNN's developer guide, "BLAS functions".

#include <memory>
#include <mutex>
#include <string>
#include <string_view>

#include <tessera/backend/kernel.hpp>
#include <tessera/detail/found_once.hpp>

namespace tessera::cpu {

class CblasLibrary {
 public:
  /// `file` is a path, or a file name that the dynamic linker finds. The library is opened when it is first needed. It
  /// is never closed, because the threads of such libraries may not survive that.
  explicit CblasLibrary(std::string_view file);

  /// The name in the kernel's name: "/usr/lib/libmkl_rt.so.2" has the name "mkl_rt".
  const std::string& name() const { return name_; }

  /// Returns why the library cannot be used, or null if it can be. Opens the library.
  const char* problem();
  /// Returns why the library cannot multiply matrices of this type, or null if it can. Opens the library.
  const char* problem_with(DType type);

  /// Says whether the library's number of threads can be set. oneDNN has no function for it and uses all processors.
  /// Opens the library.
  bool can_set_threads() { return problem() == nullptr && opened().set_threads != nullptr; }

  /// Returns another function of the library, such as "dpotrf_"; null if it has none of this name. Opens the library.
  void* function(const std::string& name);
  /// Tells the library how many threads its functions may use, where can_set_threads().
  void set_threads(int threads);

  /// Computes a checked call whose sizes fit an int. problem_with() must have returned null. One call runs at a time,
  /// because the number of threads is global state of the library.
  void gemm(const GemmCall& call, int threads);

 private:
  /// The library's functions; null: it has none of this name.
  struct Opened {
    std::string problem;
    std::string no_double;
    void* handle = nullptr;
    void* sgemm = nullptr;
    void* dgemm = nullptr;
    void* dnnl_sgemm = nullptr;
    void* set_threads = nullptr;
    bool setter_takes_long = false;
  };
  const Opened& opened();
  std::unique_ptr<const Opened> open() const;
  template <class T>
  void run(const GemmCall& call);

  const std::string file_;
  const std::string name_;
  detail::FoundOnce<const Opened> opened_;
  std::mutex mutex_;
  int threads_ = 0; ///< the number that the library was last told
};

} // namespace tessera::cpu
