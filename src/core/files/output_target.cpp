#include "output_target.hpp"

#include <fcntl.h>
#include <unistd.h>
#include <cerrno>
#include <charconv>
#include <cstring>
#include <optional>
#include <string>

#include <tessera/status.hpp>

namespace tessera::io {
namespace {

namespace fs = std::filesystem;

constexpr int most_links = 40; // as the kernel has it

[[noreturn]] void refuse(const fs::path& name, const std::string& why) {
  throw IoError("cannot write " + name.string() + ": " + why);
}

/// Returns N for /dev/fd/N and /proc/self/fd/N, 1 for /dev/stdout and 2 for /dev/stderr. A second open of such a name
/// would begin at the file's start again, and would replace what the program has printed.
std::optional<int> descriptor_named(const fs::path& path) {
  const std::string name = path.lexically_normal().string();
  if (name == "/dev/stdout") return STDOUT_FILENO;
  if (name == "/dev/stderr") return STDERR_FILENO;
  for (const std::string_view folder : {"/dev/fd/", "/proc/self/fd/"}) {
    if (!name.starts_with(folder)) continue;
    const std::string_view digits = std::string_view(name).substr(folder.size());
    int number = 0;
    const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), number);
    if (error == std::errc{} && end == digits.data() + digits.size() && number >= 0) return number;
  }
  return std::nullopt;
}

/// Says whether another user may have put the link or the file there. Such a file cannot be replaced either.
bool may_be_planted(const fs::path& path, const struct stat& status) {
  struct stat folder {};
  const fs::path parent = path.parent_path().empty() ? fs::path(".") : path.parent_path();
  if (::stat(parent.c_str(), &folder) != 0) return false;
  constexpr mode_t shared = S_ISVTX | S_IWOTH;
  return (folder.st_mode & shared) == shared && status.st_uid != geteuid() && status.st_uid != folder.st_uid;
}

fs::path link_target(const fs::path& link, const fs::path& name) {
  std::error_code error;
  const fs::path target = fs::read_symlink(link, error);
  if (error) refuse(name, error.message());
  return target.is_absolute() ? target : link.parent_path() / target;
}

OutputTarget open_descriptor(int number, const fs::path& name) {
  const int flags = ::fcntl(number, F_GETFL);
  if (flags < 0) refuse(name, std::strerror(errno));
  if ((flags & O_ACCMODE) == O_RDONLY) refuse(name, "it is open for reading only");
  return {name, number, true, true, {}};
}

} // namespace

OutputTarget resolve_output(const fs::path& name) {
  if (name.empty()) throw IoError("cannot write a file without a name");
  if (!name.has_filename()) refuse(name, "it names a folder");
  OutputTarget target{name};
  for (int links = 0;; ++links) {
    if (const auto number = descriptor_named(target.path)) return open_descriptor(*number, name);
    target.exists = ::lstat(target.path.c_str(), &target.status) == 0;
    if (!target.exists && errno != ENOENT) refuse(name, std::strerror(errno));
    if (!target.exists || !S_ISLNK(target.status.st_mode)) break;
    if (may_be_planted(target.path, target.status))
      refuse(name, target.path.string() + " is a link of another user in a folder that every user may write to");
    if (links == most_links) refuse(name, std::strerror(ELOOP));
    target.path = link_target(target.path, name);
  }
  if (!target.exists) return target;
  if (S_ISDIR(target.status.st_mode)) refuse(name, "it is a folder");
  if (S_ISREG(target.status.st_mode) && geteuid() != 0 && may_be_planted(target.path, target.status))
    refuse(name,
           "it is a file of another user in a folder that every user may write to, where its owner alone may "
           "replace it; choose another name");
  if (::faccessat(AT_FDCWD, target.path.c_str(), W_OK, AT_EACCESS) != 0) refuse(name, std::strerror(errno));
  target.direct = !S_ISREG(target.status.st_mode);
  return target;
}

} // namespace tessera::io
