#include "cgroup_quota.hpp"

#include <algorithm>
#include <cmath>
#include <fstream>
#include <sstream>
#include <string>
#include <string_view>
#include <vector>

#include <tessera/detail/open_file.hpp>

namespace tessera {
namespace {

namespace fs = std::filesystem;

/// A hierarchy of groups, and the part of it that is mounted.
struct Hierarchy {
  bool v2 = false;
  fs::path mounted_group; ///< the group that the mount point shows
  fs::path mount_point;
};

bool has_word(std::string_view list, std::string_view word) {
  while (!list.empty()) {
    if (list.substr(0, list.find(',')) == word) return true;
    list.remove_prefix(std::min(list.size(), list.find(',') == list.npos ? list.size() : list.find(',') + 1));
  }
  return false;
}

/// Returns the text of a path in mountinfo, where \040 is a space.
std::string unescaped(const std::string& text) {
  std::string plain;
  for (std::size_t i = 0; i < text.size(); ++i)
    if (text[i] == '\\' && i + 3 < text.size()) {
      plain += static_cast<char>((text[i + 1] - '0') * 64 + (text[i + 2] - '0') * 8 + (text[i + 3] - '0'));
      i += 3;
    } else {
      plain += text[i];
    }
  return plain;
}

/// Returns the mounts of cgroup v2, and of the hierarchy of v1 that has the controller cpu. A line is "36 25 0:31
/// /group /mount/point rw,noatime - cgroup cgroup rw,cpu,cpuacct", with optional fields before the dash.
std::vector<Hierarchy> mounts(const fs::path& root) {
  std::vector<Hierarchy> found;
  std::ifstream file = detail::open_file(root / "proc/self/mountinfo");
  for (std::string line; std::getline(file, line);) {
    const std::size_t dash = line.find(" - ");
    if (dash == std::string::npos) continue;
    std::istringstream before(line.substr(0, dash)), after(line.substr(dash + 3));
    std::string id, parent, device, group, point, type, source, options;
    if (!(before >> id >> parent >> device >> group >> point) || !(after >> type >> source >> options)) continue;
    if (type == "cgroup2" || (type == "cgroup" && has_word(options, "cpu")))
      found.push_back({type == "cgroup2", unescaped(group), unescaped(point)});
  }
  return found;
}

/// Returns the process's group in the hierarchy. A line is "0::/group" of v2, and "4:cpu,cpuacct:/group" of v1.
std::optional<fs::path> own_group(const fs::path& root, bool v2) {
  std::ifstream file = detail::open_file(root / "proc/self/cgroup");
  for (std::string line; std::getline(file, line);) {
    const std::size_t first = line.find(':');
    const std::size_t second = first == std::string::npos ? first : line.find(':', first + 1);
    if (second == std::string::npos) continue;
    const std::string controllers = line.substr(first + 1, second - first - 1);
    if (v2 ? line.starts_with("0::") : has_word(controllers, "cpu")) return line.substr(second + 1);
  }
  return std::nullopt;
}

double number_in(const fs::path& file) {
  double value = 0;
  detail::open_file(file) >> value;
  return value;
}

/// Returns the quota of one group in processors; 0 if it has none.
double quota_of(const fs::path& group, bool v2) {
  double quota = 0, period = 0;
  if (v2) {
    std::ifstream file = detail::open_file(group / "cpu.max"); // "max 100000" or "150000 100000"
    if (!(file >> quota >> period)) return 0;
  } else {
    quota = number_in(group / "cpu.cfs_quota_us"); // −1 is no quota
    period = number_in(group / "cpu.cfs_period_us");
  }
  return quota > 0 && period > 0 ? quota / period : 0;
}

} // namespace

std::optional<int> processors_by_quota(const fs::path& root) try {
  double smallest = 0;
  for (const Hierarchy& hierarchy : mounts(root)) {
    const std::optional<fs::path> group = own_group(root, hierarchy.v2);
    if (!group) continue;
    // A container may see its group's path outside, while its own group alone is mounted.
    fs::path below = group->lexically_relative(hierarchy.mounted_group);
    if (below.empty() || *below.begin() == "..") below = ".";
    const fs::path top = root / hierarchy.mount_point.relative_path();
    for (;;) {
      const double quota = quota_of(top / below, hierarchy.v2);
      if (quota > 0 && (smallest == 0 || quota < smallest)) smallest = quota;
      if (below == "." || below.empty()) break;
      below = below.parent_path();
    }
  }
  if (smallest == 0) return std::nullopt;
  return std::max(1, static_cast<int>(std::ceil(std::min(smallest, 1e6))));
} catch (const std::ios_base::failure&) {
  return std::nullopt; // the group was removed while it was read
}

} // namespace tessera
