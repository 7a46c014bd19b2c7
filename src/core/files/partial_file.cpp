#include "partial_file.hpp"

#include <dirent.h>
#include <fcntl.h>
#include <sys/file.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <unistd.h>
#include <algorithm>
#include <cerrno>
#include <cstdint>
#include <cstdio>
#include <exception>
#include <memory>
#include <mutex>
#include <set>
#include <utility>

#include "retry.hpp"

namespace tessera::io {
namespace {

constexpr std::string_view suffix = ".tessera-part";
constexpr std::size_t random_digits = 16;
/// A name has at most 255 bytes; a longer target is shortened in the name of its partial file.
constexpr std::size_t longest_target = 200;

std::string partial_name(std::string_view target) {
  std::uint64_t random = 0;
  if (getrandom(&random, sizeof random, 0) != sizeof random) return {};
  char text[random_digits + 1];
  std::snprintf(text, sizeof text, "%016llx", static_cast<unsigned long long>(random));
  std::string name(".");
  name.append(target.substr(0, longest_target)).append(".").append(text).append(suffix);
  return name;
}

bool is_partial_name(std::string_view name) {
  if (name.size() < random_digits + suffix.size() + 3 || name.front() != '.' || !name.ends_with(suffix)) return false;
  name.remove_suffix(suffix.size());
  const std::string_view random = name.substr(name.size() - random_digits);
  const auto is_digit = [](char c) { return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'f'); };
  return name[name.size() - random_digits - 1] == '.' && std::all_of(random.begin(), random.end(), is_digit);
}

/// Removes the file unless a program is writing it. A program that has made it and has not yet locked it finds it
/// locked, and takes another name.
void remove_if_left(int folder, const char* name) noexcept {
  const Descriptor file(openat(folder, name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC));
  struct stat opened {
  }, named{};
  if (!file.is_open() || fstat(file.number(), &opened) != 0 || !S_ISREG(opened.st_mode) || opened.st_uid != geteuid() ||
      flock(file.number(), LOCK_EX | LOCK_NB) != 0)
    return;
  // The writer may have renamed the file in the meantime.
  if (fstatat(folder, name, &named, AT_SYMLINK_NOFOLLOW) == 0 && named.st_ino == opened.st_ino &&
      named.st_dev == opened.st_dev)
    unlinkat(folder, name, 0);
}

/// The folders with many files that this process has looked into. It looks into small ones before each file.
class LargeFolders {
 public:
  static constexpr int small = 1000; ///< entries that are read much faster than a file is brought to the disk

  static LargeFolders& instance() {
    static auto& one = *new LargeFolders; // never destroyed: files are written at exit, too
    return one;
  }
  bool contains(int folder) {
    const std::lock_guard lock(mutex_);
    return folders_.contains(identity(folder));
  }
  void add(int folder) {
    const std::lock_guard lock(mutex_);
    folders_.insert(identity(folder));
  }

 private:
  static std::pair<dev_t, ino_t> identity(int folder) {
    struct stat status {};
    fstat(folder, &status);
    return {status.st_dev, status.st_ino};
  }
  std::mutex mutex_;
  std::set<std::pair<dev_t, ino_t>> folders_;
};

} // namespace

PartialFile create_partial_file(int folder, std::string_view target, unsigned mode) {
  constexpr int flags = O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC;
  for (;;) {
    PartialFile file{partial_name(target), {}};
    if (file.name.empty()) return file;
    file.descriptor = Descriptor(retried([&] { return openat(folder, file.name.c_str(), flags, mode_t{mode}); }));
    if (!file.descriptor.is_open() && errno == EEXIST) continue;
    if (!file.descriptor.is_open()) return file;
    // Where the file system knows no locks, no program can lock the file to remove it either.
    struct stat status {};
    const bool locked = flock(file.descriptor.number(), LOCK_EX | LOCK_NB) == 0 || errno != EWOULDBLOCK;
    if (locked && fstat(file.descriptor.number(), &status) == 0 && status.st_nlink > 0) return file;
  }
}

void remove_leftovers(int folder) noexcept try {
  if (LargeFolders::instance().contains(folder)) return;
  const int listed = openat(folder, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (listed < 0) return;
  const std::unique_ptr<DIR, int (*)(DIR*)> entries(fdopendir(listed), closedir);
  if (entries == nullptr) {
    ::close(listed);
    return;
  }
  int count = 0;
  for (const dirent* entry = nullptr; (entry = readdir(entries.get())) != nullptr; ++count)
    if (is_partial_name(entry->d_name)) remove_if_left(folder, entry->d_name);
  if (count > LargeFolders::small) LargeFolders::instance().add(folder);
} catch (const std::exception&) { // out of memory: the files stay
}

} // namespace tessera::io
