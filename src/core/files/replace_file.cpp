#include "replace_file.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>
#include <cerrno>
#include <cstdio>

#include "retry.hpp"

namespace tessera::io {
namespace {

void take_owner_and_mode(const struct stat& old, const Descriptor& file) {
  struct stat now {};
  mode_t mode = old.st_mode & 0777;
  const uid_t same_owner = static_cast<uid_t>(-1);
  if (fstat(file.number(), &now) == 0 && (now.st_uid != old.st_uid || now.st_gid != old.st_gid) &&
      fchown(file.number(), old.st_uid, old.st_gid) != 0 && fchown(file.number(), same_owner, old.st_gid) != 0)
    mode &= ~mode_t{070} | (mode << 3);           // another group gets no more than all users have
  static_cast<void>(fchmod(file.number(), mode)); // a file system without modes needs none
}

} // namespace

Descriptor open_folder_of(const OutputTarget& target) {
  const std::filesystem::path parent = target.folder();
  Descriptor folder(open(parent.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  // A folder may be written to and not be listed.
  if (!folder.is_open() && errno == EACCES) folder = Descriptor(open(parent.c_str(), O_PATH | O_DIRECTORY | O_CLOEXEC));
  return folder;
}

int replace_target(const OutputTarget& target, const Descriptor& folder, const Descriptor& file,
                   const std::string& name) {
  if (target.exists) take_owner_and_mode(target.status, file);
  if (retried([&] { return fsync(file.number()); }) != 0 && errno != EINVAL && errno != ENOTSUP) return errno;
  if (renameat(folder.number(), name.c_str(), folder.number(), target.path.filename().c_str()) != 0) return errno;
  static_cast<void>(fsync(folder.number())); // the file is complete under both names, whichever the disk has
  return 0;
}

} // namespace tessera::io
