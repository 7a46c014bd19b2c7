#include "left_behind.hpp"

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <mutex>
#include <thread>
#include <vector>

#include <tessera/status.hpp>

namespace tessera::judge {
namespace {

namespace fs = std::filesystem;

struct Present {
  std::mutex mutex;
  std::vector<fs::path> folders;
  std::vector<int> groups;
};

/// The lists are never destroyed, because an interrupt may come after main().
Present& present() {
  static auto* one = new Present;
  return *one;
}

} // namespace

TemporaryFolder::TemporaryFolder() {
  std::lock_guard lock(present().mutex);
  std::string folder = (fs::temp_directory_path() / "gemm_judge.XXXXXX").string();
  if (mkdtemp(folder.data()) == nullptr)
    throw IoError("--kernel: cannot make the folder " + folder + ": " + std::strerror(errno));
  path_ = folder;
  present().folders.push_back(path_);
}

TemporaryFolder::~TemporaryFolder() {
  std::lock_guard lock(present().mutex);
  std::error_code error;
  fs::remove_all(path_, error);
  std::erase(present().folders, path_);
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
