#include <unistd.h>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <filesystem>

#include <fmt/format.h>

#include <tessera/status.hpp>

#include "reporter.hpp"

namespace tessera::compare_app {
namespace {

std::string temporary_beside(const std::string& target) { return fmt::format("{}.{}.part", target, getpid()); }

[[noreturn]] void fail(const std::string& target, int error) {
  throw IoError(fmt::format("cannot write {}: {}", target, std::strerror(error)));
}

} // namespace

void write_report(const std::string& target, const std::string& text) {
  if (target == "-") {
    std::fwrite(text.data(), 1, text.size(), stdout);
    if (std::fflush(stdout) != 0) fail("to stdout", errno);
    return;
  }
  const std::string temporary = temporary_beside(target);
  std::FILE* file = std::fopen(temporary.c_str(), "w");
  if (file == nullptr) fail(target, errno);
  const bool written = std::fwrite(text.data(), 1, text.size(), file) == text.size() && std::fflush(file) == 0;
  int error = errno;
  const bool closed = std::fclose(file) == 0;
  if (written && !closed) error = errno;
  if (!written || !closed || std::rename(temporary.c_str(), target.c_str()) != 0) {
    if (written && closed) error = errno;
    std::remove(temporary.c_str());
    fail(target, error);
  }
}

void check_writable(std::string_view option, const std::string& target) {
  if (target.empty() || target == "-") return;
  if (std::filesystem::is_directory(target))
    throw IoError(fmt::format("{}: {} is a folder; name a file", option, target));
  const std::string temporary = temporary_beside(target);
  std::FILE* file = std::fopen(temporary.c_str(), "w");
  if (file == nullptr) throw IoError(fmt::format("{}: cannot write {}: {}", option, target, std::strerror(errno)));
  std::fclose(file);
  std::remove(temporary.c_str());
}

} // namespace tessera::compare_app
