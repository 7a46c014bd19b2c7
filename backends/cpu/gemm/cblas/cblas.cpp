/// cblas:<library>: the GEMM of another library, for comparison; see cblas_library.hpp.
///
/// Cost and order of summation are the library's; its error must keep to the bound that holds for Tessera's own
/// kernels.

#include "cblas.hpp"

#include <limits>
#include <memory>

#include <tessera/backend/environment.hpp>

#include "cblas_library.hpp"
#include "cpu/executor.hpp"

namespace tessera::cpu {
namespace {

/// A library and the name that its kernels point to.
struct Peer {
  CblasLibrary library;
  std::string kernel_name;
  explicit Peer(std::string_view file) : library(file), kernel_name("cblas:" + library.name()) {}
};

CblasLibrary& library_of(const GemmKernel& kernel) {
  return static_cast<Peer*>(const_cast<void*>(kernel.context))->library;
}

const char* reject(const GemmKernel& kernel, const GemmCall& call, const Capabilities&) noexcept try {
  for (const Index size : {call.m, call.n, call.k, call.lda, call.ldb, call.ldc})
    if (size > std::numeric_limits<int>::max())
      return "CBLAS counts with 32-bit integers; a size or leading dimension is larger than 2147483647";
  return library_of(kernel).problem_with(call.type);
} catch (...) {
  return "out of memory while opening the library";
}

Status run(const GemmKernel& kernel, Executor& executor, Queue&, const GemmCall& call) noexcept {
  library_of(kernel).gemm(call, cpu_of(executor).threads_for(call.threads));
  return {};
}

GemmKernel kernel_of(Peer& peer, DType type) {
  return {.name = peer.kernel_name.c_str(),
          .summary = "a library with the C interface of the BLAS, opened at run time",
          .source = "TESSERA_CBLAS",
          .type = type,
          .reject = reject,
          .run = run,
          .context = &peer};
}

} // namespace

std::vector<GemmKernel> cblas_rows() {
  std::vector<GemmKernel> kernels;
  const char* variable = trusted_variable("TESSERA_CBLAS");
  std::string_view rest = variable == nullptr ? "" : variable;
  while (!rest.empty()) {
    const std::string_view file = rest.substr(0, rest.find(':'));
    rest.remove_prefix(std::min(rest.size(), file.size() + 1));
    if (file.empty()) continue;
    auto peer = std::make_unique<Peer>(file);
    kernels.reserve(kernels.size() + 2);
    kernels.push_back(kernel_of(*peer, DType::F32));
    kernels.push_back(kernel_of(*peer, DType::F64));
    static_cast<void>(peer.release()); // lives as long as the process: kernels point into it
  }
  return kernels;
}

} // namespace tessera::cpu
