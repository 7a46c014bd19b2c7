#include "staging.hpp"

#include <cstring>
#include <new>

#include "cuda/device/relaxed_capture.hpp"
#include "cuda/device/status.hpp"

namespace tessera::cuda {
namespace {

constexpr std::size_t buffer_bytes = std::size_t{1} << 20; // A thread's two buffers stay in the processor's cache.
constexpr std::size_t staged_from = std::size_t{2} << 20; // For less, waking the copy threads costs more than it gains.
constexpr int most_threads = 8;
constexpr std::size_t fetched_bytes = 4096; // The result of a reduction, say.

/// Returns how many threads copy `bytes` bytes. Below these sizes, waking more threads and sharing the bus costs more
/// than it gains. Source: measured by tessera_cuda_copy_speed (docs/lab/cuda_executor.md).
constexpr int threads_for(std::size_t bytes) noexcept {
  constexpr std::size_t mebibyte = std::size_t{1} << 20;
  return bytes < 8 * mebibyte ? 2 : bytes < 128 * mebibyte ? 4 : most_threads;
}

bool is_pageable(const void* host) noexcept {
  cudaPointerAttributes attributes{};
  if (cudaPointerGetAttributes(&attributes, host) != cudaSuccess) {
    static_cast<void>(cudaGetLastError());
    return true;
  }
  return attributes.type == cudaMemoryTypeUnregistered;
}

cudaError_t enqueue(void* to, std::size_t to_pitch, const void* from, std::size_t from_pitch, std::size_t width,
                    std::size_t rows, cudaMemcpyKind kind, cudaStream_t stream) noexcept {
  return rows == 1 ? cudaMemcpyAsync(to, from, width, kind, stream)
                   : cudaMemcpy2DAsync(to, to_pitch, from, from_pitch, width, rows, kind, stream);
}

void copy_rows(char* to, std::size_t to_pitch, const char* from, std::size_t from_pitch, const Chunk& chunk) noexcept {
  for (std::size_t i = 0; i < chunk.rows; ++i) std::memcpy(to + i * to_pitch, from + i * from_pitch, chunk.width);
}

} // namespace

/// One copy that the threads share.
struct Staging::Transfer {
  cudaStream_t stream;
  char* device;
  char* host; ///< Only read when copying in.
  CopyShape shape;
  Chunks chunks;
  std::atomic<std::size_t> next = 0;
  std::atomic<bool> failed = false;

