#include "cblas_library.hpp"

#include <dlfcn.h>
#include <cerrno>
#include <new>

#include <tessera/detail/floating_point.hpp>
#include <tessera/detail/processors.hpp>

namespace tessera::cpu {
namespace {

enum class Layout : int { RowMajor = 101 };
enum class Trans : int { No = 111, Yes = 112 };

template <class T>
using CblasGemm = void (*)(Layout, Trans, Trans, int m, int n, int k, T alpha, const T* a, int lda, const T* b, int ldb,
                           T beta, T* c, int ldc);
using DnnlSgemm = int (*)(char trans_a, char trans_b, Index m, Index n, Index k, float alpha, const float* a, Index lda,
                          const float* b, Index ldb, float beta, float* c, Index ldc);

/// A function by which a library is told its number of threads. The argument's type differs between libraries.
struct ThreadSetter {
  const char* function;
  bool takes_long;
};
constexpr ThreadSetter thread_setters[]{{"openblas_set_num_threads", false},
                                        {"scipy_openblas_set_num_threads", false},
                                        {"MKL_Set_Num_Threads", false},
                                        {"bli_thread_set_num_threads", true}};

/// "/usr/lib/libmkl_rt.so.2" → "mkl_rt".
std::string stem(std::string_view file) {
  std::string_view name = file.substr(file.rfind('/') + 1);
  if (name.starts_with("lib")) name.remove_prefix(3);
  return std::string(name.substr(0, name.find(".so")));
}

} // namespace

CblasLibrary::CblasLibrary(std::string_view file) : file_(file), name_(stem(file)) {}

const CblasLibrary::Opened& CblasLibrary::opened() {
  return opened_.get([this] { return open(); });
}

const char* CblasLibrary::problem() { return opened().problem.empty() ? nullptr : opened().problem.c_str(); }

const char* CblasLibrary::problem_with(DType type) {
  if (const char* none = problem()) return none;
  return type == DType::F64 && opened().dgemm == nullptr ? opened().no_double.c_str() : nullptr;
}

std::unique_ptr<const CblasLibrary::Opened> CblasLibrary::open() const {
  auto found = std::make_unique<Opened>();
  const detail::ContractArithmetic contract; // a library made with -ffast-math changes the state as it is loaded
  const detail::KeptProcessors kept;
  errno = 0;
  void* library = dlopen(file_.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (library == nullptr) {
    if (errno == ENOMEM) throw std::bad_alloc(); // the next call tries again
    const char* error = dlerror();
    found->problem = "cannot open '" + file_ + "': " + (error ? error : "unknown error");
    return found;
  }
  found->handle = library;
  for (const std::string prefix : {"", "scipy_"}) {
    if (found->sgemm == nullptr) found->sgemm = dlsym(library, (prefix + "cblas_sgemm").c_str());
    if (found->dgemm == nullptr) found->dgemm = dlsym(library, (prefix + "cblas_dgemm").c_str());
  }
  if (found->sgemm == nullptr) found->dnnl_sgemm = dlsym(library, "dnnl_sgemm");
  if (found->dnnl_sgemm != nullptr) {
    found->no_double = "'" + file_ + "' has dnnl_sgemm, but no product in double precision";
    return found;
  }
  if (found->sgemm == nullptr || found->dgemm == nullptr) {
    found->problem = "'" + file_ + "' has no " + (found->sgemm ? "cblas_dgemm" : "cblas_sgemm") +
                     "; name a library with the C interface of the BLAS";
    return found;
  }
  for (const ThreadSetter& setter : thread_setters)
    if (void* function = dlsym(library, setter.function)) {
      found->set_threads = function;
      found->setter_takes_long = setter.takes_long;
      break;
    }
  return found;
}

void* CblasLibrary::function(const std::string& name) {
  void* const library = opened().handle;
  if (library == nullptr) return nullptr;
  void* const plain = dlsym(library, name.c_str());
  return plain != nullptr ? plain : dlsym(library, ("scipy_" + name).c_str());
}

void CblasLibrary::set_threads(int threads) {
  const Opened& library = opened();
  if (library.set_threads == nullptr || threads == threads_) return;
  threads_ = threads;
  if (library.setter_takes_long)
    reinterpret_cast<void (*)(Index)>(library.set_threads)(threads);
  else
    reinterpret_cast<void (*)(int)>(library.set_threads)(threads);
}

template <class T>
void CblasLibrary::run(const GemmCall& call) {
  const Opened& library = opened();
  const GemmOperands<T> x(call);
  if constexpr (dtype_of<T> == DType::F32)
    if (library.dnnl_sgemm != nullptr) {
      const auto letter = [](Op op) { return op == Op::Transpose ? 'T' : 'N'; };
      reinterpret_cast<DnnlSgemm>(library.dnnl_sgemm)(letter(x.op_a), letter(x.op_b), x.m, x.n, x.k, x.alpha, x.a,
                                                      x.lda, x.b, x.ldb, x.beta, x.c, x.ldc);
      return;
    }
  const auto trans = [](Op op) { return op == Op::Transpose ? Trans::Yes : Trans::No; };
  const auto narrow = [](Index size) { return static_cast<int>(size); };
  reinterpret_cast<CblasGemm<T>>(dtype_of<T> == DType::F64 ? library.dgemm : library.sgemm)(
      Layout::RowMajor, trans(x.op_a), trans(x.op_b), narrow(x.m), narrow(x.n), narrow(x.k), x.alpha, x.a,
      narrow(x.lda), x.b, narrow(x.ldb), x.beta, x.c, narrow(x.ldc));
}

void CblasLibrary::gemm(const GemmCall& call, int threads) {
  const std::lock_guard lock(mutex_);
  set_threads(threads);
  visit_scalar(call.type, [&]<class T>(std::type_identity<T>) { run<T>(call); });
}

} // namespace tessera::cpu
