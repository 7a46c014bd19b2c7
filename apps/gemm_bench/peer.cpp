#include "peer.hpp"

#include <limits>

#include <fmt/format.h>

#include <tessera/backend.hpp>
#include <tessera/gemm.hpp>

#include "common/machine.hpp"
#include "cpu/gemm/cblas/cblas_library.hpp"

namespace tessera::bench {
namespace {

class TesseraPeer final : public Peer {
 public:
  explicit TesseraPeer(Backend backend) : name_(fmt::format("tessera-{}", to_string(backend))) {
    options_.backend = backend;
  }
  const std::string& name() const override { return name_; }
  std::string problem(const GemmCall&) override { return {}; }
  void multiply(const GemmCall& call) override {
    options_.threads = call.threads;
    visit_scalar(call.type, [&]<class T>(std::type_identity<T>) { run<T>(call); });
  }

 private:
  template <class T>
  void run(const GemmCall& call) {
    const GemmOperands<T> x(call);
    gemm<T>(x.op_a, x.op_b, x.m, x.n, x.k, x.alpha, x.a, x.lda, x.b, x.ldb, x.beta, x.c, x.ldc, options_);
  }

  std::string name_;
  GemmOptions options_;
};

class LibraryPeer final : public Peer {
 public:
  explicit LibraryPeer(const std::string& file) : library_(file) {}
  const std::string& name() const override { return library_.name(); }
  std::string problem(const GemmCall& call) override {
    for (const Index size : {call.m, call.n, call.k, call.lda, call.ldb, call.ldc})
      if (size > std::numeric_limits<int>::max()) return "a size is larger than an int";
    if (const char* why = library_.problem_with(call.type)) return why;
    if (!library_.can_set_threads() && call.threads != default_threads())
      return fmt::format("it cannot be told to use {} threads", call.threads);
    return {};
  }
  void multiply(const GemmCall& call) override { library_.gemm(call, call.threads); }
  const char* unusable() { return library_.problem(); }

 private:
  cpu::CblasLibrary library_;
};

} // namespace

std::vector<std::unique_ptr<Peer>> make_peers(const std::vector<std::string>& libraries) {
  std::vector<std::unique_ptr<Peer>> peers;
  for (const Backend backend : apps::processor_backends()) try {
      executor(backend);
      peers.push_back(std::make_unique<TesseraPeer>(backend));
    } catch (const BackendUnavailable&) { // this build has no such backend; tessera_info says so
    }
  const std::vector<std::string> usual{"libopenblas.so.0", "libmkl_rt.so.3", "libmkl_rt.so.2", "libblis.so.4",
                                       "libdnnl.so.3"};
  for (const std::string& file : libraries.empty() ? usual : libraries) {
    auto peer = std::make_unique<LibraryPeer>(file);
    if (const char* why = peer->unusable(); why == nullptr)
      peers.push_back(std::move(peer));
    else if (!libraries.empty())
      throw InvalidArgument(fmt::format("--library: {}", why));
  }
  return peers;
}

} // namespace tessera::bench
