#include "system_memory.hpp"

#include <unistd.h>
#include <algorithm>

#include <tessera/detail/open_file.hpp>

namespace tessera::files {

std::size_t system_memory_bytes() {
  const long pages = sysconf(_SC_PHYS_PAGES), page_bytes = sysconf(_SC_PAGESIZE);
  std::size_t bytes =
      pages > 0 && page_bytes > 0 ? static_cast<std::size_t>(pages) * static_cast<std::size_t>(page_bytes) : 0;
  // Within a container the group's own files are here. A group without a limit has a word or a huge number.
  for (const char* const file : {"/sys/fs/cgroup/memory.max", "/sys/fs/cgroup/memory/memory.limit_in_bytes"})
    if (std::size_t limit = 0; tessera::detail::open_file(file) >> limit) bytes = std::min(bytes, limit);
  return bytes;
}

} // namespace tessera::files
