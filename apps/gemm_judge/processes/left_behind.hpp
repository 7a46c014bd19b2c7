#pragma once

/// Folders and processes that must not outlive gemm_compare, even if a signal ends it while the judge is at work:
/// folders with compiled kernels, compilers and judged kernels, whose own sessions do not receive Ctrl-C, and control
/// groups.

#include <filesystem>

namespace tessera::judge {

/// An empty folder for temporary files. The destructor removes it with everything in it.
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

/// The folder of a control group (cgroup v2). The destructor ends the group's processes and removes it.
class ControlGroupFolder {
 public:
  /// Makes the folder, if that is allowed.
  explicit ControlGroupFolder(const std::filesystem::path& path);
  ~ControlGroupFolder();
  ControlGroupFolder(const ControlGroupFolder&) = delete;
  ControlGroupFolder& operator=(const ControlGroupFolder&) = delete;
  /// Empty where none could be made.
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

/// Kills every GroupToKill and removes every TemporaryFolder and ControlGroupFolder. Call it only when the process is
/// about to end without destructors: other threads that create or destroy such an object then wait for ever.
void leave_nothing_behind() noexcept;

} // namespace tessera::judge
