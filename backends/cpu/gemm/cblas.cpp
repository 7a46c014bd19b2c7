/// cblas:<library>: somebody else's GEMM through the C interface of the BLAS, for comparison.
///
/// Cost and summation order are the library's own business; its error must keep to the same bound as ours.
/// Source: BLAS Technical Forum Standard (2001), appendix B.

#include "cpu/gemm/cblas.hpp"

#include <dlfcn.h>
#include <cstdlib>
#include <limits>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>

#include "cpu/executor.hpp"

namespace tessera::cpu {
namespace {

enum class Layout : int { RowMajor = 101 };
enum class Trans : int { No = 111, Yes = 112 };

template <class T>
using CblasGemm = void (*)(Layout, Trans, Trans, int m, int n, int k, T alpha, const T* a, int lda, const T* b, int ldb,
                           T beta, T* c, int ldc);

/// How libraries are told their number of threads; the argument's type differs.
struct ThreadSetter {
  const char* function;
  bool takes_long;
};
constexpr ThreadSetter thread_setters[]{
    {"openblas_set_num_threads", false}, {"MKL_Set_Num_Threads", false}, {"bli_thread_set_num_threads", true}};

class CblasLibrary {
 public:
  explicit CblasLibrary(std::string_view file) : file_(file), row_name_("cblas:" + stem(file)) {}

  const char* row_name() const { return row_name_.c_str(); }

  /// Why the library cannot be used; null if it can. Opens it the first time.
  const char* problem() {
    std::call_once(opened_, [this] { open(); });
    return problem_.empty() ? nullptr : problem_.c_str();
  }

  template <class T>
  void gemm(const GemmCall& call, int threads) {
    const GemmOperands<T> x(call);
    const auto trans = [](Op op) { return op == Op::Transpose ? Trans::Yes : Trans::No; };
    const auto narrow = [](Index size) { return static_cast<int>(size); };
    // The number of threads is the library's global state: one call at a time.
    std::lock_guard lock(mutex_);
    set_threads(threads);
    function<T>()(Layout::RowMajor, trans(x.op_a), trans(x.op_b), narrow(x.m), narrow(x.n), narrow(x.k), x.alpha, x.a,
                  narrow(x.lda), x.b, narrow(x.ldb), x.beta, x.c, narrow(x.ldc));
  }

 private:
  /// "/usr/lib/libmkl_rt.so.2" → "mkl_rt".
  static std::string stem(std::string_view file) {
    std::string_view name = file.substr(file.rfind('/') + 1);
    if (name.starts_with("lib")) name.remove_prefix(3);
    return std::string(name.substr(0, name.find(".so")));
  }

  void open() {
    void* library = dlopen(file_.c_str(), RTLD_NOW | RTLD_LOCAL);
    if (library == nullptr) {
      const char* error = dlerror();
      problem_ = "cannot open '" + file_ + "' of TESSERA_CBLAS: " + (error ? error : "unknown error");
      return;
    }
    sgemm_ = reinterpret_cast<CblasGemm<float>>(dlsym(library, "cblas_sgemm"));
    dgemm_ = reinterpret_cast<CblasGemm<double>>(dlsym(library, "cblas_dgemm"));
    if (sgemm_ == nullptr || dgemm_ == nullptr) {
      problem_ = "'" + file_ + "' of TESSERA_CBLAS has no " + (sgemm_ ? "cblas_dgemm" : "cblas_sgemm") +
                 "; name a library with the C interface of the BLAS";
      return;
    }
    for (const ThreadSetter& setter : thread_setters)
      if (void* found = dlsym(library, setter.function)) {
        set_threads_ = found;
        setter_takes_long_ = setter.takes_long;
        break;
      }
  }

  void set_threads(int threads) {
    if (set_threads_ == nullptr) return;
    if (setter_takes_long_)
      reinterpret_cast<void (*)(Index)>(set_threads_)(threads);
    else
      reinterpret_cast<void (*)(int)>(set_threads_)(threads);
  }

  template <class T>
  CblasGemm<T> function() const {
    if constexpr (dtype_of<T> == DType::F64)
      return dgemm_;
    else
      return sgemm_;
  }

  const std::string file_;
  const std::string row_name_;
  std::once_flag opened_;
  std::string problem_;
  std::mutex mutex_;
  CblasGemm<float> sgemm_ = nullptr;
  CblasGemm<double> dgemm_ = nullptr;
  void* set_threads_ = nullptr;
  bool setter_takes_long_ = false;
};

CblasLibrary& library_of(const GemmKernel& row) { return *static_cast<CblasLibrary*>(const_cast<void*>(row.context)); }

const char* reject(const GemmKernel& row, const GemmCall& call, const Capabilities&) noexcept try {
  for (const Index size : {call.m, call.n, call.k, call.lda, call.ldb, call.ldc})
    if (size > std::numeric_limits<int>::max())
      return "CBLAS counts with 32-bit integers; a size or leading dimension is larger than 2147483647";
  return library_of(row).problem();
} catch (...) {
  return "out of memory while opening the library";
}

template <class T>
Status run(const GemmKernel& row, Executor& executor, Queue&, const GemmCall& call) noexcept {
  library_of(row).gemm<T>(call, cpu_of(executor).threads_for(call.threads));
  return {};
}

template <class T>
GemmKernel row(CblasLibrary& library) {
  return {.name = library.row_name(),
          .summary = "a library with the C interface of the BLAS, opened at run time",
          .source = "TESSERA_CBLAS",
          .type = dtype_of<T>,
          .reject = reject,
          .run = run<T>,
          .context = &library};
}

} // namespace

std::vector<GemmKernel> cblas_rows() {
  std::vector<GemmKernel> rows;
  const char* variable = std::getenv("TESSERA_CBLAS");
  std::string_view rest = variable == nullptr ? "" : variable;
  while (!rest.empty()) {
    const std::string_view file = rest.substr(0, rest.find(':'));
    rest.remove_prefix(std::min(rest.size(), file.size() + 1));
    if (file.empty()) continue;
    auto* library = new CblasLibrary(file); // lives as long as the process: rows point into it
    rows.push_back(row<float>(*library));
    rows.push_back(row<double>(*library));
  }
  return rows;
}

} // namespace tessera::cpu
