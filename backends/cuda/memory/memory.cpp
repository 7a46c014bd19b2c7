#include "memory.hpp"

#include <algorithm>
#include <bit>
#include <cstdint>
#include <exception>
#include <new>
#include <string>
#include <utility>

#include "cuda/device/relaxed_capture.hpp"
#include "cuda/device/status.hpp"

namespace tessera::cuda {
namespace {

/// The largest block that is kept: copies of larger operands take much longer than the driver does.
constexpr std::size_t most_kept = std::size_t{32} << 20;
constexpr std::size_t least_kept = std::size_t{1} << 16;

bool is_captured(cudaStream_t stream) {
  cudaStreamCaptureStatus status = cudaStreamCaptureStatusNone;
  return cudaStreamIsCapturing(stream, &status) != cudaSuccess || status != cudaStreamCaptureStatusNone;
}

void forget_error() { static_cast<void>(cudaGetLastError()); }

cudaMemPool_t create_pool(int device) {
  int supported = 0;
  if (cudaDeviceGetAttribute(&supported, cudaDevAttrMemoryPoolsSupported, device) != cudaSuccess || supported == 0) {
    forget_error();
    return nullptr;
  }
  cudaMemPoolProps properties{};
  properties.allocType = cudaMemAllocationTypePinned;
  properties.handleTypes = cudaMemHandleTypeNone;
  properties.location.type = cudaMemLocationTypeDevice;
  properties.location.id = device;
  cudaMemPool_t pool = nullptr;
  if (cudaMemPoolCreate(&pool, &properties) != cudaSuccess) {
    forget_error();
    return nullptr;
  }
  std::size_t free = 0;
  std::size_t total = 0;
  if (cudaMemGetInfo(&free, &total) == cudaSuccess) {
    std::uint64_t kept = total / 4;
    static_cast<void>(cudaMemPoolSetAttribute(pool, cudaMemPoolAttrReleaseThreshold, &kept));
  }
  forget_error();
  return pool;
}

} // namespace

DeviceMemory::DeviceMemory(int device, std::size_t limit) noexcept : device_(device), limit_(limit) {
  static_cast<void>(cudaSetDevice(device));
  pool_ = create_pool(device);
}

DeviceMemory::~DeviceMemory() {
  static_cast<void>(cudaSetDevice(device_));
  static_cast<void>(cudaDeviceSynchronize());
  if (stream_ != nullptr) static_cast<void>(cudaStreamDestroy(stream_));
  for (const auto& [memory, bytes] : sizes_) static_cast<void>(cudaFree(memory)); // The pool would live on for them.
  if (pool_ != nullptr) static_cast<void>(cudaMemPoolDestroy(pool_));
  forget_error();
}

Status DeviceMemory::allocate(cudaStream_t stream, std::size_t bytes, void*& memory, bool may_wait,
                              bool counts) noexcept {
  const RelaxedCaptureMode relaxed;
  memory = nullptr;
  if (Status status = check(cudaSetDevice(device_), "choosing the device"); !status.ok()) return status;
  bytes = bytes == 0 ? 1 : bytes;
  const std::size_t counted = counts ? bytes : 0;
  if (!reserve(counted).ok()) {
    give_back_kept();
    if (Status status = reserve(counted); !status.ok()) return status;
  }
  cudaError_t error = take(stream, bytes, memory);
  if (error == cudaErrorMemoryAllocation && may_wait) { // Memory that was freed and not yet given back may be enough.
    forget_error();
    give_back_kept();
    static_cast<void>(cudaDeviceSynchronize());
    if (pool_ != nullptr) static_cast<void>(cudaMemPoolTrimTo(pool_, 0));
    error = take(stream, bytes, memory);
  }
  const std::lock_guard lock(mutex_);
  if (error == cudaSuccess) try {
      sizes_.emplace(memory, counted);
      return {};
    } catch (const std::bad_alloc&) {
      static_cast<void>(pool_ ? cudaFreeAsync(memory, stream) : cudaFree(memory));
    }
  memory = nullptr;
  in_use_ -= counted;
  if (error == cudaErrorMemoryAllocation) {
    forget_error();
    return out_of_memory(bytes);
  }
  return error == cudaSuccess ? Status{StatusCode::OutOfMemory, {}} : check(error, "allocating device memory");
}

Status DeviceMemory::stream(cudaStream_t& stream) noexcept {
  const RelaxedCaptureMode relaxed;
  const std::lock_guard lock(mutex_);
  if (stream_ == nullptr) {
    if (Status status = check(cudaSetDevice(device_), "choosing the device"); !status.ok()) return status;
    if (Status status = check(cudaStreamCreateWithFlags(&stream_, cudaStreamNonBlocking), "making a stream");
        !status.ok())
      return status;
  }
  stream = stream_;
  return {};
}

void DeviceMemory::let_reach(int other) noexcept {
  const std::lock_guard lock(mutex_);
  if (other < 0 || other >= 64 || other == device_ || (seen_by_ >> other & 1) != 0) return;
  seen_by_ |= std::uint64_t{1} << other;
  int reaches = 0;
  if (cudaDeviceCanAccessPeer(&reaches, other, device_) == cudaSuccess && reaches != 0) {
    if (pool_ != nullptr) {
      cudaMemAccessDesc access{};
      access.location.type = cudaMemLocationTypeDevice;
      access.location.id = other;
      access.flags = cudaMemAccessFlagsProtReadWrite;
      static_cast<void>(cudaMemPoolSetAccess(pool_, &access, 1));
    } else if (cudaSetDevice(other) == cudaSuccess) {
      static_cast<void>(cudaDeviceEnablePeerAccess(device_, 0));
    }
  }
  forget_error();
}

/// Counts the bytes against the limit before the driver is asked for them, so that two threads cannot both get the last
/// bytes.
Status DeviceMemory::reserve(std::size_t bytes) noexcept {
  const std::lock_guard lock(mutex_);
  if (limit_ != 0 && (bytes > limit_ || in_use_ > limit_ - bytes)) return out_of_memory(bytes);
  in_use_ += bytes;
  return {};
}

cudaError_t DeviceMemory::take(cudaStream_t stream, std::size_t bytes, void*& memory) noexcept {
  return pool_ ? cudaMallocFromPoolAsync(&memory, bytes, pool_, stream) : cudaMalloc(&memory, bytes);
}

Status DeviceMemory::out_of_memory(std::size_t bytes) const noexcept try {
  std::string why = "out of device memory: could not allocate " + std::to_string(bytes) + " bytes";
  std::size_t free = 0;
  std::size_t total = 0;
  if (limit_ != 0)
    why += "; " + std::to_string(in_use_) + " of the " + std::to_string(limit_) +
           " bytes that TESSERA_CUDA_MEMORY_LIMIT allows are in use";
  else if (cudaMemGetInfo(&free, &total) == cudaSuccess)
    why += "; " + std::to_string(free) + " of " + std::to_string(total) + " bytes are free";
  return {StatusCode::OutOfMemory, why + "; use smaller matrices, or destroy some that are on the device"};
} catch (const std::bad_alloc&) {
  return {StatusCode::OutOfMemory, {}};
}

void DeviceMemory::free(cudaStream_t stream, void* memory) noexcept {
  if (memory == nullptr) return;
  const RelaxedCaptureMode relaxed;
  static_cast<void>(cudaSetDevice(device_));
  {
    const std::lock_guard lock(mutex_);
    if (const auto found = sizes_.find(memory); found != sizes_.end()) {
      in_use_ -= found->second;
      sizes_.erase(found);
    }
  }
  static_cast<void>(pool_ ? cudaFreeAsync(memory, stream) : cudaFree(memory));
  forget_error(); // free() returns no status; the next call reports a lost device.
}

Status DeviceMemory::allocate_scratch(cudaStream_t stream, std::size_t bytes, void*& memory) noexcept {
  if (bytes > most_kept || is_captured(stream)) return allocate(stream, bytes, memory);
  const std::size_t block = std::max(std::bit_ceil(bytes), least_kept);
  {
    const std::lock_guard lock(mutex_);
    if (const auto kept = kept_.find(stream); kept != kept_.end() && kept->second != nullptr)
      if (sizes_.at(kept->second) >= bytes) {
        memory = std::exchange(kept->second, nullptr);
        return {};
      }
  }
  if (Status status = allocate(stream, block, memory); status.ok()) return status;
  return allocate(stream, bytes, memory);
}

void DeviceMemory::free_scratch(cudaStream_t stream, void* memory) noexcept {
  if (memory == nullptr) return;
  if (!is_captured(stream)) try {
      const std::lock_guard lock(mutex_);
      if (const std::size_t bytes = sizes_.at(memory); bytes >= least_kept && bytes <= most_kept) {
        void*& kept = kept_[stream];
        if (kept == nullptr || sizes_.at(kept) < bytes) std::swap(kept, memory);
      }
    } catch (const std::exception&) { // there is no memory for the map, or the block is not of this pool
    }
  free(stream, memory);
}

void DeviceMemory::forget(cudaStream_t stream) noexcept {
  void* kept = nullptr;
  {
    const std::lock_guard lock(mutex_);
    if (const auto found = kept_.find(stream); found != kept_.end()) {
      kept = found->second;
      kept_.erase(found);
    }
  }
  free(stream, kept);
}

/// Gives back what may be given back: a captured stream would free its block whenever its graph runs.
void DeviceMemory::give_back_kept() noexcept {
  for (;;) {
    cudaStream_t stream = nullptr;
    {
      const std::lock_guard lock(mutex_);
      const auto found = std::ranges::find_if(
          kept_, [](const auto& kept) { return kept.second != nullptr && !is_captured(kept.first); });
      if (found == kept_.end()) return;
      stream = found->first;
    }
    forget(stream);
  }
}

} // namespace tessera::cuda
