#pragma once

/// A control group of Linux (cgroup v2) for the processes of one trial, where one can be had: as root, or in a part of
/// the tree that is delegated to the user, as `systemd-run --user --scope` does. Linux itself stops all of its
/// processes at once, and counts the processor time of all of them, also of processes that
/// ended and whose parent did not wait for them. No process leaves it: its files are not in the sandbox's list.
///
/// Source: Linux, Documentation/admin-guide/cgroup-v2.rst.

#include <sys/types.h>
#include <filesystem>
#include <memory>
#include <optional>

#include "left_behind.hpp"

namespace tessera::judge {

class ControlGroup {
 public:
  /// Makes a group below this process's own one and moves `process` into it with all of its threads; its later children
  /// are born there. Returns null where that is not allowed.
  static std::unique_ptr<ControlGroup> around(pid_t process);
  /// Stops every process. Returns whether all of them stand still within two seconds.
  bool freeze() const;
  void thaw() const;
  /// Returns the processor time of all processes so far, in seconds. Empty if this Linux does not tell.
  std::optional<double> processor_seconds() const;
  /// Returns for how long so far some thread could have run and had no processor, in seconds. Empty if this Linux does
  /// not tell.
  std::optional<double> stalled_seconds() const;

 private:
  explicit ControlGroup(const std::filesystem::path& folder) : folder_(folder) {}

  ControlGroupFolder folder_; ///< ends with what is left in the group
};

} // namespace tessera::judge
