#include "output_file.hpp"

#include <unistd.h>
#include <cerrno>
#include <cstring>
#include <fstream>
#include <string>

#include <tessera/backend/out_of_memory.hpp>
#include <tessera/io.hpp>
#include <tessera/status.hpp>

namespace tessera {

namespace fs = std::filesystem;

namespace io {
namespace {

/// A stream takes a shortage of memory for a failed write.
[[noreturn]] void fail(const fs::path& target, const std::string& why) {
  if (errno == ENOMEM) throw std::bad_alloc();
  throw IoError("cannot write " + target.string() + ": " + why);
}

} // namespace

OutputFile::OutputFile(const fs::path& target) : target_(target) {
  std::error_code error;
  if (target.empty()) throw IoError("cannot write a file without a name");
  if (fs::is_directory(target, error)) fail(target, "it is a folder");
  if (fs::exists(target, error)) {
    direct_ = !fs::is_regular_file(target, error);
    if (!direct_) target_ = fs::canonical(target, error); // a link stays a link
    if (error) fail(target, error.message());
    if (::access(target.c_str(), W_OK) != 0) fail(target, std::strerror(errno));
  }
  path_ = target_;
  if (!direct_) path_.concat(".").concat(std::to_string(::getpid())).concat(".part");
}

OutputFile::~OutputFile() {
  std::error_code ignored;
  if (!direct_ && !committed_) fs::remove(path_, ignored);
}

void OutputFile::commit() {
  std::error_code error;
  if (!direct_) fs::rename(path_, target_, error);
  if (error) fail(target_, error.message());
  committed_ = true;
}

} // namespace io

void write_text_file(const fs::path& path, std::string_view text) try {
  errno = 0;
  io::OutputFile file(path);
  std::ofstream out(file.path(), std::ios::binary);
  if (!out) io::fail(path, std::strerror(errno));
  out.write(text.data(), static_cast<std::streamsize>(text.size()));
  out.close();
  if (!out) io::fail(path, std::strerror(errno));
  file.commit();
} catch (const std::bad_alloc& error) {
  throw_out_of_memory(error);
}

void check_writable(const fs::path& path) {
  const io::OutputFile file(path);
  std::ofstream out(file.path(), std::ios::binary | std::ios::app);
  if (!out) io::fail(path, std::strerror(errno));
}

} // namespace tessera
