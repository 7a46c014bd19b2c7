#include "npy_file.hpp"

#include <fcntl.h>
#include <sys/uio.h>
#include <unistd.h>
#include <algorithm>
#include <array>
#include <cerrno>
#include <cinttypes>
#include <cstdio>
#include <cstring>

#include "core/files/retry.hpp"
#include "extensions/io/npy_header.hpp"

namespace tessera::files {
namespace {

/// Rows that one call of preadv reads; the system takes 1024 at most.
constexpr std::size_t rows_at_once = 256;

/// FNV-1a, 64 bits.
std::string digest(const std::string& bytes) {
  std::uint64_t hash = 14695981039346656037u;
  for (const char byte : bytes) hash = (hash ^ static_cast<unsigned char>(byte)) * 1099511628211u;
  char text[20];
  std::snprintf(text, sizeof text, "%016" PRIx64, hash);
  return text;
}

} // namespace

NpyFile::NpyFile(const std::filesystem::path& path) : path_(path) {
  const io::NpyHeader header = io::read_npy_header(path); // also refuses folders and pipes
  info_ = io::matrix_of(header, path);
  data_offset_ = header.data_offset;
  file_ = io::Descriptor(io::retried([&] { return open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NOCTTY); }));
  state_ = io::FileState(file_, path);
  std::string bytes(static_cast<std::size_t>(data_offset_), '\0');
  throw_if_failed(read_run(bytes.data(), bytes.size(), 0));
  header_digest_ = digest(bytes);
  bytes_read_ = 0;
}

Status NpyFile::failure(const std::string& why) const { return {StatusCode::IoError, path_.string() + ": " + why}; }

Status NpyFile::read_failure(std::uint64_t place) const {
  return failure("cannot be read from byte " + std::to_string(place) + " on: " + std::strerror(errno) +
                 "; is the disk or the connection faulty?");
}

Status NpyFile::read_run(char* to, std::size_t bytes, std::uint64_t place) {
  while (bytes > 0) {
    const ssize_t count = pread(file_.number(), to, bytes, static_cast<off_t>(place));
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) return read_failure(place);
    if (count == 0) return failure("ends too early: it was truncated while it was read");
    bytes_read_.fetch_add(static_cast<std::uint64_t>(count), std::memory_order_relaxed);
    to += count;
    place += static_cast<std::uint64_t>(count);
    bytes -= static_cast<std::size_t>(count);
  }
  return {};
}

/// Reads whole rows, which lie next to each other in the file.
Status NpyFile::read_rows(Index row, Index rows, char* to, std::size_t pitch) {
  const std::size_t width = static_cast<std::size_t>(stored_cols()) * size_of(info_.type);
  const std::uint64_t place = data_offset_ + static_cast<std::uint64_t>(row) * width;
  if (pitch == width) return read_run(to, width * static_cast<std::size_t>(rows), place);
  std::array<iovec, rows_at_once> parts;
  for (std::size_t first = 0, all = static_cast<std::size_t>(rows); first < all;) {
    const std::size_t count = std::min(parts.size(), all - first);
    for (std::size_t i = 0; i < count; ++i) parts[i] = {to + (first + i) * pitch, width};
    const ssize_t done =
        preadv(file_.number(), parts.data(), static_cast<int>(count), static_cast<off_t>(place + first * width));
    if (done < 0 && errno == EINTR) continue;
    if (done < 0) return read_failure(place + first * width);
    bytes_read_.fetch_add(static_cast<std::uint64_t>(done), std::memory_order_relaxed);
    const std::size_t whole = static_cast<std::size_t>(done) / width, rest = static_cast<std::size_t>(done) % width;
    first += whole;
    if (whole == count) continue;
    // The system gave less than was asked for: the rest of this row comes by itself.
    if (Status status = read_run(to + first * pitch + rest, width - rest, place + first * width + rest); !status.ok())
      return status;
    ++first;
  }
  return {};
}

Status NpyFile::read(Index row, Index col, Index rows, Index cols, void* to, Index ld) {
  const std::size_t element = size_of(info_.type), pitch = static_cast<std::size_t>(ld) * element;
  if (cols == 0 || rows == 0) return {};
  if (cols == stored_cols()) return read_rows(row, rows, static_cast<char*>(to), pitch);
  for (Index i = 0; i < rows; ++i) {
    const auto first = static_cast<std::uint64_t>((row + i) * stored_cols() + col);
    if (Status status = read_run(static_cast<char*>(to) + static_cast<std::size_t>(i) * pitch,
                                 static_cast<std::size_t>(cols) * element, data_offset_ + first * element);
        !status.ok())
      return status;
  }
  return {};
}

Status NpyFile::check_unchanged() const { return state_.check_unchanged(file_, path_); }

std::string NpyFile::identity() const { return state_.text() + ", header " + header_digest_; }

} // namespace tessera::files
