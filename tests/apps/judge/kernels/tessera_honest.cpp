/// Is honest, with --abi tessera: it supports transposes, leading dimensions, scalars and all types.
#include <tessera/backend/kernel_abi.h>
#include <tessera/half.hpp>

template <class Sum, class T, class R>
static void run(const tessera_kernel_call& x, const T* a, const T* b, R* c) {
  for (int64_t i = 0; i < x.m; ++i)
    for (int64_t j = 0; j < x.n; ++j) {
      Sum sum = 0;
      for (int64_t p = 0; p < x.k; ++p)
        sum += static_cast<Sum>(x.trans_a ? a[p * x.lda + i] : a[i * x.lda + p]) *
               static_cast<Sum>(x.trans_b ? b[j * x.ldb + p] : b[p * x.ldb + j]);
      R& to = c[i * x.ldc + j];
      const Sum scaled = static_cast<Sum>(x.alpha) * sum;
      to = static_cast<R>(x.beta == 0 ? scaled : scaled + static_cast<Sum>(x.beta) * static_cast<Sum>(to));
    }
}

template <class Sum, class T, class R = T>
static void run(const tessera_kernel_call& x) {
  run<Sum>(x, static_cast<const T*>(x.a), static_cast<const T*>(x.b), static_cast<R*>(x.c));
}

extern "C" const char* tessera_kernel_reject(const tessera_kernel_call* call) {
  return call->type >= TESSERA_KERNEL_F32 && call->type <= TESSERA_KERNEL_I8 ? nullptr : "an unknown type";
}

extern "C" int tessera_kernel(const tessera_kernel_call* call) {
  switch (call->type) {
    case TESSERA_KERNEL_F64:
      run<double, double>(*call);
      break;
    case TESSERA_KERNEL_F16:
      run<float, tessera::f16>(*call);
      break;
    case TESSERA_KERNEL_BF16:
      run<float, tessera::bf16>(*call);
      break;
    case TESSERA_KERNEL_I8:
      run<int32_t, int8_t, int32_t>(*call);
      break;
    default:
      run<float, float>(*call);
  }
  return 0;
}
