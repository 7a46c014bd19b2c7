#pragma once

/// The last step of writing a file: what was written beside the target takes its place.

#include <string>

#include "descriptor.hpp"
#include "output_target.hpp"

namespace tessera::io {

/// Opens the folder of the target. On failure the descriptor is not open, and errno says why.
Descriptor open_folder_of(const OutputTarget& target);

/// Gives the file the target's mode and, where the system allows it, its owner and group; brings the file to the disk;
/// and renames it from `name` in the folder to the target. Returns 0, or errno.
int replace_target(const OutputTarget& target, const Descriptor& folder, const Descriptor& file,
                   const std::string& name);

} // namespace tessera::io
