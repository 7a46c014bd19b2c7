#include "pinned.hpp"

#include <algorithm>
#include <cstdlib>
#include <new>

#include <tessera/backend/out_of_memory.hpp>

#include "opencl/device/status.hpp"

namespace tessera::opencl {
namespace {

constexpr std::size_t pinned_alignment = 64;

std::size_t rounded_up(std::size_t bytes) {
  return (bytes + pinned_alignment - 1) / pinned_alignment * pinned_alignment;
}

} // namespace

Pinned::~Pinned() {
  for (const auto& [address, block] : blocks_) {
    if (block.buffer != nullptr)
      static_cast<void>(cl().ReleaseMemObject(block.buffer));
    else
      std::free(block.mapped);
  }
}

Status Pinned::allocate(cl_command_queue queue, std::size_t bytes, void*& memory) noexcept {
  memory = nullptr;
  Block block;
  block.bytes = std::max<std::size_t>(bytes, 1);
  if (block.bytes > SIZE_MAX / 2) return out_of_memory("pinned memory", block.bytes);
  const std::size_t asked =
      rounded_up(block.bytes) + pinned_alignment; // a driver promises no pinned_alignment of its own
  if (context_.device().shares_memory) {
    block.mapped = std::aligned_alloc(pinned_alignment, asked);
    if (block.mapped == nullptr) return out_of_memory("memory for an executor's copies", block.bytes);
  } else {
    cl_int error = CL_SUCCESS;
    block.buffer = cl().CreateBuffer(context_.get(), CL_MEM_READ_WRITE | CL_MEM_ALLOC_HOST_PTR, asked, nullptr, &error);
    if (error == CL_SUCCESS) {
      block.mapped = cl().EnqueueMapBuffer(queue, block.buffer, CL_TRUE, CL_MAP_READ | CL_MAP_WRITE, 0, asked, 0,
                                           nullptr, nullptr, &error);
      if (error != CL_SUCCESS) static_cast<void>(cl().ReleaseMemObject(block.buffer));
    }
    if (error == CL_INVALID_BUFFER_SIZE || error == CL_MAP_FAILURE) error = CL_OUT_OF_HOST_MEMORY;
    if (Status status = check(error, "allocating pinned host memory"); !status.ok()) return status;
  }
  const std::uintptr_t address = rounded_up(reinterpret_cast<std::uintptr_t>(block.mapped));
  const std::lock_guard lock(mutex_);
  try {
    blocks_.emplace(address, block);
  } catch (const std::bad_alloc&) {
    if (block.buffer != nullptr)
      static_cast<void>(cl().ReleaseMemObject(block.buffer));
    else
      std::free(block.mapped);
    return {StatusCode::OutOfMemory, {}};
  }
  memory = reinterpret_cast<void*>(address);
  return {};
}

void Pinned::free(cl_command_queue queue, void* memory) noexcept {
  Block block;
  {
    const std::lock_guard lock(mutex_);
    const auto found = blocks_.find(reinterpret_cast<std::uintptr_t>(memory));
    if (found == blocks_.end()) return;
    block = found->second;
    blocks_.erase(found);
  }
  if (block.buffer == nullptr) return std::free(block.mapped);
  static_cast<void>(cl().EnqueueUnmapMemObject(queue, block.buffer, block.mapped, 0, nullptr, nullptr));
  static_cast<void>(cl().Flush(queue));
  static_cast<void>(cl().ReleaseMemObject(block.buffer));
}

bool Pinned::holds(const void* address) const noexcept {
  const auto wanted = reinterpret_cast<std::uintptr_t>(address);
  const std::lock_guard lock(mutex_);
  auto after = blocks_.upper_bound(wanted);
  if (after == blocks_.begin()) return false;
  const auto& [first, block] = *--after;
  return wanted - first < block.bytes;
}

} // namespace tessera::opencl
