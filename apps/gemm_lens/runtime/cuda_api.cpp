/// The functions of CUDA's run-time library that a program with a matrix product calls. The lens' GPU has one device,
/// and has done everything when a function returns.

#include "../device/include/cuda_runtime_api.h"

#include <algorithm>
#include <cstdlib>
#include <cstring>

#include "finding.hpp"
#include "memory.hpp"
#include "shared.hpp"
#include "thread.hpp"

using tessera::lens::device_memory;

namespace tessera::lens {
namespace {
cudaError_t last_error = cudaSuccess;
std::size_t allowed_dynamic = most_static_shared; ///< by cudaFuncSetAttribute
cudaError_t keep(cudaError_t error) {
  if (error != cudaSuccess) last_error = error;
  return error;
}

/// Is the range the GPU's, all of it, or the host's? A copy with the wrong pointers does nothing on a GPU either.
bool is_device(const void* at, std::size_t bytes) {
  const auto address = reinterpret_cast<std::uintptr_t>(at);
  if (!device_memory().holds(address)) return false;
  const Allocation* const found = device_memory().find(address);
  return found != nullptr && !found->freed && address >= found->begin && address + bytes <= found->end();
}
bool in_device_range(const void* at) { return device_memory().holds(reinterpret_cast<std::uintptr_t>(at)); }

void note_bad_copy(const char* what, const void* caller, std::size_t bytes) {
  Finding made;
  made.kind = "out_of_bounds";
  made.pc = pc_of(caller);
  made.size = 0;
  made.array_bytes = bytes;
  made.detail = what;
  findings().add(made);
}
} // namespace

void launch_error(cudaError_t error) { keep(error); }
std::size_t allowed_dynamic_shared() { return allowed_dynamic; }
} // namespace tessera::lens

using tessera::lens::in_device_range;
using tessera::lens::is_device;
using tessera::lens::keep;

cudaError_t cudaMalloc(void** pointer, std::size_t bytes) {
  *pointer = device_memory().allocate(bytes, "");
  return keep(*pointer != nullptr || bytes == 0 ? cudaSuccess : cudaErrorMemoryAllocation);
}
cudaError_t cudaMallocPitch(void** pointer, std::size_t* pitch, std::size_t width, std::size_t height) {
  *pitch = (width + 511) / 512 * 512;
  return cudaMalloc(pointer, *pitch * height);
}
cudaError_t cudaFree(void* pointer) {
  return keep(pointer == nullptr || device_memory().free(pointer) ? cudaSuccess : cudaErrorInvalidValue);
}
static cudaError_t copy(void* to, const void* from, std::size_t bytes, cudaMemcpyKind kind, const void* caller) {
  const bool to_device = kind == cudaMemcpyHostToDevice || kind == cudaMemcpyDeviceToDevice ||
                         (kind == cudaMemcpyDefault && in_device_range(to));
  const bool from_device = kind == cudaMemcpyDeviceToHost || kind == cudaMemcpyDeviceToDevice ||
                           (kind == cudaMemcpyDefault && in_device_range(from));
  const bool fits = (to_device ? is_device(to, bytes) : !in_device_range(to)) &&
                    (from_device ? is_device(from, bytes) : !in_device_range(from));
  if (!fits) {
    tessera::lens::note_bad_copy("copy", caller, bytes);
    return keep(cudaErrorInvalidValue);
  }
  std::memmove(to, from, bytes);
  return cudaSuccess;
}
static cudaError_t copy_rows(void* to, std::size_t to_pitch, const void* from, std::size_t from_pitch,
                             std::size_t width, std::size_t height, cudaMemcpyKind kind, const void* caller) {
  for (std::size_t row = 0; row < height; ++row)
    if (const cudaError_t error = copy(static_cast<char*>(to) + row * to_pitch,
                                       static_cast<const char*>(from) + row * from_pitch, width, kind, caller);
        error != cudaSuccess)
      return error;
  return cudaSuccess;
}
static cudaError_t set(void* to, int value, std::size_t bytes, const void* caller) {
  if (!is_device(to, bytes)) {
    tessera::lens::note_bad_copy("memset", caller, bytes);
    return keep(cudaErrorInvalidValue);
  }
  std::memset(to, value, bytes);
  return cudaSuccess;
}

