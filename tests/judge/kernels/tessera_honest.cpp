/// Is honest, with --abi tessera: it supports transposes, leading dimensions, scalars and both types.
#include <tessera/backend/kernel_abi.h>

template <class T>
static void run(const tessera_kernel_call& x) {
  const T* a = static_cast<const T*>(x.a);
  const T* b = static_cast<const T*>(x.b);
  T* c = static_cast<T*>(x.c);
  for (int64_t i = 0; i < x.m; ++i)
    for (int64_t j = 0; j < x.n; ++j) {
      T sum = 0;
      for (int64_t p = 0; p < x.k; ++p)
        sum += (x.trans_a ? a[p * x.lda + i] : a[i * x.lda + p]) * (x.trans_b ? b[j * x.ldb + p] : b[p * x.ldb + j]);
      T& to = c[i * x.ldc + j];
      const T scaled = static_cast<T>(x.alpha) * sum;
      to = x.beta == 0 ? scaled : scaled + static_cast<T>(x.beta) * to;
    }
}

extern "C" int tessera_kernel(const tessera_kernel_call* call) {
  call->type == TESSERA_KERNEL_F64 ? run<double>(*call) : run<float>(*call);
  return 0;
}
