#include "host_memory.hpp"

#include <sys/mman.h>
#include <cstdlib>

namespace tessera {
namespace {

constexpr std::size_t cache_line = 64;
constexpr std::size_t huge_page = std::size_t{2} << 20;
constexpr std::size_t worth_huge_pages = 2 * huge_page;
constexpr std::size_t page = 4096;

} // namespace

std::size_t allocated_host_bytes(std::size_t bytes) noexcept {
  const std::size_t unit = bytes >= worth_huge_pages ? huge_page : page;
  return (bytes + unit - 1) / unit * unit;
}

/// Asks for huge pages where the memory is large: the first touch of small pages can take longer than a GPU's product
/// (docs/lab/cuda_executor.md).
void* allocate_host(std::size_t bytes) noexcept {
  const std::size_t rounded = rounded_host_size(bytes == 0 ? 1 : bytes);
  if (rounded < bytes) return nullptr;
  const bool large = bytes >= worth_huge_pages;
  void* memory = std::aligned_alloc(large ? huge_page : cache_line, rounded);
  if (memory != nullptr && large) madvise(memory, rounded, MADV_HUGEPAGE);
  return memory;
}

std::size_t rounded_host_size(std::size_t bytes) noexcept {
  const std::size_t alignment = bytes >= worth_huge_pages ? huge_page : cache_line;
  return (bytes + alignment - 1) / alignment * alignment;
}

void free_host(void* memory) noexcept { std::free(memory); }

} // namespace tessera
