#include "held_memory.hpp"

#include <dirent.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>
#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <initializer_list>
#include <optional>
#include <set>
#include <sstream>
#include <string_view>

#include <fmt/format.h>

#include "gemm_judge/channel.hpp"

namespace tessera::judge {
namespace {

/// Returns a file of /proc; what could be read of it if the process ends meanwhile, where a stream would throw.
std::string text_of(const std::string& folder, const char* name) {
  std::string text;
  const int file = open(fmt::format("{}/{}", folder, name).c_str(), O_RDONLY | O_CLOEXEC);
  if (file < 0) return text;
  std::array<char, 4096> buffer{};
  for (ssize_t got = 0; (got = read(file, buffer.data(), buffer.size())) > 0;)
    text.append(buffer.data(), static_cast<std::size_t>(got));
  close(file);
  return text;
}

/// Returns the names in a folder of /proc; as many as could be read if the process ends meanwhile.
std::vector<std::string> names_in(const std::string& folder) {
  std::vector<std::string> names;
  DIR* const entries = opendir(folder.c_str());
  if (entries == nullptr) return names;
  while (const dirent* entry = readdir(entries)) // NOLINT(concurrency-mt-unsafe): the folder is this function's
    if (entry->d_name[0] != '.') names.emplace_back(entry->d_name);
  closedir(entries);
  return names;
}

/// The folder of /proc in which a process shows its memory and its files, and the text of "status" there. Where its
/// first thread has ended and others live, that thread's folder shows nothing, and theirs show all.
struct Shown {
  explicit Shown(pid_t process) : folder(fmt::format("/proc/{}", process)), status(text_of(folder, "status")) {
    if (has_memory(status)) return;
    for (const std::string& thread : names_in(folder + "/task")) {
      const std::string of_thread = fmt::format("{}/task/{}", folder, thread);
      std::string text = text_of(of_thread, "status");
      if (!has_memory(text)) continue;
      folder = of_thread;
      status = std::move(text);
      return;
    }
  }
  static bool has_memory(const std::string& text) { return text.find("\nVmRSS:") != std::string::npos; }