  /// Takes the next chunk that no thread has taken yet. Returns false if there is none, or if a thread has failed.
  bool take(Chunk& chunk) noexcept {
    const std::size_t index = failed ? chunks.count() : next++;
    if (index >= chunks.count()) return false;
    chunk = chunks[index];
    return true;
  }
  char* on_device(const Chunk& chunk) const noexcept { return device + chunk.row * shape.device_pitch + chunk.byte; }
  char* on_host(const Chunk& chunk) const noexcept { return host + chunk.row * shape.host_pitch + chunk.byte; }
};

Staging::~Staging() {
  release();
  if (fetched_ != nullptr) static_cast<void>(cudaFreeHost(fetched_));
  static_cast<void>(cudaGetLastError());
}

void Staging::release() noexcept {
  copy_threads_.reset();
  static_cast<void>(cudaSetDevice(device_));
  for (Buffers& own : buffers_)
    for (const cudaEvent_t event : own.emptied)
      if (event != nullptr) static_cast<void>(cudaEventDestroy(event));
  buffers_.clear();
  if (pinned_ != nullptr) static_cast<void>(cudaFreeHost(pinned_));
  pinned_ = nullptr;
  static_cast<void>(cudaGetLastError());
}

/// Makes the buffers, events and threads at the first large copy. Returns false if the system does not give them.
bool Staging::prepare() noexcept try {
  if (prepared_) return pinned_ != nullptr;
  prepared_ = true;
  copy_threads_ = std::make_unique<CopyThreads>(std::clamp(threads_, 1, most_threads));
  buffers_.resize(static_cast<std::size_t>(copy_threads_->size()));
  void* pinned = nullptr;
  bool complete = cudaHostAlloc(&pinned, 2 * buffer_bytes * buffers_.size(), cudaHostAllocPortable) == cudaSuccess;
  pinned_ = complete ? static_cast<char*>(pinned) : nullptr;
  for (std::size_t i = 0; complete && i < 2 * buffers_.size(); ++i) {
    Buffers& own = buffers_[i / 2];
    own.buffer[i % 2] = pinned_ + i * buffer_bytes;
    complete = cudaEventCreateWithFlags(&own.emptied[i % 2], cudaEventDisableTiming) == cudaSuccess;
  }
  if (!complete) release();
  return complete;
} catch (const std::bad_alloc&) {
  release();
  return false;
}

/// Copies from the host to a buffer and from there to the device. The thread fills one buffer while the device empties
/// the other.
Status Staging::carry_in(Buffers& own, Transfer& transfer) const noexcept {
  if (Status status = check(cudaSetDevice(device_), "choosing the device"); !status.ok()) return status;
  Chunk chunk{};
  for (int turn = 0; transfer.take(chunk); turn = 1 - turn) {
    if (Status status = check(cudaEventSynchronize(own.emptied[turn]), "copying to the device"); !status.ok())
      return status;
    copy_rows(own.buffer[turn], chunk.width, transfer.on_host(chunk), transfer.shape.host_pitch, chunk);
    cudaError_t error = enqueue(transfer.on_device(chunk), transfer.shape.device_pitch, own.buffer[turn], chunk.width,
                                chunk.width, chunk.rows, cudaMemcpyHostToDevice, transfer.stream);
    if (error == cudaSuccess) error = cudaEventRecord(own.emptied[turn], transfer.stream);
    if (Status status = check(error, "copying to the device"); !status.ok()) return status;
  }
  return {};
}

/// Copies from the device to a buffer and from there to the host. The thread empties a buffer before the device fills
/// it again.
Status Staging::carry_out(Buffers& own, Transfer& transfer) const noexcept {
  if (Status status = check(cudaSetDevice(device_), "choosing the device"); !status.ok()) return status;
  Chunk under_way[2];
  bool full[2] = {false, false};
  for (int turn = 0;; turn = 1 - turn) {
    Chunk& chunk = under_way[turn];
    if (full[turn]) {
      if (Status status = check(cudaEventSynchronize(own.emptied[turn]), "copying from the device"); !status.ok())
        return status;
      copy_rows(transfer.on_host(chunk), transfer.shape.host_pitch, own.buffer[turn], chunk.width, chunk);
    }
    full[turn] = transfer.take(chunk);
    if (!full[turn]) {
      if (!full[1 - turn]) return {};
      continue;
    }
    cudaError_t error = enqueue(own.buffer[turn], chunk.width, transfer.on_device(chunk), transfer.shape.device_pitch,
                                chunk.width, chunk.rows, cudaMemcpyDeviceToHost, transfer.stream);
    if (error == cudaSuccess) error = cudaEventRecord(own.emptied[turn], transfer.stream);
    if (Status status = check(error, "copying from the device"); !status.ok()) return status;
  }
}

/// Lets the copy threads work on the transfer and returns the first failure. Waits in any case, because the buffers and
/// the caller's memory must not be in use any more.
template <class Work>
Status Staging::run_on_threads(Transfer& transfer, Work work) noexcept try {
  copy_threads_->run(threads_for(transfer.shape.bytes()), [&](int thread) {
    Buffers& own = buffers_[static_cast<std::size_t>(thread)];
    own.status = (this->*work)(own, transfer);
    if (!own.status.ok()) transfer.failed = true;
  });
  Status outcome;
  for (Buffers& own : buffers_)
    if (outcome.ok()) outcome = std::move(own.status);
  Status waited = check(cudaStreamSynchronize(transfer.stream), "waiting for a copy");
  return outcome.ok() ? waited : outcome;
} catch (const std::bad_alloc&) {
  return {StatusCode::OutOfMemory, {}};
}

Status Staging::copy_in(cudaStream_t stream, void* device, const void* host, const CopyShape& wanted) noexcept {
  if (wanted.bytes() == 0) return {};
  const RelaxedCaptureMode relaxed;
  const CopyShape shape = wanted.merged();
  if (shape.bytes() >= staged_from && is_pageable(host)) {
    const std::lock_guard lock(mutex_);
    if (prepare()) {
      Transfer transfer{stream, static_cast<char*>(device), static_cast<char*>(const_cast<void*>(host)), shape,
                        Chunks(shape, buffer_bytes)};
      return run_on_threads(transfer, &Staging::carry_in);
    }
  }
  const cudaError_t error = enqueue(device, shape.device_pitch, host, shape.host_pitch, shape.width, shape.rows,
                                    cudaMemcpyHostToDevice, stream);
  if (Status status = check(error, "copying to the device"); !status.ok()) return status;
  return check(cudaStreamSynchronize(stream), "waiting for a copy");
}

/// Makes the memory for fetch() at the first call. Returns false if the system does not give it.
bool Staging::prepare_fetch() noexcept {
  if (!fetch_prepared_ && cudaHostAlloc(&fetched_, fetched_bytes, cudaHostAllocPortable) != cudaSuccess) {
    static_cast<void>(cudaGetLastError());
    fetched_ = nullptr;
  }
  fetch_prepared_ = true;
  return fetched_ != nullptr;
}

/// Copies a few bytes by way of page-locked memory, which takes less time than the driver's own way to pageable memory.
Status Staging::fetch(cudaStream_t stream, void* host, const void* device, std::size_t bytes) const noexcept {
  const cudaError_t error = cudaMemcpyAsync(fetched_, device, bytes, cudaMemcpyDeviceToHost, stream);
  if (Status status = check(error, "copying from the device"); !status.ok()) return status;
  if (Status status = check(cudaStreamSynchronize(stream), "waiting for a copy"); !status.ok()) return status;
  std::memcpy(host, fetched_, bytes);
  return {};
}

Status Staging::copy_out(cudaStream_t stream, void* host, const void* device, const CopyShape& wanted) noexcept {
  if (wanted.bytes() == 0) return {};
  const RelaxedCaptureMode relaxed;
  const CopyShape shape = wanted.merged();
  if (shape.rows == 1 && shape.width <= fetched_bytes) {
    const std::unique_lock lock(fetch_mutex_, std::try_to_lock); // another thread may wait for another queue
    if (lock.owns_lock() && prepare_fetch()) return fetch(stream, host, device, shape.width);
  }
  if (shape.bytes() >= staged_from && is_pageable(host)) {
    const std::lock_guard lock(mutex_);
    if (prepare()) {
      Transfer transfer{stream, static_cast<char*>(const_cast<void*>(device)), static_cast<char*>(host), shape,
                        Chunks(shape, buffer_bytes)};
      return run_on_threads(transfer, &Staging::carry_out);
    }
  }
  const cudaError_t error = enqueue(host, shape.host_pitch, device, shape.device_pitch, shape.width, shape.rows,
                                    cudaMemcpyDeviceToHost, stream);
  if (Status status = check(error, "copying from the device"); !status.ok()) return status;
  return check(cudaStreamSynchronize(stream), "waiting for a copy");
}

Status Staging::start_in(cudaStream_t stream, void* device, const void* host, const CopyShape& wanted) noexcept {
  if (wanted.bytes() == 0) return {};
  if (is_pageable(host)) return copy_in(stream, device, host, wanted);
  const CopyShape shape = wanted.merged();
  return check(enqueue(device, shape.device_pitch, host, shape.host_pitch, shape.width, shape.rows,
                       cudaMemcpyHostToDevice, stream),
               "copying to the device");
}

Status Staging::start_out(cudaStream_t stream, void* host, const void* device, const CopyShape& wanted) noexcept {
  if (wanted.bytes() == 0) return {};
  if (is_pageable(host)) return copy_out(stream, host, device, wanted);
  const CopyShape shape = wanted.merged();
  return check(enqueue(host, shape.host_pitch, device, shape.device_pitch, shape.width, shape.rows,
                       cudaMemcpyDeviceToHost, stream),
               "copying from the device");
}

} // namespace tessera::cuda
