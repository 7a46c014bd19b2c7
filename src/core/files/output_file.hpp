#pragma once

/// A file that replaces its target when it is complete, and is removed otherwise.

#include <filesystem>
#include <ostream>
#include <string>

#include "descriptor.hpp"
#include "output_target.hpp"

namespace tessera::io {

class OutputFile {
 public:
  /// Opens the file to write to: a new one beside the target (partial_file.hpp); the target itself if it is a device, a
  /// pipe or an open descriptor; or one in memory if the target cannot be replaced (overwrite.hpp). A pipe waits for
  /// its reader. Throws IoError if nothing can be written there.
  explicit OutputFile(const std::filesystem::path& target);
  ~OutputFile();
  OutputFile(const OutputFile&) = delete;
  OutputFile& operator=(const OutputFile&) = delete;

  std::ostream& stream() { return stream_; }
  /// Returns the path of the file that is being written beside the target, for other processes that write parts of it;
  /// empty if there is none.
  std::filesystem::path partial_path() const;
  /// Brings the file to the disk and renames it to the target, whose mode and, where the system allows it, owner and
  /// group it takes; or writes over a target that cannot be replaced. Throws IoError, which says what failed: a full
  /// disk, for example.
  void commit();

 private:
  void open_directly();
  void open_beside();
  void open_aside();
  int replace();
  [[noreturn]] void fail(int error) const;

  const std::filesystem::path name_; ///< as the caller wrote it
  OutputTarget target_;
  Descriptor folder_, file_;
  std::string partial_; ///< the file's name in the folder; empty if it has none there or is complete
  DescriptorBuffer buffer_;
  std::ostream stream_;
};

} // namespace tessera::io
