#pragma once

/// Places in the source of the instructions of a program.

#include <cstdint>
#include <filesystem>
#include <map>
#include <set>
#include <string>

#include "folders.hpp"

namespace tessera::lens {

struct Place {
  std::string file; ///< as the compiler read it
  int line = 0;     ///< 0: unknown
  std::string function;
  int kernel_line = 0; ///< the line of the kernel's own file from which `file` was reached; `line` if it is that file
};

/// Asks addr2line, which comes with the compiler's linker, for the places. `pcs` are return addresses, counted from the
/// program's first byte. Functions of the lens' headers and of the system's are skipped: the place is that of the call.
std::map<std::uint32_t, Place> find_places(const std::filesystem::path& program, const std::set<std::uint32_t>& pcs,
                                           const std::filesystem::path& kernel, const Folders& folders);

} // namespace tessera::lens
