#include "memory.hpp"

#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <new>
#include <string>

#include "opencl/device/status.hpp"

namespace tessera::opencl {
namespace {

constexpr std::size_t alignment = 128; ///< of shared virtual memory, as double16 needs it

} // namespace

DeviceMemory::DeviceMemory(Context& context) noexcept : context_(context), shares_(context.device().has_svm) {}

DeviceMemory::~DeviceMemory() {
  static_cast<void>(sweep(true));
  for (const auto& [address, block] : blocks_) {
    release(block);
    if (block.shared == nullptr) ::munmap(reinterpret_cast<void*>(address), block.reserved);
  }
}

Status DeviceMemory::too_much(std::size_t bytes, const char* why) const {
  return {StatusCode::OutOfMemory, "out of device memory: could not allocate " + std::to_string(bytes) + " bytes; " +
                                       why + "; use smaller matrices, or destroy some that are on the device"};
}

/// Counts the bytes before the driver is asked, which may promise more than there is and fail in the midst of work.
Status DeviceMemory::reserve(std::size_t bytes) noexcept try {
  const Device& device = context_.device();
  if (bytes > device.most_bytes)
    return too_much(bytes, ("the device allows " + std::to_string(device.most_bytes) +
                            " bytes in one allocation (CL_DEVICE_MAX_MEM_ALLOC_SIZE)")
                               .c_str());
  const bool limited = device.memory_limit != 0;
  const std::size_t most = limited ? device.memory_limit : device.memory_bytes;
  const std::unique_lock lock(mutex_);
  if (bytes > most || in_use_ > most - bytes)
    return too_much(bytes, (std::to_string(in_use_) + " of the " + (limited ? "" : "device's ") + std::to_string(most) +
                            " bytes " + (limited ? "that TESSERA_OPENCL_MEMORY_LIMIT allows " : "") + "are in use")
                               .c_str());
  in_use_ += bytes;
  return {};
} catch (const std::bad_alloc&) {
  return {StatusCode::OutOfMemory, {}};
}

Status DeviceMemory::make_shared(std::size_t bytes, Block& block, std::uintptr_t& address) noexcept try {
  block.shared = cl().SVMAlloc(context_.get(), CL_MEM_READ_WRITE, bytes, alignment);
  if (block.shared == nullptr) return too_much(bytes, "clSVMAlloc gives no more");
  cl_int error = CL_SUCCESS;
  block.buffer =
      cl().CreateBuffer(context_.get(), CL_MEM_READ_WRITE | CL_MEM_USE_HOST_PTR, bytes, block.shared, &error);
  if (error != CL_SUCCESS) {
    cl().SVMFree(context_.get(), block.shared);
    return check(error, "making a buffer of shared virtual memory");
  }
  address = reinterpret_cast<std::uintptr_t>(block.shared);
  block.reserved = bytes;
  return {};
} catch (const std::bad_alloc&) {
  return {StatusCode::OutOfMemory, {}};
}

Status DeviceMemory::make_buffer(std::size_t bytes, Block& block, std::uintptr_t& address) noexcept try {
  const auto page = static_cast<std::size_t>(::sysconf(_SC_PAGESIZE));
  block.reserved = (bytes + page - 1) / page * page;
  void* const range = ::mmap(nullptr, block.reserved, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (range == MAP_FAILED) return too_much(bytes, "the process has no range of addresses for them");
  cl_int error = CL_SUCCESS;
  block.buffer = cl().CreateBuffer(context_.get(), CL_MEM_READ_WRITE, bytes, nullptr, &error);
  if (error != CL_SUCCESS) {
    ::munmap(range, block.reserved);
    return error == CL_MEM_OBJECT_ALLOCATION_FAILURE ? too_much(bytes, "clCreateBuffer gives no more")
                                                     : check(error, "allocating device memory");
  }
  address = reinterpret_cast<std::uintptr_t>(range);
  return {};
} catch (const std::bad_alloc&) {
  return {StatusCode::OutOfMemory, {}};
}

Status DeviceMemory::make(std::size_t bytes, Block& block, std::uintptr_t& address) noexcept {
  block = {};
  block.bytes = bytes;
  return shares_ ? make_shared(bytes, block, address) : make_buffer(bytes, block, address);
}

Status DeviceMemory::allocate(std::size_t bytes, void*& memory) noexcept {
  memory = nullptr;
  bytes = std::max<std::size_t>(bytes, 1);
  static_cast<void>(sweep(false));
  if (!reserve(bytes).ok()) {
    static_cast<void>(make_room());
    if (Status status = reserve(bytes); !status.ok()) return status;
  }
  Block block;
  std::uintptr_t address = 0;
  Status status = make(bytes, block, address);
  if (status.code == StatusCode::OutOfMemory && make_room()) status = make(bytes, block, address);
  const std::unique_lock lock(mutex_);
  if (status.ok()) try {
      blocks_.emplace(address, block);
      memory = reinterpret_cast<void*>(address);
      return {};
    } catch (const std::bad_alloc&) {
      release(block);
      if (block.shared == nullptr) ::munmap(reinterpret_cast<void*>(address), block.reserved);
      status = {StatusCode::OutOfMemory, {}};
    }
  in_use_ -= bytes;
  return status;
}

void DeviceMemory::free(void* memory) noexcept {
  if (memory == nullptr) return;
  const auto address = reinterpret_cast<std::uintptr_t>(memory);
  Block block;
  {
    const std::unique_lock lock(mutex_);
    const auto found = blocks_.find(address);
    if (found == blocks_.end()) return;
    block = found->second;
    blocks_.erase(found);
    if (block.shared == nullptr) in_use_ -= block.bytes;
  }
  if (block.shared == nullptr) { // the driver keeps a buffer until enqueued work has used it
    ::munmap(memory, block.reserved);
    return release(block);
  }
  Freed freed{block, {}};
  mark(freed.after);
  try {
    const std::lock_guard lock(freed_mutex_);
    freed_.push_back(std::move(freed));
  } catch (const std::bad_alloc&) {
    for (const cl_event event : freed.after) {
      static_cast<void>(cl().WaitForEvents(1, &event));
      static_cast<void>(cl().ReleaseEvent(event));
    }
    release(block);
    const std::unique_lock lock(mutex_);
    in_use_ -= block.bytes;
  }
  static_cast<void>(sweep(false));
}

Status DeviceMemory::lend(cl_command_queue queue, std::size_t bytes, void*& memory) noexcept try {
  memory = nullptr;
  {
    const std::lock_guard lock(lent_mutex_);
    Lent* best = nullptr;
    for (Lent& one : lent_)
      if (one.queue == queue && !one.in_use && one.bytes >= bytes && (best == nullptr || one.bytes < best->bytes))
        best = &one;
    if (best != nullptr) {
      best->in_use = true;
      memory = best->memory;
      return {};
    }
    lent_.reserve(lent_.size() + 1);
  }
  static_cast<void>(drop_kept(queue)); // they are too small
  if (Status status = allocate(bytes, memory); !status.ok()) return status;
  const std::lock_guard lock(lent_mutex_);
  lent_.push_back({queue, memory, bytes, true});
  return {};
} catch (const std::bad_alloc&) {
  free(memory);
  memory = nullptr;
  return {StatusCode::OutOfMemory, {}};
}

void DeviceMemory::give_back(void* memory) noexcept {
  if (memory == nullptr) return;
  constexpr std::size_t share = 8;
  const Device& device = context_.device();
  const std::size_t most = (device.memory_limit != 0 ? device.memory_limit : device.memory_bytes) / share;
  {
    const std::lock_guard lock(lent_mutex_);
    std::size_t kept = 0;
    for (const Lent& one : lent_) kept += one.in_use ? 0 : one.bytes;
    const auto found =
        std::find_if(lent_.begin(), lent_.end(), [memory](const Lent& one) { return one.memory == memory; });
    if (found->bytes <= most && kept <= most - found->bytes) {
      found->in_use = false;
      return;
    }
    lent_.erase(found);
  }
  free(memory);
}

/// Frees what is kept for a queue's next work, or for all queues' where `queue` is null. Returns whether there was any.
bool DeviceMemory::drop_kept(cl_command_queue queue) noexcept {
  bool dropped = false;
  for (;;) {
    void* memory = nullptr;
    {
      const std::lock_guard lock(lent_mutex_);
      const auto found = std::find_if(lent_.begin(), lent_.end(), [queue](const Lent& one) {
        return !one.in_use && (queue == nullptr || one.queue == queue);
      });
      if (found == lent_.end()) return dropped;
      memory = found->memory;
      lent_.erase(found);
    }
    free(memory);
    dropped = true;
  }
}

/// Gives back all memory that no work uses, after waiting for the work. Returns whether there was any.
bool DeviceMemory::make_room() noexcept {
  const bool dropped = drop_kept(nullptr), swept = sweep(true);
  return dropped || swept;
}

/// Marks the end of what each queue has been given, and waits for it where there is no memory for the mark.
void DeviceMemory::mark(std::vector<cl_event>& after) noexcept {
  const std::lock_guard lock(queues_mutex_);
  for (const cl_command_queue queue : queues_) {
    cl_event event = nullptr;
    if (cl().EnqueueMarkerWithWaitList(queue, 0, nullptr, &event) != CL_SUCCESS) {
      static_cast<void>(cl().Finish(queue));
      continue;
    }
    static_cast<void>(cl().Flush(queue));
    try {
      after.push_back(event);
    } catch (const std::bad_alloc&) {
      static_cast<void>(cl().WaitForEvents(1, &event));
      static_cast<void>(cl().ReleaseEvent(event));
    }
  }
}

/// Gives freed memory back whose marks are reached; with `waits` all of it. Returns whether it gave anything back.
bool DeviceMemory::sweep(bool waits) noexcept {
  const std::lock_guard lock(freed_mutex_);
  const auto is_done = [&](Freed& freed) {
    for (cl_event& event : freed.after) {
      if (event == nullptr) continue;
      cl_int state = CL_QUEUED;
      if (waits)
        static_cast<void>(cl().WaitForEvents(1, &event));
      else if (cl().GetEventInfo(event, CL_EVENT_COMMAND_EXECUTION_STATUS, sizeof state, &state, nullptr) ==
                   CL_SUCCESS &&
               state > CL_COMPLETE)
        return false;
      static_cast<void>(cl().ReleaseEvent(event));
      event = nullptr;
    }
    return true;
  };
  std::size_t bytes = 0;
  const auto end = std::remove_if(freed_.begin(), freed_.end(), [&](Freed& freed) {
    if (!is_done(freed)) return false;
    release(freed.block);
    bytes += freed.block.bytes;
    return true;
  });
  const bool gave = end != freed_.end();
  freed_.erase(end, freed_.end());
  const std::unique_lock counting(mutex_);
  in_use_ -= bytes;
  return gave;
}

void DeviceMemory::release(const Block& block) noexcept {
  static_cast<void>(cl().ReleaseMemObject(block.buffer));
  if (block.shared != nullptr) cl().SVMFree(context_.get(), block.shared);
}

bool DeviceMemory::holds(const void* address, Place& place) const noexcept {
  const auto wanted = reinterpret_cast<std::uintptr_t>(address);
  const std::shared_lock lock(mutex_);
  auto after = blocks_.upper_bound(wanted);
  if (after == blocks_.begin()) return false;
  const auto& [first, block] = *--after;
  if (wanted - first >= block.reserved) return false;
  place = {block.buffer, block.shared, wanted - first};
  return true;
}

Status DeviceMemory::find(const void* address, Place& place) const noexcept try {
  if (holds(address, place)) return {};
  return {StatusCode::InvalidArgument,
          "an operand is not in the memory of this executor of OpenCL; take memory from Executor::allocate()"};
} catch (const std::bad_alloc&) {
  return {StatusCode::OutOfMemory, {}};
}

Status DeviceMemory::add(cl_command_queue queue) noexcept try {
  const std::lock_guard lock(queues_mutex_);
  queues_.push_back(queue);
  return {};
} catch (const std::bad_alloc&) {
  return {StatusCode::OutOfMemory, {}};
}

void DeviceMemory::remove(cl_command_queue queue) noexcept {
  static_cast<void>(drop_kept(queue));
  const std::lock_guard lock(queues_mutex_);
  queues_.erase(std::remove(queues_.begin(), queues_.end(), queue), queues_.end());
}

} // namespace tessera::opencl
