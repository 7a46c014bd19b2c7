#include "unfinished.hpp"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>
#include <cerrno>
#include <cstring>

#include <tessera/files.hpp>

#include "core/files/overwrite.hpp"
#include "core/files/replace_file.hpp"
#include "core/files/retry.hpp"

namespace tessera::files {
namespace {

namespace fs = std::filesystem;

std::string beside(const io::OutputTarget& target, const char* suffix) {
  return std::string(".").append(target.path.filename().string()).append(suffix);
}

/// Is this a regular file of this user under one name? Another user may have planted anything else at a name that can
/// be foreseen: a second name of one of this user's own files too, which would be written into.
bool is_own(const struct stat& status) {
  return S_ISREG(status.st_mode) && status.st_uid == geteuid() && status.st_nlink <= 1;
}

} // namespace

Unfinished::Unfinished(const fs::path& target)
    : name_(target),
      target_(io::resolve_output(target)),
      product_(beside(target_, ".tessera-product")),
      journal_(beside(target_, ".tessera-journal")) {
  if (target_.direct)
    throw IoError("cannot write " + name_.string() +
                  ": a product under a memory limit is written in blocks, which needs a regular file");
  folder_ = io::open_folder_of(target_);
  if (!folder_.is_open()) fail("cannot open its folder", errno);
  if (io::is_fixed(target_))
    throw IoError("cannot write " + name_.string() +
                  ": no other file can take its place, because it is a mount point or its folder takes no new files; a "
                  "product under a memory limit is written beside it first: name another file");
  if (faccessat(folder_.number(), ".", W_OK | X_OK, AT_EACCESS) != 0)
    fail("nothing can be written to its folder", errno);
}

Unfinished::~Unfinished() {
  if (!begun_ || recorded_) return;
  unlinkat(folder_.number(), journal_.c_str(), 0);
  unlinkat(folder_.number(), product_.c_str(), 0);
}

Status Unfinished::failure(const std::string& what, int error) const {
  return {StatusCode::IoError, "cannot write " + name_.string() + ": " + what +
                                   (error == 0 ? "" : std::string(": ") + std::strerror(error))};
}

void Unfinished::fail(const std::string& what, int error) const {
  throw_if_failed(failure(what, error));
  std::abort();
}

/// Opens the file of C and locks it. The descriptor is not open if there is no file.
void Unfinished::open_locked(bool create) {
  for (;;) {
    const int flags = O_RDWR | O_NOFOLLOW | O_CLOEXEC | O_NOCTTY | (create ? O_CREAT : 0);
    file_ = io::Descriptor(
        io::retried([&] { return openat(folder_.number(), product_.c_str(), flags, target_.exists ? 0600 : 0666); }));
    if (!file_.is_open() && errno == ENOENT && !create) return;
    if (!file_.is_open()) fail(product_ + " beside it cannot be opened", errno);
    struct stat opened {
    }, named{};
    if (fstat(file_.number(), &opened) != 0) fail(product_, errno);
    if (!is_own(opened)) fail(product_ + " beside it is no file of this user, or has a second name; remove it", 0);
    if (flock(file_.number(), LOCK_EX | LOCK_NB) != 0 && errno == EWOULDBLOCK)
      fail("another program is computing it, and writes to " + product_, 0);
    // The program that held the lock may have renamed or removed the file.
    if (fstatat(folder_.number(), product_.c_str(), &named, AT_SYMLINK_NOFOLLOW) == 0 &&
        named.st_ino == opened.st_ino && named.st_dev == opened.st_dev)
      return;
  }
}

bool Unfinished::find(const std::string& header, std::uint64_t bytes, Recorded& recorded) {
  open_locked(false);
  if (!file_.is_open()) return false;
  const fs::path journal = target_.path.parent_path() / journal_;
  std::error_code error;
  if (!fs::exists(fs::symlink_status(journal, error))) return false; // killed before its first block
  try {
    recorded = parse_journal(read_text_file(journal));
  } catch (const InvalidArgument& why) {
    throw InvalidArgument(journal.string() + " is no journal of a product: " + why.what() +
                          "; remove it, or start over");
  }
  if (recorded.done.empty()) return false;
  struct stat now {};
  std::string begin(header.size(), '\0');
  if (fstat(file_.number(), &now) != 0 || static_cast<std::uint64_t>(now.st_size) != bytes ||
      pread(file_.number(), begin.data(), begin.size(), 0) != static_cast<ssize_t>(begin.size()) || begin != header) {
    // Facts that differ explain it better.
    recorded.done.clear();
  }
  return true;
}

void Unfinished::begin(const std::string& header, std::uint64_t bytes, const Facts& facts) {
  open_locked(true);
  begun_ = true; // from here on the destructor removes what is there
  unlinkat(folder_.number(), journal_.c_str(), 0);
  if (io::retried([&] { return ftruncate(file_.number(), 0); }) != 0) fail("its space cannot be reserved", errno);
  // A full disk shows now and not after hours. Where the file system cannot reserve space, it shows later.
  const auto reserve = [&] { return fallocate(file_.number(), 0, 0, static_cast<off_t>(bytes)); };
  const int refused = io::retried(reserve) == 0 ? 0 : errno;
  if (refused == EOPNOTSUPP || refused == ENOSYS) {
    if (io::retried([&] { return ftruncate(file_.number(), static_cast<off_t>(bytes)); }) != 0)
      fail("its space cannot be reserved", errno);
  } else if (refused != 0) {
    fail("its " + std::to_string(bytes) + " bytes cannot be reserved", refused);
  }
  throw_if_failed(write(header.data(), header.size(), 0));
  if (io::retried([&] { return fsync(file_.number()); }) != 0) fail("it cannot be brought to the disk", errno);
  write_text_file(target_.path.parent_path() / journal_, journal_of(facts));
  open_journal();
}

/// Opens the journal to write at its end.
void Unfinished::open_journal() {
  const int flags = O_WRONLY | O_APPEND | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC | O_NOCTTY;
  log_ = io::Descriptor(io::retried([&] { return openat(folder_.number(), journal_.c_str(), flags); }));
  struct stat opened {};
  if (!log_.is_open() || fstat(log_.number(), &opened) != 0) fail(journal_ + " beside it cannot be opened", errno);
  if (!is_own(opened)) fail(journal_ + " beside it is no file of this user, or has a second name; remove it", 0);
}

void Unfinished::go_on(const Recorded& recorded) {
  open_journal();
  if (io::retried([&] { return ftruncate(log_.number(), static_cast<off_t>(recorded.bytes)); }) != 0)
    fail(journal_, errno);
  begun_ = recorded_ = true;
}

Status Unfinished::write(const char* bytes, std::size_t count, std::uint64_t place) {
  while (count > 0) {
    const ssize_t done = pwrite(file_.number(), bytes, count, static_cast<off_t>(place));
    if (done < 0 && errno == EINTR) continue;
    if (done <= 0) return failure("its blocks cannot be written", done == 0 ? ENOSPC : errno);
    bytes += done;
    place += static_cast<std::uint64_t>(done);
    count -= static_cast<std::size_t>(done);
  }
  return {};
}

void Unfinished::start_writing([[maybe_unused]] std::uint64_t place, [[maybe_unused]] std::uint64_t count) noexcept {
#if defined(SYNC_FILE_RANGE_WRITE)
  // It is a hint: record() sees failures.
  static_cast<void>(
      sync_file_range(file_.number(), static_cast<off64_t>(place), static_cast<off64_t>(count), SYNC_FILE_RANGE_WRITE));
#endif
}

Status Unfinished::record(const std::vector<Index>& blocks) {
  if (io::retried([&] { return fdatasync(file_.number()); }) != 0)
    return failure("its blocks cannot be brought to the disk", errno);
  std::string lines;
  for (const Index block : blocks) lines.append("done ").append(std::to_string(block)).append("\n");
  recorded_ = true; // even where only a part of the line is written
  for (std::size_t first = 0; first < lines.size();) {
    const ssize_t done = ::write(log_.number(), lines.data() + first, lines.size() - first);
    if (done < 0 && errno == EINTR) continue;
    if (done <= 0) return failure(journal_ + " cannot be written", done == 0 ? ENOSPC : errno);
    first += static_cast<std::size_t>(done);
  }
  if (io::retried([&] { return fdatasync(log_.number()); }) != 0)
    return failure(journal_ + " cannot be brought to the disk", errno);
  return {};
}

void Unfinished::commit() {
  if (const int error = io::replace_target(target_, folder_, file_, product_); error != 0)
    fail("it is complete", error);
  unlinkat(folder_.number(), journal_.c_str(), 0);
  begun_ = false;
}

} // namespace tessera::files
