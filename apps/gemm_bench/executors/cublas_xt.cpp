#include "cublas_xt.hpp"

#include <vector>

namespace tessera::bench {
namespace {

/// cublasXtSgemm and cublasXtDgemm, which are column-major.
template <class T>
using Gemm = int (*)(void*, int, int, std::size_t, std::size_t, std::size_t, const T*, const T*, std::size_t, const T*,
                     std::size_t, const T*, T*, std::size_t);

/// Row-major products are computed as column-major ones: Cᵀ = op(B)ᵀ·op(A)ᵀ.
template <class T>
int run(Gemm<T> gemm, void* handle, const GemmCall& call) {
  const auto size = [](Index x) { return static_cast<std::size_t>(x); };
  const T alpha = static_cast<T>(call.alpha), beta = static_cast<T>(call.beta);
  return gemm(handle, Cublas::word(call.op_b), Cublas::word(call.op_a), size(call.n), size(call.m), size(call.k),
              &alpha, static_cast<const T*>(call.b), size(call.ldb), static_cast<const T*>(call.a), size(call.lda),
              &beta, static_cast<T*>(call.c), size(call.ldc));
}

} // namespace

CublasXt::CublasXt(std::span<const int> devices) {
  if (!library_.exists()) throw BackendUnavailable("no cuBLAS was found");
  Cublas::check(library_.function<int (*)(void**)>("cublasXtCreate")(&handle_), "cublasXtCreate");
  std::vector<int> numbers(devices.begin(), devices.end());
  Cublas::check(library_.function<int (*)(void*, int, int*)>("cublasXtDeviceSelect")(
                    handle_, static_cast<int>(numbers.size()), numbers.data()),
                "cublasXtDeviceSelect");
}

CublasXt::~CublasXt() { library_.function<int (*)(void*)>("cublasXtDestroy")(handle_); }

void CublasXt::set_block(int side) {
  Cublas::check(library_.function<int (*)(void*, int)>("cublasXtSetBlockDim")(handle_, side), "cublasXtSetBlockDim");
}

void CublasXt::gemm(const GemmCall& call) {
  if (call.type == DType::F64)
    Cublas::check(run(library_.function<Gemm<double>>("cublasXtDgemm"), handle_, call), "cublasXtDgemm");
  else
    Cublas::check(run(library_.function<Gemm<float>>("cublasXtSgemm"), handle_, call), "cublasXtSgemm");
}

} // namespace tessera::bench
