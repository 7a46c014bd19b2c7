#pragma once

/// What the processes of a judged kernel keep in memory and in files, as the parent sees it in /proc.

#include <sys/types.h>
#include <cstddef>
#include <string>
#include <vector>

namespace tessera::judge {

/// Bytes of memory. Of a page that n processes map, each of them holds the n-th part.
struct HeldMemory {
  /// Pages of a process or of a file, also while they are swapped out; tables of pages; and what pipes may hold.
  std::size_t own = 0;
  std::size_t shared = 0; ///< pages of files in memory, such as a scratch folder that is kept there
};
HeldMemory memory_of(const std::vector<pid_t>& processes);

/// Where the kernel may write.
struct Scratch {
  std::string folder;
  bool in_memory = false; ///< it is a file system of its own, which only the kernel's processes see
};
/// Returns what the files of the scratch folder hold, in bytes, with the ones that have no name any more. What cannot
/// be counted, such as a folder that may not be read, counts as more than is allowed. `worker`: one of `processes`.
std::size_t bytes_in(const Scratch& scratch, pid_t worker, const std::vector<pid_t>& processes);

} // namespace tessera::judge
