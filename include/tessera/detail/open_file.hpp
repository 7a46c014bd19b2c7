#pragma once

/// Opens files so that a shortage of memory is not taken for a missing file or for a file's end.

#include <cerrno>
#include <filesystem>
#include <fstream>
#include <new>

#include <tessera/detail/macros_off.hpp>

namespace tessera::detail {

/// Opens a file for reading. Throws std::bad_alloc, and so does reading; other errors show in the stream's state as
/// usual, except that a read that the system refuses throws std::ios_base::failure.
inline std::ifstream open_file(const std::filesystem::path& path, std::ios::openmode mode = std::ios::in) {
  errno = 0;
  std::ifstream file(path, mode);
  while (!file.is_open() && errno == EINTR) file.open(path, mode); // a signal while a pipe waits for its writer
  if (!file.is_open() && errno == ENOMEM) throw std::bad_alloc();
  const int why = errno;
  file.exceptions(std::ios::badbit);
  errno = why; // for the caller's message
  return file;
}

} // namespace tessera::detail

#include <tessera/detail/macros_on.hpp>
