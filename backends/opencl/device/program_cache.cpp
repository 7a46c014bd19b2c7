#include "program_cache.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <filesystem>

#include <tessera/backend/log.hpp>
#include <tessera/files.hpp>
#include <tessera/status.hpp>

namespace tessera::opencl {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view magic = "Tessera OpenCL program 1\n";

/// The file: the magic, these numbers, the key, the binary.
struct Numbers {
  std::uint64_t key_bytes;
  std::uint64_t binary_bytes;
  std::uint64_t checksum; ///< of key and binary
};

/// Source: the hash FNV-1a. http://www.isthe.com/chongo/tech/comp/fnv/
std::uint64_t hashed(std::string_view bytes, std::uint64_t hash = 0xcbf29ce484222325) {
  for (const char byte : bytes) hash = (hash ^ static_cast<unsigned char>(byte)) * 0x100000001b3;
  return hash;
}

void say(const fs::path& path, const std::string& why) {
  if (log_dispatch()) log_line("opencl: compiled programs: " + path.string() + " " + why);
}

/// Returns the file for a key, or an empty path where the user has no folder for files that can be made anew.
fs::path file_for(std::string_view key) {
  const fs::path cache = user_cache_folder();
  if (cache.empty()) return cache;
  std::array<char, 17> name{};
  std::snprintf(name.data(), name.size(), "%016llx", static_cast<unsigned long long>(hashed(key)));
  return cache / "opencl" / (std::string(name.data()) + ".bin");
}

/// Is the folder this user's, and closed to all others?
bool is_closed(const fs::path& folder) {
  struct stat found {};
  if (::lstat(folder.c_str(), &found) != 0) {
    if (errno != ENOENT) say(folder, std::string("is not used: ") + std::strerror(errno));
    return false;
  }
  const bool closed = S_ISDIR(found.st_mode) && found.st_uid == ::geteuid() && (found.st_mode & 077) == 0;
  if (!closed)
    say(folder, "is not used, because it is no folder of this user alone; remove it, or make it yours with mode 0700");
  return closed;
}

/// Makes the folder where it is missing. Returns whether programs may be kept there.
bool make_private(const fs::path& folder) {
  std::error_code error;
  fs::create_directories(folder.parent_path(), error);
  if (::mkdir(folder.c_str(), 0700) != 0 && errno != EEXIST) {
    say(folder, std::string("cannot be made: ") + std::strerror(errno));
    return false;
  }
  return is_closed(folder);
}

/// Is it a file of this user, and no link? Says so where it is something else.
bool is_ours(const fs::path& path) {
  struct stat found {};
  if (::lstat(path.c_str(), &found) != 0) return false;
  const bool ours = S_ISREG(found.st_mode) && found.st_uid == ::geteuid();
  if (!ours) say(path, "is not used, because it is no file of this user");
  return ours;
}

/// Takes the binary out of a file's contents; empty, with the reason in the log, if they are damaged or another key's.
std::string unpacked(const fs::path& path, std::string contents, std::string_view key) {
  constexpr std::size_t head = magic.size() + sizeof(Numbers);
  Numbers numbers{};
  if (contents.size() >= head && contents.starts_with(magic))
    std::memcpy(&numbers, contents.data() + magic.size(), sizeof numbers);
  const std::string_view rest = std::string_view(contents).substr(std::min(head, contents.size()));
  if (numbers.binary_bytes == 0 || numbers.key_bytes > rest.size() ||
      numbers.binary_bytes != rest.size() - numbers.key_bytes || numbers.checksum != hashed(rest)) {
    say(path, "is damaged and is made anew");
    return {};
  }
  if (rest.substr(0, numbers.key_bytes) != key) {
    say(path, "is of another program and is made anew");
    return {};
  }
  contents.erase(0, head + numbers.key_bytes);
  return contents;
}

} // namespace

std::string kept_binary(std::string_view key) noexcept try {
  const fs::path path = file_for(key);
  if (path.empty() || !is_closed(path.parent_path())) return {};
  if (!is_ours(path)) return {};
  return unpacked(path, read_text_file(path), key);
} catch (const std::exception& why) {
  if (log_dispatch()) log_line(std::string("opencl: compiled programs: ") + why.what());
  return {};
}

void keep_binary(std::string_view key, std::string_view binary) noexcept try {
  const fs::path path = file_for(key);
  if (path.empty() || !make_private(path.parent_path())) return;
  if (!is_ours(path)) ::unlink(path.c_str()); // else a link's target would be written to
  std::string rest(key);
  rest += binary;
  const Numbers numbers{key.size(), binary.size(), hashed(rest)};
  std::string contents(magic);
  contents.append(reinterpret_cast<const char*>(&numbers), sizeof numbers);
  write_text_file(path, contents + rest);
} catch (const std::exception& why) {
  if (log_dispatch()) log_line(std::string("opencl: compiled programs: not kept: ") + why.what());
}

} // namespace tessera::opencl
