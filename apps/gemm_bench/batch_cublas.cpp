/// cuBLAS' two functions for batches. They are opened at run time, because this program is also built without CUDA's
/// headers.

#include <dlfcn.h>

#include <fmt/format.h>

#include <tessera/backend.hpp>

#include "batch_peer.hpp"

namespace tessera::bench {
namespace {

/// Declarations of cublas_api.h. A status other than 0 is a failure.
using Handle = void*;
constexpr int no_trans = 0, trans = 1;
template <class T>
using Strided = int (*)(Handle, int, int, int, int, int, const T*, const T*, int, long long, const T*, int, long long,
                        const T*, T*, int, long long, int);
template <class T>
using Batched = int (*)(Handle, int, int, int, int, int, const T*, const void* const*, int, const void* const*, int,
                        const T*, void* const*, int, int);

void check(int status, const char* function) {
  if (status != 0) throw DeviceError(fmt::format("{}: status {}", function, status));
}

class Cublas {
 public:
  Cublas() {
    for (const char* file : {"libcublas.so.13", "libcublas.so.12", "/usr/local/cuda/lib64/libcublas.so.13",
                             "/usr/local/cuda/lib64/libcublas.so.12"})
      if (library_ == nullptr) library_ = dlopen(file, RTLD_NOW | RTLD_LOCAL);
    if (library_ == nullptr) return;
    check(function<int (*)(Handle*)>("cublasCreate_v2")(&handle_), "cublasCreate");
    set_stream_ = function<int (*)(Handle, void*)>("cublasSetStream_v2");
  }
  bool exists() const { return library_ != nullptr; }
  template <class Function>
  Function function(const char* name) const {
    void* found = dlsym(library_, name);
    if (found == nullptr) throw BackendUnavailable(fmt::format("this cuBLAS has no {}", name));
    return reinterpret_cast<Function>(found);
  }
  Handle handle_on(Queue& queue) const {
    check(set_stream_(handle_, queue.native()), "cublasSetStream");
    return handle_;
  }

 private:
  void* library_ = nullptr;
  Handle handle_ = nullptr;
  int (*set_stream_)(Handle, void*) = nullptr;
};

/// Computes row-major products as column-major ones: Cᵀ = op(B)ᵀ·op(A)ᵀ.
class CublasPeer final : public BatchPeer {
 public:
  CublasPeer(std::shared_ptr<Cublas> library, bool pointers)
      : name_(pointers ? "cublas pointers" : "cublas strided"), library_(std::move(library)), pointers_(pointers) {}
  const std::string& name() const override { return name_; }
  void multiply(const BatchWork& work) override {
    visit_scalar(work.strided.call.type, [&]<class T>(std::type_identity<T>) { run<T>(work); });
  }

 private:
  template <class T>
  void run(const BatchWork& work) const {
    const GemmOperands<T> x(work.strided.call);
    const auto op = [](Op o) { return o == Op::None ? no_trans : trans; };
    const auto narrow = [](Index size) { return static_cast<int>(size); };
    Handle handle = library_->handle_on(executor(Backend::Cuda).default_queue());
    const int count = narrow(work.strided.count);
    if (pointers_) {
      const auto function =
          library_->function<Batched<T>>(sizeof(T) == 8 ? "cublasDgemmBatched" : "cublasSgemmBatched");
      check(function(handle, op(x.op_b), op(x.op_a), narrow(x.n), narrow(x.m), narrow(x.k), &x.alpha,
                     static_cast<const void* const*>(work.device_b), narrow(x.ldb),
                     static_cast<const void* const*>(work.device_a), narrow(x.lda), &x.beta,
                     static_cast<void* const*>(work.device_c), narrow(x.ldc), count),
            "cublas?gemmBatched");
    } else {
      const auto function =
          library_->function<Strided<T>>(sizeof(T) == 8 ? "cublasDgemmStridedBatched" : "cublasSgemmStridedBatched");
      check(function(handle, op(x.op_b), op(x.op_a), narrow(x.n), narrow(x.m), narrow(x.k), &x.alpha, x.b,
                     narrow(x.ldb), work.strided.stride_b, x.a, narrow(x.lda), work.strided.stride_a, &x.beta, x.c,
                     narrow(x.ldc), work.strided.stride_c, count),
            "cublas?gemmStridedBatched");
    }
  }

  std::string name_;
  std::shared_ptr<Cublas> library_;
  bool pointers_;
};

} // namespace

BatchPeers make_device_batch_peers() {
  BatchPeers peers;
  for (const bool pointers : {false, true}) peers.push_back(tessera_batch_peer(Backend::Cuda, pointers));
  peers.push_back(tessera_batch_peer(Backend::Cuda, false, true));
  const auto cublas = std::make_shared<Cublas>();
  if (!cublas->exists()) {
    fmt::print(stderr, "gemm_bench: no cuBLAS was found, so that nothing races against Tessera\n");
    return peers;
  }
  for (const bool pointers : {false, true}) peers.push_back(std::make_unique<CublasPeer>(cublas, pointers));
  return peers;
}

} // namespace tessera::bench
