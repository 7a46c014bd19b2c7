#pragma once

/// Files of text that are read and written whole, and how every file of Tessera is replaced.
///
/// No file is left half-written, and a link stays a link; docs/large_files.md ("How files are written") has the rules.
/// Every error is an IoError, which names the file and says what is wrong with it: that the disk is full, for example.

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
