#pragma once

/// Files that no other file can take the place of: mount points, as containers make of single files, and files in a
/// folder where none can be made or renamed. They are written over when the new contents are complete.

#include "descriptor.hpp"
#include "output_target.hpp"

namespace tessera::io {

/// Says whether a rename to the existing target is known to fail: the target is a mount point, or its folder takes no
/// new names.
bool is_fixed(const OutputTarget& target) noexcept;

/// Is this errno of a rename the refusal of a file that is fixed?
bool says_fixed(int error) noexcept;

/// Makes a file without a name, in memory, for contents that are not complete. On failure the descriptor is not open,
/// and errno says why.
Descriptor create_aside() noexcept;

/// Opens the target so that it can be written over, and leaves its contents. On failure the descriptor is not open, and
/// errno says why: EBUSY if another file has taken its place.
Descriptor open_in_place(const OutputTarget& target) noexcept;

/// Replaces the contents of the target by the contents of `from`, which is open for reading. The space is reserved
/// first, so that a full disk loses nothing. Returns 0, or errno; then the target may hold a part.
int overwrite(const OutputTarget& target, const Descriptor& from) noexcept;

} // namespace tessera::io
