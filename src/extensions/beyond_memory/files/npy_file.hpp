#pragma once

/// A matrix in a .npy file of which rectangles are read, by several threads at once.

#include <sys/stat.h>
#include <atomic>
#include <cstdint>
#include <filesystem>
#include <string>

#include <tessera/interop/io.hpp>
#include <tessera/status.hpp>

#include "core/files/descriptor.hpp"
#include "core/files/file_state.hpp"

namespace tessera::files {

class NpyFile {
 public:
  /// Opens the file and reads its header. Throws IoError.
  explicit NpyFile(const std::filesystem::path& path);

  const std::filesystem::path& path() const noexcept { return path_; }
  const NpyInfo& info() const noexcept { return info_; }
  /// Sizes of the matrix as it lies in the file, row-major: in Fortran order that is the transpose.
  Index stored_rows() const noexcept { return info_.fortran_order ? info_.cols : info_.rows; }
  Index stored_cols() const noexcept { return info_.fortran_order ? info_.rows : info_.cols; }
  /// Returns how the stored matrix is read where the matrix is read by `op`.
  Op stored_op(Op op) const noexcept { return (op == Op::Transpose) != info_.fortran_order ? Op::Transpose : Op::None; }

  /// Reads rows×cols elements from row `row` and column `col` of the stored matrix on; the rows in memory are ld
  /// elements apart. The Status is IoError if the file cannot be read, or ends too early.
  Status read(Index row, Index col, Index rows, Index cols, void* to, Index ld);

  /// The Status is IoError if the file's size or its time of change is not what it was when the file was opened.
  Status check_unchanged() const;

  /// Returns what the journal records of the file: its size, its time of change, and a digest of its header.
  std::string identity() const;
  /// Is this the file that `other` describes?
  bool is(const struct stat& other) const noexcept { return state_.is(other); }
  std::uint64_t bytes_read() const noexcept { return bytes_read_.load(std::memory_order_relaxed); }

 private:
  Status read_rows(Index row, Index rows, char* to, std::size_t pitch);
  Status read_run(char* to, std::size_t bytes, std::uint64_t place);
  Status failure(const std::string& why) const;
  Status read_failure(std::uint64_t place) const;

  const std::filesystem::path path_;
  NpyInfo info_;
  io::Descriptor file_;
  io::FileState state_;
  std::uint64_t data_offset_ = 0;
  std::string header_digest_;
  std::atomic<std::uint64_t> bytes_read_ = 0;
};

} // namespace tessera::files
