#include "sandbox.hpp"

#include <fcntl.h>
#include <linux/capability.h>
#include <linux/landlock.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>
#include <algorithm>
#include <array>
#include <cstdint>
#include <string_view>

#include "allowed_calls.hpp"
#include "gemm_judge/channel.hpp"
#include "system_call_filter.hpp"

namespace tessera::judge {
namespace {

void drop_capabilities() {
  for (int capability = 0; capability <= 63; ++capability) prctl(PR_CAPBSET_DROP, capability);
  prctl(PR_CAP_AMBIENT, PR_CAP_AMBIENT_CLEAR_ALL, 0, 0, 0);
  __user_cap_header_struct header{_LINUX_CAPABILITY_VERSION_3, 0};
  std::array<__user_cap_data_struct, 2> none{};
  syscall(SYS_capset, &header, none.data());
}

/// The rule sets of Landlock as of its sixth version. Headers of older distributions have the first member alone, and
/// an older Linux takes a shorter size.
struct RuleSet {
  std::uint64_t files = 0;
  std::uint64_t network = 0;
  std::uint64_t scopes = 0;
};

/// Bits of RuleSet::files: what changes files and folders, and reading of files.
constexpr std::uint64_t write_file = 1U << 1, read_file = 1U << 2; // of the first version
constexpr std::uint64_t changes_folders = 0x1ff0;                  // too: remove_dir … make_sym
constexpr std::uint64_t refer = 1U << 13, truncate = 1U << 14;     // of the second and the third version
constexpr std::uint64_t control_device = 1U << 15;                 // of the fifth version: ioctl
constexpr std::uint64_t all_of_tcp = 3;                            // of the fourth version
constexpr std::uint64_t sockets_and_signals = 3;                   // of the sixth version

void allow(int rules, const char* path, std::uint64_t rights) {
  landlock_path_beneath_attr rule{};
  rule.allowed_access = rights;
  rule.parent_fd = open(path, O_PATH | O_NOFOLLOW | O_CLOEXEC); // what a link leads to has a right of its own
  if (rule.parent_fd < 0) return;
  syscall(SYS_landlock_add_rule, rules, LANDLOCK_RULE_PATH_BENEATH, &rule, 0U);
  close(rule.parent_fd);
}

/// Reading is allowed everywhere but under /dev: a terminal's input would be taken from its user. The rights are given
/// to what lies in the root folder, because a right that a folder has cannot be taken from a part of it.
void allow_reading(int rules) {
  struct Entry { // as getdents64 writes it. opendir() would leave it on the heap, for a kernel that allocates.
    std::uint64_t number;
    std::int64_t offset;
    unsigned short bytes;
    unsigned char type;
    char name[1];
  };
  const int root = open("/", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  alignas(Entry) std::array<char, 4096> entries{};
  long got = 0;
  while ((got = syscall(SYS_getdents64, root, entries.data(), entries.size())) > 0)
    for (long at = 0; at < got;) {
      const auto* entry = reinterpret_cast<const Entry*>(entries.data() + at);
      const std::string_view name = entry->name;
      if (name != "." && name != ".." && name != "dev") allow(rules, ("/" + std::string(name)).c_str(), read_file);
      at += entry->bytes;
    }
  if (got < 0) allow(rules, "/", read_file); // a root folder that cannot be listed
  close(root);
  for (const char* device : {"/dev/null", "/dev/full", "/dev/random", "/dev/urandom"}) allow(rules, device, read_file);
}

/// Allows reading what lies beside the kernel, for a kernel below /dev (in /dev/shm).
void allow_folder_of(int rules, const std::string& library) {
  const std::size_t name = library.rfind('/');
  const std::string folder = name == std::string::npos ? "." : library.substr(0, name + 1);
  struct stat its {};
  if (stat(folder.c_str(), &its) != 0) return;
  for (const char* wide : {"/", "/dev"}) {
    struct stat other {};
    if (stat(wide, &other) == 0 && other.st_dev == its.st_dev && other.st_ino == its.st_ino) return;
  }
  allow(rules, folder.c_str(), read_file);
}

std::uint32_t restrict_by_landlock(const std::string& scratch, const std::string& library) {
  const long version = syscall(SYS_landlock_create_ruleset, nullptr, 0, LANDLOCK_CREATE_RULESET_VERSION);
  if (version < 1) return 0;
  RuleSet set;
  set.files = write_file | read_file | changes_folders | (version >= 2 ? refer : 0) | (version >= 3 ? truncate : 0) |
              (version >= 5 ? control_device : 0);
  set.network = version >= 4 ? all_of_tcp : 0;
  set.scopes = version >= 6 ? sockets_and_signals : 0;
  const std::size_t bytes = version >= 6 ? 24 : version >= 4 ? 16 : 8;
  const int rules = static_cast<int>(syscall(SYS_landlock_create_ruleset, &set, bytes, 0U));
  if (rules < 0) return 0;
  if (!scratch.empty()) allow(rules, scratch.c_str(), set.files);
  allow_reading(rules);
  allow_folder_of(rules, library);
  // Not /dev/zero: pages of it that are mapped as shared are memory that no process shows.
  for (const char* device : {"/dev/null", "/dev/full"}) allow(rules, device, write_file);
  const bool restricted = syscall(SYS_landlock_restrict_self, rules, 0U) == 0;
  close(rules);
  if (!restricted) return 0;
  return LandlockFiles | (version >= 6 ? LandlockScopes : 0U);
}

void limit(__rlimit_resource resource, rlim_t most) {
  rlimit now{};
  if (getrlimit(resource, &now) == 0) most = std::min(most, now.rlim_max);
  const rlimit limit{most, most};
  setrlimit(resource, &limit);
}

/// Pipes hold memory that no process shows, which this bounds.
constexpr rlim_t most_open_files = 256;

} // namespace

std::uint32_t enter_sandbox(std::uint32_t layers, std::uint32_t without, const std::string& scratch,
                            const std::string& library, bool is_bound) {
  const bool sees_others = (layers & PidNamespace) == 0;
  // A user name space counts the processes in it alone. Without one the limit would count all programs of the user.
  if (!sees_others) limit(RLIMIT_NPROC, static_cast<rlim_t>(most_tasks()));
  setsid(); // a group of its own, which the parent stops at once, and no terminal
  limit(RLIMIT_NOFILE, most_open_files);
  drop_capabilities();
  if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0) return layers;
  if ((without & LandlockFiles) == 0) layers |= restrict_by_landlock(scratch, library);
  if ((without & SystemCallFilter) == 0 && filter_system_calls(allowed_calls(sees_others, is_bound)))
    layers |= SystemCallFilter;
  return layers;
}

} // namespace tessera::judge
