#pragma once

/// The state of a file that is read for a while: whether it was changed in the middle.

#include <sys/stat.h>
#include <cstdint>
#include <filesystem>
#include <string>

#include <tessera/status.hpp>

#include "descriptor.hpp"

namespace tessera::io {

/// The size and the time of change that an open file had.
class FileState {
 public:
  FileState() = default;
  /// Takes the state of an open file. Throws IoError, with errno, if the file is not open or has no state.
  FileState(const Descriptor& file, const std::filesystem::path& path);

  /// The Status is IoError if the file's size or its time of change is another one now.
  Status check_unchanged(const Descriptor& file, const std::filesystem::path& path) const;

  /// Is this the file that `other` describes?
  bool is(const struct stat& other) const noexcept {
    return status_.st_dev == other.st_dev && status_.st_ino == other.st_ino;
  }
  /// Returns the size and the time of change as text.
  std::string text() const;
  /// Returns the time of change in nanoseconds.
  std::int64_t time() const noexcept {
    return std::int64_t{status_.st_mtim.tv_sec} * 1000000000 + status_.st_mtim.tv_nsec;
  }

 private:
  struct stat status_ {};
};

} // namespace tessera::io
