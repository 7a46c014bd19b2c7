/// What a rung needs of the CUDA backend: a queue's stream, scratch memory and the outcome of a launch. A rung is
/// compiled from its own file; these stand in for the executor, of which the lens has none.

#include "rung_entry.hpp"

#include <string>

#include <tessera/backend/kernel_abi.h>
#include <tessera/executor.hpp>

#include "cuda/device/status.hpp"
#include "cuda/queue/scratch.hpp"
#include "cuda/queue/stream.hpp"

namespace tessera::cuda {

cudaStream_t stream_of(Queue&) noexcept { return nullptr; }

Status check(cudaError_t error, const char* what) noexcept {
  if (error == cudaSuccess) return Status::success();
  return Status::failure(StatusCode::DeviceError, std::string(what) + ": " + cudaGetErrorString(error));
}
Status check_kernel(cudaError_t error, const char* doing, const char* kernel) noexcept {
  return check(error, (std::string(doing) + kernel).c_str());
}
Status launched(const char* kernel) noexcept { return check(cudaGetLastError(), kernel); }

Status Scratch::allocate(Executor&, Queue&, std::size_t bytes) noexcept {
  release();
  return check(cudaMalloc(&data_, bytes), "scratch memory");
}
void Scratch::release() noexcept {
  if (data_ != nullptr) cudaFree(data_);
  data_ = nullptr;
}

} // namespace tessera::cuda

namespace tessera::lens {
namespace {

/// Stands in for the executor. Of its functions a rung calls capabilities() alone, the second virtual one of Executor,
/// which therefore is the second here: the other functions are libtessera's, which the program does without.
class NoExecutor {
 public:
  virtual ~NoExecutor() = default;
  virtual const Capabilities& capabilities() const noexcept { return machine_; }

 private:
  Capabilities machine_;
};

} // namespace

const char* run_rung(const GemmKernel& kernel, const void* given) {
  const auto& call = *static_cast<const tessera_kernel_call*>(given);
  GemmCall mine;
  mine.type = mine.result = call.type == TESSERA_KERNEL_F64 ? DType::F64 : DType::F32;
  mine.op_a = call.trans_a != 0 ? Op::Transpose : Op::None;
  mine.op_b = call.trans_b != 0 ? Op::Transpose : Op::None;
  mine.m = call.m;
  mine.n = call.n;
  mine.k = call.k;
  mine.alpha = call.alpha;
  mine.a = call.a;
  mine.lda = call.lda;
  mine.b = call.b;
  mine.ldb = call.ldb;
  mine.beta = call.beta;
  mine.c = call.c;
  mine.ldc = call.ldc;
  // A rung hands its queue on to the functions above, which do not look at it.
  static NoExecutor nobody;
  static char no_queue[64];
  const Status status =
      kernel.run(kernel, *reinterpret_cast<Executor*>(&nobody), *reinterpret_cast<Queue*>(no_queue), mine);
  static std::string why;
  why = status.why;
  return status.ok() ? nullptr : why.c_str();
}

} // namespace tessera::lens