cudaError_t cudaMemcpy(void* to, const void* from, std::size_t bytes, cudaMemcpyKind kind) {
  return copy(to, from, bytes, kind, __builtin_return_address(0));
}
cudaError_t cudaMemcpyAsync(void* to, const void* from, std::size_t bytes, cudaMemcpyKind kind, cudaStream_t) {
  return copy(to, from, bytes, kind, __builtin_return_address(0));
}
cudaError_t cudaMemcpy2D(void* to, std::size_t to_pitch, const void* from, std::size_t from_pitch, std::size_t width,
                         std::size_t height, cudaMemcpyKind kind) {
  return copy_rows(to, to_pitch, from, from_pitch, width, height, kind, __builtin_return_address(0));
}
cudaError_t cudaMemcpy2DAsync(void* to, std::size_t to_pitch, const void* from, std::size_t from_pitch,
                              std::size_t width, std::size_t height, cudaMemcpyKind kind, cudaStream_t) {
  return copy_rows(to, to_pitch, from, from_pitch, width, height, kind, __builtin_return_address(0));
}
cudaError_t cudaMemset(void* to, int value, std::size_t bytes) {
  return set(to, value, bytes, __builtin_return_address(0));
}
cudaError_t cudaMemsetAsync(void* to, int value, std::size_t bytes, cudaStream_t) {
  return set(to, value, bytes, __builtin_return_address(0));
}
cudaError_t cudaMallocHost(void** pointer, std::size_t bytes) {
  *pointer = std::malloc(bytes);
  return keep(*pointer != nullptr ? cudaSuccess : cudaErrorMemoryAllocation);
}
cudaError_t cudaFreeHost(void* pointer) {
  std::free(pointer);
  return cudaSuccess;
}
cudaError_t cudaGetLastError() {
  const cudaError_t error = tessera::lens::last_error;
  tessera::lens::last_error = cudaSuccess;
  return error;
}
cudaError_t cudaPeekAtLastError() { return tessera::lens::last_error; }
const char* cudaGetErrorString(cudaError_t error) {
  switch (error) {
    case cudaSuccess:
      return "no error";
    case cudaErrorMemoryAllocation:
      return "out of memory";
    case cudaErrorInvalidConfiguration:
      return "invalid configuration argument";
    case cudaErrorNotSupported:
      return "operation not supported";
    default:
      return "invalid argument";
  }
}
const char* cudaGetErrorName(cudaError_t error) {
  switch (error) {
    case cudaSuccess:
      return "cudaSuccess";
    case cudaErrorMemoryAllocation:
      return "cudaErrorMemoryAllocation";
    case cudaErrorInvalidConfiguration:
      return "cudaErrorInvalidConfiguration";
    case cudaErrorNotSupported:
      return "cudaErrorNotSupported";
    default:
      return "cudaErrorInvalidValue";
  }
}
cudaError_t cudaDeviceSynchronize() { return cudaSuccess; }
cudaError_t cudaStreamCreate(cudaStream_t* stream) {
  static CUstream_st all;
  *stream = &all;
  return cudaSuccess;
}
cudaError_t cudaStreamCreateWithFlags(cudaStream_t* stream, unsigned) { return cudaStreamCreate(stream); }
cudaError_t cudaStreamDestroy(cudaStream_t) { return cudaSuccess; }
cudaError_t cudaStreamSynchronize(cudaStream_t) { return cudaSuccess; }
cudaError_t cudaStreamWaitEvent(cudaStream_t, cudaEvent_t, unsigned) { return cudaSuccess; }
cudaError_t cudaEventCreate(cudaEvent_t* event) {
  static CUevent_st all;
  *event = &all;
  return cudaSuccess;
}
cudaError_t cudaEventCreateWithFlags(cudaEvent_t* event, unsigned) { return cudaEventCreate(event); }
cudaError_t cudaEventDestroy(cudaEvent_t) { return cudaSuccess; }
cudaError_t cudaEventRecord(cudaEvent_t, cudaStream_t) { return cudaSuccess; }
cudaError_t cudaEventSynchronize(cudaEvent_t) { return cudaSuccess; }
cudaError_t cudaEventElapsedTime(float* milliseconds, cudaEvent_t, cudaEvent_t) {
  *milliseconds = 1; // the lens has no clock of a GPU
  return cudaSuccess;
}
cudaError_t cudaGetDeviceCount(int* count) {
  *count = 1;
  return cudaSuccess;
}
cudaError_t cudaGetDevice(int* device) {
  *device = 0;
  return cudaSuccess;
}
cudaError_t cudaSetDevice(int device) { return keep(device == 0 ? cudaSuccess : cudaErrorInvalidValue); }
cudaError_t cudaDeviceGetAttribute(int* value, cudaDeviceAttr attribute, int) {
  switch (attribute) {
    case cudaDevAttrMaxThreadsPerBlock:
      *value = 1024;
      break;
    case cudaDevAttrMaxSharedMemoryPerBlock:
      *value = tessera::lens::most_static_shared;
      break;
    case cudaDevAttrMaxSharedMemoryPerBlockOptin:
      *value = tessera::lens::most_shared;
      break;
    case cudaDevAttrWarpSize:
      *value = 32;
      break;
    case cudaDevAttrMultiProcessorCount:
      *value = 132;
      break;
    case cudaDevAttrComputeCapabilityMajor:
      *value = 9;
      break;
    default:
      *value = 0;
  }
  return cudaSuccess;
}
cudaError_t cudaGetDeviceProperties(cudaDeviceProp* properties, int) {
  *properties = {};
  std::strcpy(properties->name, "lens");
  return cudaSuccess;
}
cudaError_t tessera_lens_function_attribute(const void*, cudaFuncAttribute attribute, int value) {
  if (attribute != cudaFuncAttributeMaxDynamicSharedMemorySize) return cudaSuccess;
  if (value < 0 || static_cast<std::size_t>(value) > tessera::lens::most_shared) return keep(cudaErrorInvalidValue);
  tessera::lens::allowed_dynamic = std::max(tessera::lens::allowed_dynamic, static_cast<std::size_t>(value));
  return cudaSuccess;
}
