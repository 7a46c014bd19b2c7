#include "pinned.hpp"

#include "cuda/device/relaxed_capture.hpp"
#include "cuda/device/status.hpp"

namespace tessera::cuda {

Status allocate_pinned(int device, std::size_t bytes, void*& memory) noexcept {
  const RelaxedCaptureMode relaxed;
  memory = nullptr;
  if (Status status = check(cudaSetDevice(device), "choosing the device"); !status.ok()) return status;
  Status status = check(cudaHostAlloc(&memory, bytes == 0 ? 1 : bytes, cudaHostAllocPortable),
                        "allocating page-locked host memory");
  if (!status.ok()) memory = nullptr;
  return status;
}

void free_pinned(int device, void* memory) noexcept {
  if (memory == nullptr) return;
  const RelaxedCaptureMode relaxed;
  static_cast<void>(cudaSetDevice(device));
  if (cudaFreeHost(memory) != cudaSuccess) static_cast<void>(cudaGetLastError());
}

Status copy_within(cudaStream_t stream, void* to, std::size_t to_pitch, const void* from, std::size_t from_pitch,
                   std::size_t width, std::size_t rows) noexcept {
  if (width == 0 || rows == 0) return {};
  const bool dense = rows == 1 || (to_pitch == width && from_pitch == width);
  const cudaError_t error =
      dense ? cudaMemcpyAsync(to, from, width * rows, cudaMemcpyDefault, stream)
            : cudaMemcpy2DAsync(to, to_pitch, from, from_pitch, width, rows, cudaMemcpyDefault, stream);
  return check(error, "copying within a device");
}

} // namespace tessera::cuda
