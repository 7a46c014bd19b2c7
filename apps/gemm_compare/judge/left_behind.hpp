#pragma once

/// What the judge must not leave behind, even if gemm_compare is told to go while it is at work: folders with compiled
/// kernels, and compilers, which have sessions of their own and hear no Ctrl-C.

#include <filesystem>

namespace tessera::judge {

/// An empty folder for temporary files; removed with everything in it.
class TemporaryFolder {
 public:
  /// Throws IoError.
  TemporaryFolder();
  ~TemporaryFolder();
  TemporaryFolder(const TemporaryFolder&) = delete;
  TemporaryFolder& operator=(const TemporaryFolder&) = delete;
  const std::filesystem::path& path() const noexcept { return path_; }

 private:
  std::filesystem::path path_;
};

/// A process group that is killed by leave_nothing_behind() while this object lives.
class GroupToKill {
 public:
  explicit GroupToKill(int pid);
  ~GroupToKill();
  GroupToKill(const GroupToKill&) = delete;
  GroupToKill& operator=(const GroupToKill&) = delete;

 private:
  int pid_;
};

/// Kills those groups and removes those folders. For a process that is about to end without destructors: other threads
/// that make or end a folder or a group wait for ever.
void leave_nothing_behind() noexcept;

} // namespace tessera::judge
