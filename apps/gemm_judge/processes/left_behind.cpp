#include "left_behind.hpp"

#include <sys/stat.h>
#include <unistd.h>
#include <algorithm>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <mutex>
#include <thread>
#include <vector>

#include <tessera/status.hpp>

namespace tessera::judge {
namespace {

namespace fs = std::filesystem;

struct Present {
  std::mutex mutex;
  std::vector<fs::path> folders, control_groups;
  std::vector<int> groups;
};

/// The lists are never destroyed, because an interrupt may come after main().
Present& present() {
  static auto* one = new Present;
  return *one;
}

/// A process that was killed may take a moment to leave its group.
void end_control_group(const fs::path& folder) {
  std::ofstream(folder / "cgroup.kill")
      << 1; // of Linux 5.14; before that, processes are killed by their ancestry alone
  for (int attempt = 0; attempt < 200 && rmdir(folder.c_str()) != 0; ++attempt)
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
}

} // namespace

TemporaryFolder::TemporaryFolder() {
  std::lock_guard lock(present().mutex);
  std::error_code error;
  const fs::path place = fs::temp_directory_path(error);
  if (error)
    throw IoError("no folder for temporary files: " + error.message() + "; TMPDIR must name one that can be written");
  std::string folder = (place / "gemm_judge.XXXXXX").string();
  if (mkdtemp(folder.data()) == nullptr)
    throw IoError("cannot make a folder in " + place.string() + ": " + std::strerror(errno) +
                  "; let TMPDIR name one that can be written");
  path_ = folder;
  present().folders.push_back(path_);
}

TemporaryFolder::~TemporaryFolder() {
  std::lock_guard lock(present().mutex);
  std::error_code error;
  fs::remove_all(path_, error);
  std::erase(present().folders, path_);
}

ControlGroupFolder::ControlGroupFolder(const fs::path& path) {
  std::lock_guard lock(present().mutex);
  if (mkdir(path.c_str(), 0700) != 0) return;
  path_ = path;
  present().control_groups.push_back(path_);
}

ControlGroupFolder::~ControlGroupFolder() {
  if (path_.empty()) return;
  std::lock_guard lock(present().mutex);
  end_control_group(path_);
  std::erase(present().control_groups, path_);
}

GroupToKill::GroupToKill(int pid) : pid_(pid) {
  std::lock_guard lock(present().mutex);
  present().groups.push_back(pid_);
}

GroupToKill::~GroupToKill() {
  std::lock_guard lock(present().mutex);
  std::erase(present().groups, pid_);
}

void leave_nothing_behind() noexcept {
  present().mutex.lock(); // and never unlocked
  for (const int pid : present().groups) kill(-pid, SIGKILL);
  for (const fs::path& group : present().control_groups) end_control_group(group);
  for (const fs::path& folder : present().folders) {
    std::error_code error;
    // A killed process may still finish a write, so the folder is removed again if it reappears.
    for (int attempt = 0; attempt < 20; ++attempt) {
      fs::remove_all(folder, error);
      if (!fs::exists(folder, error)) break;
      std::this_thread::sleep_for(std::chrono::milliseconds(5));
    }
  }
}

} // namespace tessera::judge
