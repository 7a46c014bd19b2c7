#include "peer.hpp"

#include <dlfcn.h>

#include <fmt/format.h>

#include <tessera/backend.hpp>

#include "common/machine.hpp"

namespace tessera::bench {
namespace {

const GemmBatch& form_of(const BatchWork& work, bool pointers) { return pointers ? work.with_pointers : work.strided; }
const char* form_name(bool pointers) { return pointers ? "pointers" : "strided"; }

class TesseraPeer final : public BatchPeer {
 public:
  TesseraPeer(Backend backend, bool pointers, bool one_by_one)
      : name_(fmt::format("tessera-{}{} {}", to_string(backend), one_by_one ? "-loop" : "", form_name(pointers))),
        executor_(executor(backend)),
        pointers_(pointers),
        one_by_one_(one_by_one) {}
  const std::string& name() const override { return name_; }
  void multiply(const BatchWork& work) override {
    const GemmBatch& batch = form_of(work, pointers_);
    Queue& queue = executor_.default_queue();
    if (!one_by_one_) return throw_if_failed(executor_.gemm_batch(queue, {&batch, 1}));
    for (Index i = 0; i < batch.count; ++i) throw_if_failed(executor_.gemm(queue, batch.product(i)));
  }

 private:
  std::string name_;
  Executor& executor_;
  bool pointers_, one_by_one_;
};

/// A library with the functions cblas_?gemm_batch and cblas_?gemm_batch_strided of MKL and OpenBLAS.
class Library {
 public:
  explicit Library(const std::string& file) : handle_(dlopen(file.c_str(), RTLD_NOW | RTLD_LOCAL)) {
    if (handle_ == nullptr) {
      const char* error = dlerror();
      problem = fmt::format("cannot open '{}': {}", file, error != nullptr ? error : "unknown error");
      return;
    }
    name = file.substr(file.rfind('/') + 1);
    name = name.substr(name.starts_with("lib") ? 3 : 0);
    name = name.substr(0, name.find(".so"));
    for (const char* setter : {"MKL_Set_Num_Threads", "openblas_set_num_threads", "scipy_openblas_set_num_threads"})
      if (set_threads_ == nullptr) set_threads_ = dlsym(handle_, setter);
    if (set_threads_ == nullptr) problem = fmt::format("'{}' cannot be told how many threads to use", file);
  }

  /// Returns the function, or null if the library has none of this name.
  void* find(const char* function) const {
    void* found = dlsym(handle_, function);
    return found != nullptr ? found : dlsym(handle_, fmt::format("scipy_{}", function).c_str());
  }
  void set_threads(int threads) {
    if (threads == threads_) return;
    threads_ = threads;
    reinterpret_cast<void (*)(int)>(set_threads_)(threads);
  }

  std::string name, problem;

 private:
  void* handle_;
  void* set_threads_ = nullptr;
  int threads_ = 0;
};

constexpr int row_major = 101;
int trans_of(Op op) { return op == Op::None ? 111 : 112; }

class LibraryPeer final : public BatchPeer {
 public:
  LibraryPeer(std::shared_ptr<Library> library, bool pointers)
      : name_(fmt::format("{} {}", library->name, form_name(pointers))),
        library_(std::move(library)),
        pointers_(pointers),
        single_(library_->find(pointers ? "cblas_sgemm_batch" : "cblas_sgemm_batch_strided")),
        double_(library_->find(pointers ? "cblas_dgemm_batch" : "cblas_dgemm_batch_strided")) {}
  const std::string& name() const override { return name_; }
  bool usable() const { return single_ != nullptr && double_ != nullptr; }
  void multiply(const BatchWork& work) override {
    library_->set_threads(work.strided.call.threads);
    visit_scalar(work.strided.call.type, [&]<class T>(std::type_identity<T>) { run<T>(work); });
  }

 private:
  template <class T>
  void run(const BatchWork& work) const {
    const GemmOperands<T> x(work.strided.call);
    void* const function = sizeof(T) == 8 ? double_ : single_;
    const int m = static_cast<int>(x.m), n = static_cast<int>(x.n), k = static_cast<int>(x.k);
    const int lda = static_cast<int>(x.lda), ldb = static_cast<int>(x.ldb), ldc = static_cast<int>(x.ldc);
    const int count = static_cast<int>(work.strided.count);
    const int trans_a = trans_of(x.op_a), trans_b = trans_of(x.op_b);
    if (pointers_) {
      using Function =
          void (*)(int, const int*, const int*, const int*, const int*, const int*, const T*, const void* const*,
                   const int*, const void* const*, const int*, const T*, void* const*, const int*, int, const int*);
      reinterpret_cast<Function>(function)(row_major, &trans_a, &trans_b, &m, &n, &k, &x.alpha, work.with_pointers.a,
                                           &lda, work.with_pointers.b, &ldb, &x.beta, work.with_pointers.c, &ldc, 1,
                                           &count);
    } else {
      using Function =
          void (*)(int, int, int, int, int, int, T, const T*, int, int, const T*, int, int, T, T*, int, int, int);
      reinterpret_cast<Function>(function)(
          row_major, trans_a, trans_b, m, n, k, x.alpha, x.a, lda, static_cast<int>(work.strided.stride_a), x.b, ldb,
          static_cast<int>(work.strided.stride_b), x.beta, x.c, ldc, static_cast<int>(work.strided.stride_c), count);
    }
  }

  std::string name_;
  std::shared_ptr<Library> library_;
  bool pointers_;
  void* single_;
  void* double_;
};

} // namespace

std::unique_ptr<BatchPeer> tessera_batch_peer(Backend backend, bool pointers, bool one_by_one) {
  return std::make_unique<TesseraPeer>(backend, pointers, one_by_one);
}

BatchPeers make_batch_peers(const std::vector<std::string>& libraries) {
  BatchPeers peers;
  for (const Backend backend : apps::processor_backends()) try {
      for (const bool pointers : {false, true}) peers.push_back(tessera_batch_peer(backend, pointers));
    } catch (const BackendUnavailable&) { // this build has no such backend; tessera_info says so
    }
  const std::vector<std::string> usual{"libopenblas.so.0", "libmkl_rt.so.3", "libmkl_rt.so.2"};
  for (const std::string& file : libraries.empty() ? usual : libraries) {
    auto library = std::make_shared<Library>(file);
    bool used = false;
    for (const bool pointers : {false, true}) {
      if (!library->problem.empty()) break;
      auto peer = std::make_unique<LibraryPeer>(library, pointers);
      if (!peer->usable()) continue;
      used = true;
      peers.push_back(std::move(peer));
    }
    if (!used && !libraries.empty())
      throw InvalidArgument("--library: " +
                            (library->problem.empty() ? fmt::format("'{}' has no batches", file) : library->problem));
  }
  return peers;
}

} // namespace tessera::bench
