#include "control_group.hpp"

#include <fcntl.h>
#include <unistd.h>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <sstream>
#include <string>
#include <string_view>
#include <thread>

#include <fmt/format.h>

#include "child_process.hpp"

namespace tessera::judge {
namespace {

namespace fs = std::filesystem;

bool write_word(const fs::path& file, std::string_view word) {
  const int opened = open(file.c_str(), O_WRONLY | O_CLOEXEC);
  if (opened < 0) return false;
  const bool written = write(opened, word.data(), word.size()) == static_cast<ssize_t>(word.size());
  close(opened);
  return written;
}

/// Returns the number in the line "<key> <number>" of a file; empty if there is none.
std::optional<unsigned long long> number_in(const fs::path& file, std::string_view key) {
  std::ifstream lines(file);
  std::string word;
  unsigned long long number = 0;
  while (lines >> word >> number)
    if (word == key) return number;
  return std::nullopt;
}

/// Returns the folder of this process's own group; empty if there is none of the second version.
fs::path own_group() {
  std::string own, line;
  for (std::ifstream lines("/proc/self/cgroup"); std::getline(lines, line);)
    if (line.starts_with("0::")) own = line.substr(3);
  if (own.empty()) return {};
  for (std::ifstream lines("/proc/self/mountinfo"); std::getline(lines, line);) {
    if (line.find(" - cgroup2 ") == std::string::npos) continue;
    std::istringstream words(line);
    std::string number, parent, device, root, place;
    words >> number >> parent >> device >> root >> place;
    if (root == "/") return place + own;
    if (own.starts_with(root)) return place + own.substr(root.size());
  }
  return {};
}

/// Removes the empty groups of judges that were killed. A group that is at work cannot be removed.
void remove_forgotten(const fs::path& own) {
  std::error_code error;
  for (const fs::directory_entry& entry : fs::directory_iterator(own, error)) {
    const std::string name = entry.path().filename();
    int judge = 0;
    if (std::sscanf(name.c_str(), "tessera-judge-%d-", &judge) != 1) continue; // NOLINT(cert-err34-c)
    if (judge > 0 && kill(judge, 0) != 0 && errno == ESRCH) rmdir(entry.path().c_str());
  }
}

} // namespace

std::unique_ptr<ControlGroup> ControlGroup::around(pid_t process) {
  const fs::path own = own_group();
  if (own.empty()) return nullptr;
  remove_forgotten(own);
  std::unique_ptr<ControlGroup> group(new ControlGroup(own / fmt::format("tessera-judge-{}-{}", getpid(), process)));
  const fs::path& folder = group->folder_.path();
  if (folder.empty() || !write_word(folder / "cgroup.procs", std::to_string(process)) || !group->freeze())
    return nullptr;
  group->thaw();
  return group;
}

bool ControlGroup::freeze() const {
  if (!write_word(folder_.path() / "cgroup.freeze", "1")) return false;
  const auto deadline = Clock::now() + std::chrono::seconds(2);
  while (number_in(folder_.path() / "cgroup.events", "frozen") != 1) {
    if (Clock::now() > deadline) return false;
    std::this_thread::yield();
  }
  return true;
}

void ControlGroup::thaw() const { write_word(folder_.path() / "cgroup.freeze", "0"); }

std::optional<double> ControlGroup::stalled_seconds() const {
  std::ifstream file(folder_.path() / "cpu.pressure"); // "some avg10=0.00 avg60=0.00 avg300=0.00 total=123"
  for (std::string word; file >> word;)
    if (word.starts_with("total=")) return 1e-6 * std::strtod(word.c_str() + std::strlen("total="), nullptr);
  return std::nullopt;
}

std::optional<double> ControlGroup::processor_seconds() const {
  const auto microseconds = number_in(folder_.path() / "cpu.stat", "usage_usec");
  if (!microseconds) return std::nullopt;
  return 1e-6 * static_cast<double>(*microseconds);
}

} // namespace tessera::judge
