#pragma once

/// Says what a name stands for that a program wants to write to.

#include <sys/stat.h>
#include <filesystem>

namespace tessera::io {

struct OutputTarget {
  std::filesystem::path path; ///< The name after all links.
  int descriptor = -1;        ///< For /dev/stdout, /dev/stderr and /dev/fd/N: the open descriptor.
  bool exists = false;
  bool direct = false;   ///< It is written to as the contents come: an open descriptor, a pipe or a device.
  struct stat status {}; ///< of the file, if it exists

  /// Returns the folder that has the name.
  std::filesystem::path folder() const { return path.has_parent_path() ? path.parent_path() : "."; }
};

/// Follows links, as editors do, so that a link stays a link and the file that it points to is replaced. Throws IoError
/// if the name is empty or names a folder, if nothing may be written there, if a link in a folder that every user may
/// write to, such as /tmp, belongs to another user, because it may have been planted to have a file overwritten (the
/// kernel's rule for fs.protected_symlinks), or if a file there does, which only its owner and root may replace.
OutputTarget resolve_output(const std::filesystem::path& name);

} // namespace tessera::io
