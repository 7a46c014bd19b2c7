#pragma once

#include <filesystem>
#include <optional>

namespace tessera {

/// Returns the processors that the cgroups of this process grant it, in whole processors, rounded up; none where no
/// group has a quota. The smallest quota counts of the process's own group and all groups above it, of cgroup v2
/// (cpu.max) and v1 (cpu.cfs_quota_us). The files are read below `root`: proc/self/cgroup, proc/self/mountinfo, and
/// what is mounted there.
std::optional<int> processors_by_quota(const std::filesystem::path& root = "/");

} // namespace tessera
