// A CPU kernel for f32 and f64, with everything else that a product can ask for: transposes, leading dimensions, alpha
// and beta.
//
//     gemm_compare --kernel cpu_tessera.cpp --abi tessera --cpu --transB --beta 1

#include <tessera/backend/kernel_abi.h>

namespace {

template <class T>
void product(const tessera_kernel_call& x) {
  const T* a = static_cast<const T*>(x.a);
  const T* b = static_cast<const T*>(x.b);
  T* c = static_cast<T*>(x.c);
#pragma omp parallel for num_threads(x.threads)
  for (int64_t i = 0; i < x.m; ++i) {
    for (int64_t j = 0; j < x.n; ++j) {
      T sum = 0;
      for (int64_t p = 0; p < x.k; ++p) {
        const T left = x.trans_a ? a[p * x.lda + i] : a[i * x.lda + p];
        const T right = x.trans_b ? b[j * x.ldb + p] : b[p * x.ldb + j];
        sum += left * right;
      }
      T& to = c[i * x.ldc + j];
      // beta = 0 must not read C, which may hold NaN.
      to = static_cast<T>(x.alpha) * sum + (x.beta == 0 ? T{0} : static_cast<T>(x.beta) * to);
    }
  }
}

} // namespace

extern "C" const char* tessera_kernel_reject(const tessera_kernel_call* call) {
  return call->type == TESSERA_KERNEL_F32 || call->type == TESSERA_KERNEL_F64 ? nullptr : "f32 and f64 only";
}

extern "C" int tessera_kernel(const tessera_kernel_call* call) {
  if (call->type == TESSERA_KERNEL_F64)
    product<double>(*call);
  else
    product<float>(*call);
  return 0;
}
