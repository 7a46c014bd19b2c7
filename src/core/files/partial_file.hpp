#pragma once

/// Files that are being written, beside the file that they will replace. Their names are .NAME.RANDOM.tessera-part. A
/// writer holds a lock (flock) on its file, so that a file that is not locked was left behind by a program that was
/// killed.

#include <string>
#include <string_view>

#include "descriptor.hpp"

namespace tessera::io {

struct PartialFile {
  std::string name;
  Descriptor descriptor;
};

/// Makes and locks a new file for `target`, a name in the open folder. Its name is random, and no file or link that is
/// already there is opened. `mode` is narrowed by the umask. On failure the descriptor is not open, and errno says why.
PartialFile create_partial_file(int folder, std::string_view target, unsigned mode);

/// Removes the files that killed programs of this user left behind in the folder. A process looks once into a folder of
/// many files. Failures are ignored: the next program tries again.
void remove_leftovers(int folder) noexcept;

} // namespace tessera::io
