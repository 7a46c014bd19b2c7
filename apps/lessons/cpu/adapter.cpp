/// Makes the file of a lesson a kernel for the judge. TESSERA_LESSON_FILE names the file, which has the shape of a rung
/// of backends/cpu/gemm/textbook: it defines run<T>() in the namespace tessera::cpu. With TESSERA_LESSON_COUNTS the
/// kernel also counts its accesses to memory, and leaves the counts in C.

#include TESSERA_LESSON_FILE

#include <cstdio>

#include <tessera/backend/kernel_abi.h>

#ifdef TESSERA_LESSON_COUNTS
#include "counting.hpp"
#endif

namespace {

tessera::Op op_of(int transposed) { return transposed != 0 ? tessera::Op::Transpose : tessera::Op::None; }

template <class T>
int run_lesson(const tessera_kernel_call& x) {
  tessera::GemmCall call{{.type = tessera::dtype_of<T>,
                          .op_a = op_of(x.trans_a),
                          .op_b = op_of(x.trans_b),
                          .m = x.m,
                          .n = x.n,
                          .k = x.k,
                          .alpha = x.alpha,
                          .a = x.a,
                          .lda = x.lda,
                          .b = x.b,
                          .ldb = x.ldb,
                          .beta = x.beta,
                          .c = x.c,
                          .ldc = x.ldc,
                          .threads = x.threads}};
  // Each line leaves the buffer at once: a process that crashes or is ended would lose it.
  [[maybe_unused]] static const int by_lines = std::setvbuf(stdout, nullptr, _IOLBF, BUFSIZ);
  static tessera::cpu::CpuExecutor executor;
  const tessera::GemmKernel kernel{};
  tessera::Status status;
#ifdef TESSERA_LESSON_COUNTS
  tessera::lessons::begin_counting(x);
#endif
  // A rung of the processor does not touch its queue.
  status = tessera::cpu::run<T>(kernel, reinterpret_cast<tessera::Executor&>(executor),
                                reinterpret_cast<tessera::Queue&>(executor), call);
#ifdef TESSERA_LESSON_COUNTS
  tessera::lessons::end_counting(x);
#endif
  if (status.ok()) return 0;
  std::printf("%s\n", status.why.c_str());
  return 1;
}

} // namespace

extern "C" [[gnu::visibility("default")]] const char* tessera_kernel_reject(const tessera_kernel_call* call) {
  return call->type == TESSERA_KERNEL_F32 || call->type == TESSERA_KERNEL_F64 ? nullptr : "f32 and f64 only";
}

extern "C" [[gnu::visibility("default")]] int tessera_kernel(const tessera_kernel_call* call) {
  return call->type == TESSERA_KERNEL_F64 ? run_lesson<double>(*call) : run_lesson<float>(*call);
}
