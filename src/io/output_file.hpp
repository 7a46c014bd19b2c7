#pragma once

/// A file that takes its target's place when it is complete, and is gone otherwise.

#include <filesystem>

namespace tessera::io {

class OutputFile {
 public:
  /// Chooses where to write. Throws IoError if the target is a folder or its folder is missing.
  explicit OutputFile(const std::filesystem::path& target);
  ~OutputFile();
  OutputFile(const OutputFile&) = delete;
  OutputFile& operator=(const OutputFile&) = delete;

  /// Where the contents go: beside the target, or the target itself if it is no regular file.
  const std::filesystem::path& path() const { return path_; }
  /// Renames to the target. Throws IoError.
  void commit();

 private:
  std::filesystem::path target_, path_;
  bool direct_ = false;
  bool committed_ = false;
};

} // namespace tessera::io
