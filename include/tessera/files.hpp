#pragma once

/// Files of text that are read and written whole, and how every file of Tessera is replaced.
///
/// Every error is an IoError, which names the file and says what is wrong with it: that the disk is full, for example.
///
/// No file is left half-written: a new file with a random name is written beside the target, brought to the disk, and
/// renamed to the target when it is complete. If two programs write to one name, the file of one of them stays, whole.
/// The target's mode is kept, and its owner and group where the system allows it; a new file's mode follows the umask.
/// If the target is a link, it stays a link, and the file that it points to is replaced; other hard links keep the old
/// contents. A link of another user in a folder that every user may write to is refused. What a program that was killed
/// left behind (.NAME.RANDOM.tessera-part) is removed by the next program that writes to the folder.
///
/// A file that no other file can take the place of is written over when the new contents are complete: a mount point,
/// as a container makes of a single file, or a file in a folder where none can be made. Its new contents are in memory
/// until then, and their space is reserved first, so that a full disk loses nothing. Two programs that write over such
/// a file at the same time may mix their contents. A file of another user in a folder that every user may write to,
/// where its owner alone may replace it, is refused. A refusal comes at the start, from check_writable() too.
///
/// /dev/stdout, /dev/fd/N, pipes and devices are written to directly. A pipe waits for its reader.

#include <filesystem>
#include <string>
#include <string_view>

#include <tessera/detail/export.hpp>

#include <tessera/detail/macros_off.hpp>

namespace tessera {

/// Returns the user's folder for files that can be made anew: $XDG_CACHE_HOME/tessera, or ~/.cache/tessera. It is empty
/// if neither variable names a folder. Paths that are not absolute are ignored, as the base directory specification
/// says.
TESSERA_API std::filesystem::path user_cache_folder();

/// Returns the contents of a regular file, such as one in the cache folder. Throws IoError, which begins with the path,
/// if the file cannot be read or is a folder, a pipe or a device: nothing waits for a pipe's writer.
TESSERA_API std::string read_text_file(const std::filesystem::path& path);
/// Replaces a file's contents by this text; the file is never left half-written. Throws IoError.
TESSERA_API void write_text_file(const std::filesystem::path& path, std::string_view text);
/// Throws IoError if no file can be written at this path now. It leaves nothing behind.
TESSERA_API void check_writable(const std::filesystem::path& path);

} // namespace tessera

#include <tessera/detail/macros_on.hpp>
