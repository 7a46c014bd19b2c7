/// cuBLAS' two functions for batches.

#include <fmt/format.h>

#include <tessera/backend.hpp>

#include "common/notes.hpp"
#include "gemm_bench/cublas.hpp"
#include "peer.hpp"

namespace tessera::bench {
namespace {

template <class T>
using Strided = int (*)(Cublas::Handle, int, int, int, int, int, const T*, const T*, int, long long, const T*, int,
                        long long, const T*, T*, int, long long, int);
template <class T>
using Batched = int (*)(Cublas::Handle, int, int, int, int, int, const T*, const void* const*, int, const void* const*,
                        int, const T*, void* const*, int, int);

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
    const auto narrow = [](Index size) { return static_cast<int>(size); };
    Cublas::Handle handle = library_->handle_on(executor(Backend::Cuda).default_queue());
    const int count = narrow(work.strided.count);
    if (pointers_) {
      const auto function =
          library_->function<Batched<T>>(sizeof(T) == 8 ? "cublasDgemmBatched" : "cublasSgemmBatched");
      Cublas::check(function(handle, Cublas::word(x.op_b), Cublas::word(x.op_a), narrow(x.n), narrow(x.m), narrow(x.k),
                             &x.alpha, static_cast<const void* const*>(work.device_b), narrow(x.ldb),
                             static_cast<const void* const*>(work.device_a), narrow(x.lda), &x.beta,
                             static_cast<void* const*>(work.device_c), narrow(x.ldc), count),
                    "cublas?gemmBatched");
    } else {
      const auto function =
          library_->function<Strided<T>>(sizeof(T) == 8 ? "cublasDgemmStridedBatched" : "cublasSgemmStridedBatched");
      Cublas::check(function(handle, Cublas::word(x.op_b), Cublas::word(x.op_a), narrow(x.n), narrow(x.m), narrow(x.k),
                             &x.alpha, x.b, narrow(x.ldb), work.strided.stride_b, x.a, narrow(x.lda),
                             work.strided.stride_a, &x.beta, x.c, narrow(x.ldc), work.strided.stride_c, count),
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
    apps::note("gemm_bench: no cuBLAS was found, so that nothing races against Tessera\n");
    return peers;
  }
  for (const bool pointers : {false, true}) peers.push_back(std::make_unique<CublasPeer>(cublas, pointers));
  return peers;
}

} // namespace tessera::bench