  std::string folder, status; ///< a process that has ended has no lines of memory
};

/// Returns the sum of these lines, each "Name:  number kB", in bytes; empty if the first of them is missing.
std::optional<std::size_t> sum_of(const std::string& text, std::initializer_list<std::string_view> names) {
  std::size_t sum = 0;
  for (const std::string_view name : names) {
    const std::size_t at = text.find(fmt::format("\n{}:", name));
    if (at == std::string::npos && name == *names.begin()) return std::nullopt;
    if (at != std::string::npos) sum += std::strtoull(text.c_str() + at + name.size() + 2, nullptr, 10) * 1024;
  }
  return sum;
}

HeldMemory memory_of_one(const Shown& process, bool is_alone) {
  const std::size_t tables = sum_of(process.status, {"VmPTE"}).value_or(0);
  if (!is_alone) { // A count of shares takes longer.
    const std::string text = text_of(process.folder, "smaps_rollup");
    const auto own = sum_of(text, {"Pss_Anon", "Pss_File", "SwapPss", "Private_Hugetlb", "Shared_Hugetlb"});
    if (own) return {*own + tables, sum_of(text, {"Pss_Shmem"}).value_or(0)};
  }
  const auto own = sum_of(process.status, {"RssAnon", "RssFile", "VmSwap", "HugetlbPages"});
  return {own.value_or(0) + tables, sum_of(process.status, {"RssShmem"}).value_or(0)};
}

/// What a pipe may hold. Each descriptor counts as one: to ask what it is takes longer.
constexpr std::size_t pipe_bytes = std::size_t{64} << 10;

std::string descriptors_of(const std::string& folder) { return folder + "/fd"; }

/// More than any scratch folder may hold.
constexpr std::size_t too_much = 2 * most_scratch_bytes;
/// What a file or folder holds at least, so that their number is limited too.
constexpr std::size_t least_bytes = 4096;
constexpr int deepest = 32;

std::size_t bytes_of(const struct stat& file) {
  return std::max(least_bytes, static_cast<std::size_t>(file.st_blocks) * 512);
}

/// Closes `folder`.
std::size_t bytes_below(int folder, int depth) {
  DIR* const entries = folder < 0 ? nullptr : fdopendir(folder);
  if (entries == nullptr) return errno == ENOENT ? 0 : too_much; // ENOENT: the kernel has removed it meanwhile
  std::size_t bytes = 0;
  while (const dirent* entry = readdir(entries)) { // NOLINT(concurrency-mt-unsafe): the folder is this function's
    const std::string_view name = entry->d_name;
    struct stat file {};
    if (name == "." || name == ".." || bytes >= too_much) continue;
    if (fstatat(folder, entry->d_name, &file, AT_SYMLINK_NOFOLLOW) != 0) continue;
    bytes += bytes_of(file);
    if (!S_ISDIR(file.st_mode)) continue;
    constexpr int flags = O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC;
    bytes += depth < deepest ? bytes_below(openat(folder, entry->d_name, flags), depth + 1) : too_much;
  }
  closedir(entries);
  return bytes;
}

/// Returns what files without a name hold, which live while a process has them open or mapped.
std::size_t bytes_without_name(const std::string& folder, const std::vector<pid_t>& processes) {
  struct stat scratch {};
  if (stat(folder.c_str(), &scratch) != 0) return 0;
  std::set<ino_t> seen;
  std::size_t bytes = 0;
  for (const pid_t process : processes) {
    const std::string descriptors = descriptors_of(Shown(process).folder);
    for (const std::string& name : names_in(descriptors)) {
      struct stat file {};
      if (stat((descriptors + "/" + name).c_str(), &file) != 0) continue; // it was closed
      if (file.st_nlink != 0 || file.st_dev != scratch.st_dev) continue;
      if (seen.insert(file.st_ino).second) bytes += bytes_of(file);
    }
  }
  for (const pid_t process : processes) {
    std::istringstream maps(text_of(Shown(process).folder, "maps"));
    for (std::string line; std::getline(maps, line);) {
      if (!line.ends_with(" (deleted)") || line.find(" " + folder + "/") == std::string::npos) continue;
      unsigned long long number = 0;
      if (std::sscanf(line.c_str(), "%*s %*s %*s %*s %llu", &number) != 1) continue; // NOLINT(cert-err34-c)
      if (!seen.insert(static_cast<ino_t>(number)).second) continue;
      // A part of it may be mapped. Linux tells its size to a few users alone.
      const std::string link = fmt::format("/proc/{}/map_files/{}", process, line.substr(0, line.find(' ')));
      struct stat file {};
      bytes += stat(link.c_str(), &file) == 0 ? bytes_of(file) : most_file_bytes;
    }
  }
  return bytes;
}

} // namespace

HeldMemory memory_of(const std::vector<pid_t>& processes) {
  HeldMemory all;
  for (const pid_t process : processes) {
    const Shown shown(process);
    const HeldMemory one = memory_of_one(shown, processes.size() == 1);
    all.own += one.own + pipe_bytes * names_in(descriptors_of(shown.folder)).size();
    all.shared += one.shared;
  }
  return all;
}

std::size_t bytes_in(const Scratch& scratch, pid_t worker, const std::vector<pid_t>& processes) {
  if (!scratch.in_memory)
    return bytes_below(open(scratch.folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC), 0) +
           bytes_without_name(scratch.folder, processes);
  struct statvfs state {};
  if (statvfs(fmt::format("/proc/{}/root{}", worker, scratch.folder).c_str(), &state) != 0) return 0;
  return (state.f_blocks - state.f_bfree) * state.f_frsize;
}

} // namespace tessera::judge
