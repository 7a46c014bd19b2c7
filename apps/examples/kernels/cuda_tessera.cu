// A CUDA kernel with the whole interface: f32 and f64, transposes, leading dimensions, alpha, beta and the stream.
//
//     gemm_compare --kernel cuda_tessera.cu --abi tessera --gpu --transB --beta 1

#include <cuda_runtime.h>

#include <tessera/backend/kernel_abi.h>

template <class T>
__global__ void multiply(tessera_kernel_call x) {
  const int64_t j = static_cast<int64_t>(blockIdx.x) * blockDim.x + threadIdx.x;
  const int64_t i = static_cast<int64_t>(blockIdx.y) * blockDim.y + threadIdx.y;
  if (i >= x.m || j >= x.n) return;
  const T* a = static_cast<const T*>(x.a);
  const T* b = static_cast<const T*>(x.b);
  T sum = 0;
  for (int64_t p = 0; p < x.k; ++p) {
    const T left = x.trans_a ? a[p * x.lda + i] : a[i * x.lda + p];
    const T right = x.trans_b ? b[j * x.ldb + p] : b[p * x.ldb + j];
    sum += left * right;
  }
  T& to = static_cast<T*>(x.c)[i * x.ldc + j];
  to = static_cast<T>(x.alpha) * sum + (x.beta == 0 ? T{0} : static_cast<T>(x.beta) * to);
}

extern "C" const char* tessera_kernel_reject(const tessera_kernel_call* x) {
  if (x->type != TESSERA_KERNEL_F32 && x->type != TESSERA_KERNEL_F64) return "f32 and f64 only";
  return x->m > 8 * 65535 ? "more than 524280 rows" : nullptr;
}

extern "C" int tessera_kernel(const tessera_kernel_call* x) {
  const dim3 block(32, 8);
  const dim3 grid(static_cast<unsigned>((x->n + 31) / 32), static_cast<unsigned>((x->m + 7) / 8));
  const auto stream = static_cast<cudaStream_t>(x->stream);
  if (x->type == TESSERA_KERNEL_F64)
    multiply<double><<<grid, block, 0, stream>>>(*x);
  else
    multiply<float><<<grid, block, 0, stream>>>(*x);
  return cudaGetLastError();
}
