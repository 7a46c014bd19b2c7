#pragma once

/// Makes the file of a GPU lesson a kernel for the lens and for the judge. The file has the shape of a rung of
/// backends/cuda/gemm/textbook: it defines launch<T>() in the namespace tessera::cuda, and stands before this header.
/// TESSERA_LESSON_LAUNCH(T) names that function. With TESSERA_LESSON_DUMP, a file's name, the operands and C are
/// written to that file after the kernel, for the lens, whose memory of the device is the host's.

#include <cstdint>
#include <cstdio>
#include <cstring>

#include <tessera/backend/kernel_abi.h>

namespace tessera::lessons {

inline Op op_of(int transposed) { return transposed != 0 ? Op::Transpose : Op::None; }

#ifdef TESSERA_LESSON_DUMP
/// A signalling NaN where nothing is written yet.
template <class T>
void empty(T* c, Index count) {
  const std::uint64_t nothing = sizeof(T) == 4 ? 0x7fa5dead7fa5dead : 0x7ff5a5a57ff5dead;
  for (Index at = 0; at < count; ++at) std::memcpy(c + at, &nothing, sizeof(T));
}

inline void dump(const tessera_kernel_call& x, std::size_t element, const void* c_before) {
  std::FILE* const file = std::fopen(TESSERA_LESSON_DUMP, "wb");
  if (file == nullptr) return;
  const auto write = [&](const void* data, Index count) {
    std::fwrite(data, element, static_cast<std::size_t>(count), file);
  };
  write(x.a, x.m * x.k);
  write(x.b, x.k * x.n);
  write(c_before, x.m * x.n);
  write(x.c, x.m * x.n);
  std::fclose(file);
}
#endif

template <class T>
int run_lesson(const tessera_kernel_call& x) {
  GemmCall call;
  call.type = call.result = dtype_of<T>;
  call.op_a = op_of(x.trans_a);
  call.op_b = op_of(x.trans_b);
  call.m = x.m;
  call.n = x.n;
  call.k = x.k;
  call.alpha = x.alpha;
  call.a = x.a;
  call.lda = x.lda;
  call.b = x.b;
  call.ldb = x.ldb;
  call.beta = x.beta;
  call.c = x.c;
  call.ldc = x.ldc;
#ifdef TESSERA_LESSON_DUMP
  if (x.beta == 0) empty(static_cast<T*>(x.c), x.m * x.n);
  T* const before = new T[static_cast<std::size_t>(x.m * x.n)];
  std::memcpy(static_cast<void*>(before), x.c, static_cast<std::size_t>(x.m * x.n) * sizeof(T));
#endif
  TESSERA_LESSON_LAUNCH(T)(call, static_cast<cudaStream_t>(x.stream));
#ifdef TESSERA_LESSON_DUMP
  dump(x, sizeof(T), before);
  return 0;
#else
  const cudaError_t error = cudaGetLastError();
  if (error != cudaSuccess) std::printf("%s\n", cudaGetErrorString(error));
  return error == cudaSuccess ? 0 : 1;
#endif
}

} // namespace tessera::lessons

#ifndef TESSERA_LESSON_DUMP
/// What an entry of the ladder refers to, in a rung's own file.
namespace tessera::cuda {
Status launched(const char*) noexcept { return {}; }
cudaStream_t stream_of(Queue&) noexcept { return nullptr; }
} // namespace tessera::cuda
#endif

extern "C" [[gnu::visibility("default")]] int tessera_kernel(const tessera_kernel_call* call) {
  return call->type == TESSERA_KERNEL_F64 ? tessera::lessons::run_lesson<double>(*call)
                                          : tessera::lessons::run_lesson<float>(*call);
}
