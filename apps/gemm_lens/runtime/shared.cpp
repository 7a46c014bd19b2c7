#include "shared.hpp"

#include <cstring>

#include "../device/include/tessera_lens/shared_memory.hpp"

/// Dynamic shared memory, with a guard band on both sides.
alignas(1024) unsigned char tessera_lens_dynamic_storage[tessera::lens::guard_bytes + tessera::lens::most_shared +
                                                         tessera::lens::guard_bytes];
unsigned char* const tessera_lens_dynamic_shared = tessera_lens_dynamic_storage + tessera::lens::guard_bytes;

namespace tessera::lens {

void declare_shared(void* begin, std::size_t bytes, const char* name) { shared_memory().declare(begin, bytes, name); }

void SharedMemory::begin_launch(std::size_t dynamic_bytes) {
  for (SharedArray& array : arrays_) array.in_use = false;
  last_ = nullptr;
  dynamic_bytes_ = dynamic_bytes;
  if (dynamic_bytes > 0) declare(tessera_lens_dynamic_shared, dynamic_bytes, "dynamic shared memory");
}

void SharedMemory::begin_block() {
  for (SharedArray& array : arrays_)
    if (array.in_use) std::memset(reinterpret_cast<void*>(array.begin), 0xff, array.bytes);
}

void SharedMemory::declare(void* begin, std::size_t bytes, const char* name) {
  const auto at = reinterpret_cast<std::uintptr_t>(begin);
  for (SharedArray& array : arrays_)
    if (array.begin == at && array.bytes == bytes) {
      if (!array.in_use) std::memset(begin, 0xff, bytes);
      array.in_use = true;
      return;
    }
  arrays_.emplace_back();
  SharedArray& made = arrays_.back();
  made.begin = at;
  made.bytes = bytes;
  made.name = name;
  made.shadow.reserve(bytes);
  made.in_use = true;
  std::memset(begin, 0xff, bytes);
}

SharedArray* SharedMemory::find(std::uintptr_t address) {
  if (last_ != nullptr && address - last_->begin < last_->bytes) return last_;
  for (SharedArray& array : arrays_)
    if (array.in_use && address - (array.begin - guard_bytes) < array.bytes + 2 * guard_bytes) return last_ = &array;
  return nullptr;
}

std::size_t SharedMemory::static_bytes() const {
  std::size_t sum = 0;
  for (const SharedArray& array : arrays_)
    if (array.in_use) sum += array.bytes;
  return sum - dynamic_bytes_;
}

} // namespace tessera::lens
