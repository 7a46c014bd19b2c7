#pragma once

/// A file that replaces its target when it is complete, and is removed otherwise.

#include <filesystem>

namespace tessera::io {

class OutputFile {
 public:
  /// Chooses the path to write to. Throws IoError if the target is a folder or its folder is missing.
  explicit OutputFile(const std::filesystem::path& target);
  ~OutputFile();
  OutputFile(const OutputFile&) = delete;
  OutputFile& operator=(const OutputFile&) = delete;

  /// The path to write to: beside the target, or the target itself if it is no regular file.
  const std::filesystem::path& path() const { return path_; }
  /// Renames the file to the target. Throws IoError.
  void commit();

 private:
  std::filesystem::path target_, path_;
  bool direct_ = false;
  bool committed_ = false;
};

} // namespace tessera::io
