#include "overwrite.hpp"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>
#include <array>
#include <cerrno>

#include "retry.hpp"

namespace tessera::io {
namespace {

/// Returns whether the file has this attribute; false where the kernel or the file system does not say.
bool has_attribute(const std::filesystem::path& path, std::uint64_t attribute) {
  struct statx status {};
  return statx(AT_FDCWD, path.c_str(), AT_SYMLINK_NOFOLLOW | AT_NO_AUTOMOUNT, 0, &status) == 0 &&
         (status.stx_attributes_mask & status.stx_attributes & attribute) != 0;
}

#if defined(STATX_ATTR_MOUNT_ROOT)
constexpr std::uint64_t mount_root = STATX_ATTR_MOUNT_ROOT;
#else
constexpr std::uint64_t mount_root = 0x2000; // the value of Linux 5.8, for older headers
#endif

int copy_all(int to, int from) noexcept {
  DescriptorBuffer out;
  out.set_descriptor(to);
  std::array<char, 1 << 16> bytes;
  for (off_t place = 0;;) {
    const ssize_t count = retried([&] { return pread(from, bytes.data(), bytes.size(), place); });
    if (count < 0) return errno;
    if (count == 0 || out.sputn(bytes.data(), count) != count) break;
    place += count;
  }
  static_cast<void>(out.pubsync());
  return out.error();
}

} // namespace

bool is_fixed(const OutputTarget& target) noexcept try {
  if (!target.exists || target.direct) return false;
  const std::filesystem::path folder = target.folder();
  return has_attribute(target.path, mount_root) || has_attribute(folder, STATX_ATTR_APPEND | STATX_ATTR_IMMUTABLE) ||
         faccessat(AT_FDCWD, folder.c_str(), W_OK | X_OK, AT_EACCESS) != 0;
} catch (const std::exception&) { // out of memory: the rename shows it
  return false;
}

bool says_fixed(int error) noexcept { return error == EBUSY || error == EPERM || error == EACCES || error == EROFS; }

Descriptor create_aside() noexcept { return Descriptor(memfd_create("tessera", MFD_CLOEXEC)); }

Descriptor open_in_place(const OutputTarget& target) noexcept {
  Descriptor file(
      retried([&] { return open(target.path.c_str(), O_WRONLY | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY | O_CLOEXEC); }));
  struct stat now {};
  if (!file.is_open()) return file;
  if (fstat(file.number(), &now) == 0 && now.st_dev == target.status.st_dev && now.st_ino == target.status.st_ino)
    return file;
  file.close();
  errno = EBUSY;
  return file;
}

int overwrite(const OutputTarget& target, const Descriptor& from) noexcept {
  const Descriptor to = open_in_place(target);
  struct stat contents {};
  if (!to.is_open() || fstat(from.number(), &contents) != 0) return errno;
  if (contents.st_size > 0 && retried([&] { return fallocate(to.number(), 0, 0, contents.st_size); }) != 0 &&
      errno != EOPNOTSUPP && errno != ENOSYS)
    return errno;
  if (const int error = copy_all(to.number(), from.number()); error != 0) return error;
  if (retried([&] { return ftruncate(to.number(), contents.st_size); }) != 0) return errno;
  return retried([&] { return fsync(to.number()); }) == 0 || errno == EINVAL || errno == ENOTSUP ? 0 : errno;
}

} // namespace tessera::io
