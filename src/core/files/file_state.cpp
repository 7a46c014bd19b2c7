#include "file_state.hpp"

#include <cerrno>
#include <cstdio>
#include <cstring>

namespace tessera::io {
namespace {

std::string seconds_text(const timespec& time) {
  char text[48];
  std::snprintf(text, sizeof text, "%lld.%09ld", static_cast<long long>(time.tv_sec), time.tv_nsec);
  return text;
}

} // namespace

FileState::FileState(const Descriptor& file, const std::filesystem::path& path) {
  if (!file.is_open() || fstat(file.number(), &status_) != 0)
    throw IoError(path.string() + ": cannot be read: " + std::strerror(errno));
}

Status FileState::check_unchanged(const Descriptor& file, const std::filesystem::path& path) const {
  const auto failure = [&](const std::string& why) { return Status{StatusCode::IoError, path.string() + ": " + why}; };
  struct stat now {};
  if (fstat(file.number(), &now) != 0) return failure(std::string("cannot be read: ") + std::strerror(errno));
  if (now.st_size != status_.st_size)
    return failure("was changed while it was read: it had " + std::to_string(status_.st_size) + " bytes and has " +
                   std::to_string(now.st_size));
  if (now.st_mtim.tv_sec != status_.st_mtim.tv_sec || now.st_mtim.tv_nsec != status_.st_mtim.tv_nsec)
    return failure("was changed while it was read: its time of change was " + seconds_text(status_.st_mtim) +
                   " and is " + seconds_text(now.st_mtim));
  return {};
}

std::string FileState::text() const {
  return std::to_string(status_.st_size) + " bytes, changed " + seconds_text(status_.st_mtim);
}

} // namespace tessera::io
