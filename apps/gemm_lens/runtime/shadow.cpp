#include "shadow.hpp"

#include <sys/mman.h>

namespace tessera::lens {
namespace {

bool is_ordered(const Mark& earlier, const Mark& access, bool shared) {
  if (earlier.time == 0 || (earlier.bytes & access.bytes) == 0) return true;
  if (earlier.atomic && access.atomic) return true;
  if (earlier.time < (shared ? order.block : order.launch)) return true;
  if (earlier.time < order.block) return false; // another block
  if (earlier.time < order.barrier || earlier.thread == access.thread) return true;
  return earlier.thread / 32 == access.thread / 32 && earlier.time < order.warp[access.thread / 32];
}

} // namespace

ShadowMemory::~ShadowMemory() {
  if (cells != nullptr) munmap(cells, size_);
}

void ShadowMemory::reserve(std::size_t bytes) {
  size_ = (bytes / 4 + 2) * sizeof(Cell);
  void* const all = mmap(nullptr, size_, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  cells = all == MAP_FAILED ? nullptr : static_cast<Cell*>(all);
}

std::optional<Race> race_with(Cell& cell, const Mark& access, bool store, bool shared) {
  std::optional<Race> race;
  const auto look = [&](const Mark& earlier, bool stored) {
    if (!race && !is_ordered(earlier, access, shared)) race = Race{earlier, stored};
  };
  look(cell.writer, true);
  if (store) {
    look(cell.reader, false);
    look(cell.other_reader, false);
    cell.writer = access;
  } else {
    if (cell.reader.thread != access.thread) cell.other_reader = cell.reader;
    cell.reader = access;
  }
  return race;
}

} // namespace tessera::lens
