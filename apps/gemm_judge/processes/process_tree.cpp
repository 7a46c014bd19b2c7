#include "process_tree.hpp"

#include <dirent.h>
#include <fcntl.h>
#include <sys/syscall.h>
#include <unistd.h>
#include <algorithm>
#include <array>
#include <cerrno>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <thread>

#include <fmt/format.h>

#include "child_process.hpp"

namespace tessera::judge {
namespace {

/// Returns the contents of a small file of /proc; empty if it cannot be read.
std::string read_small(const std::string& path) {
  const int file = open(path.c_str(), O_RDONLY | O_CLOEXEC);
  if (file < 0) return {};
  std::string text;
  std::array<char, 4096> buffer{};
  for (ssize_t got = 0; (got = read(file, buffer.data(), buffer.size())) > 0;)
    text.append(buffer.data(), static_cast<std::size_t>(got));
  close(file);
  return text;
}

/// Returns the numbers that are names in a folder of /proc.
std::vector<pid_t> numbers_in(const std::string& folder) {
  std::vector<pid_t> numbers;
  DIR* open_folder = opendir(folder.c_str());
  if (open_folder == nullptr) return numbers;
  while (const dirent* entry = readdir(open_folder)) // NOLINT(concurrency-mt-unsafe): the folder is this function's
    if (const int number = std::atoi(entry->d_name); number > 0) numbers.push_back(number);
  closedir(open_folder);
  return numbers;
}

/// The fields of /proc/…/stat after the name, which may hold any characters. The state is field 3, so at(3).
class Stat {
 public:
  explicit Stat(const std::string& text) {
    const std::size_t name_end = text.rfind(')');
    if (name_end == std::string::npos) return;
    std::size_t at = name_end + 2;
    while (at < text.size()) {
      const std::size_t end = std::min(text.find(' ', at), text.size());
      fields_.push_back(text.substr(at, end - at));
      at = end + 1;
    }
  }
  bool exists() const { return fields_.size() > 20; }
  char state() const { return fields_[0].empty() ? '?' : fields_[0][0]; }
  long long at(std::size_t field) const { return std::atoll(fields_[field - 3].c_str()); }

 private:
  std::vector<std::string> fields_;
};

std::string task_folder(pid_t process) { return fmt::format("/proc/{}/task", process); }

/// Does Linux list the children of each thread?
bool lists_children() {
  static const bool listed = access("/proc/self/task", R_OK) == 0 &&
                             access(fmt::format("/proc/self/task/{}/children", getpid()).c_str(), R_OK) == 0;
  return listed;
}

std::vector<pid_t> children_of(pid_t process) {
  std::vector<pid_t> found;
  if (!lists_children()) {
    for (const pid_t other : numbers_in("/proc"))
      if (const Stat stat(read_small(fmt::format("/proc/{}/stat", other))); stat.exists() && stat.at(4) == process)
        found.push_back(other);
    return found;
  }
  for (const pid_t thread : numbers_in(task_folder(process))) {
    const std::string text = read_small(fmt::format("/proc/{}/task/{}/children", process, thread));
    for (const char* at = text.c_str(); *at != '\0';) {
      char* end = nullptr;
      const long number = std::strtol(at, &end, 10);
      if (end == at) break;
      found.push_back(static_cast<pid_t>(number));
      at = end;
      while (*at == ' ') ++at;
    }
  }
  return found;
}

/// Do all threads of the process stand still? A thread that has ended does.
bool stands_still(pid_t process) {
  for (const pid_t thread : numbers_in(task_folder(process))) {
    const Stat stat(read_small(fmt::format("/proc/{}/task/{}/stat", process, thread)));
    if (stat.exists() && std::strchr("TtZXx", stat.state()) == nullptr) return false;
  }
  return true;
}

/// Have all threads of the process ended? Others may live on when the first one has.
bool has_ended(pid_t process) {
  const std::vector<pid_t> threads = numbers_in(task_folder(process));
  return std::all_of(threads.begin(), threads.end(), [&](pid_t thread) {
    const Stat stat(read_small(fmt::format("/proc/{}/task/{}/stat", process, thread)));
    return !stat.exists() || std::strchr("ZXx", stat.state()) != nullptr;
  });
}

double clock_of(pid_t process) {
  clockid_t clock{};
  timespec time{};
  if (clock_getcpuclockid(process, &clock) != 0) return 0;
  if (clock_gettime(clock, &time) != 0) return 0; // a process's processor time, which no stopwatch counts
  return static_cast<double>(time.tv_sec) + 1e-9 * static_cast<double>(time.tv_nsec);
}

/// Returns the processor time of children that ended and were waited for.
double ended_children_seconds(pid_t process) {
  const Stat stat(read_small(fmt::format("/proc/{}/stat", process)));
  static const auto ticks = static_cast<double>(sysconf(_SC_CLK_TCK));
  return stat.exists() ? static_cast<double>(stat.at(16) + stat.at(17)) / ticks : 0.0;
}

std::optional<WaitingPlace> place_of(pid_t process, pid_t thread) {
  const std::string text = read_small(fmt::format("/proc/{}/task/{}/syscall", process, thread));
  if (text.empty()) return std::nullopt;
  WaitingPlace place;
  unsigned long long a[6] = {}, stack = 0;
  long call = -1;
  if (std::sscanf(text.c_str(), "-1 %llx", &stack) == 1) { // NOLINT(cert-err34-c): not in a system call
    place.stack = stack;
    return place;
  }
  const int got = std::sscanf(text.c_str(), "%ld %llx %llx %llx %llx %llx %llx %llx", // NOLINT(cert-err34-c)
                              &call, &a[0], &a[1], &a[2], &a[3], &a[4], &a[5], &stack);
  if (got == 8) {
    place.call = call;
    std::copy(std::begin(a), std::end(a), std::begin(place.arguments));
    place.stack = stack;
  }
  return place;
}

/// Does the thread wait, without a time limit, until another thread wakes it? Pools of threads do.
bool waits_for_a_thread(const WaitingPlace& place) {
  const std::uint64_t operation = place.arguments[1] & 0x7f; // without the flags
  constexpr std::uint64_t wait = 0, wait_bitset = 9;         // of <linux/futex.h>
  return place.call == SYS_futex && place.arguments[3] == 0 && (operation == wait || operation == wait_bitset);
}

ProcessTree::ThreadTimes times_in(const std::string& schedstat) {
  const std::string text = read_small(schedstat);
  unsigned long long ran = 0, waited = 0;                                    // nanoseconds
  if (std::sscanf(text.c_str(), "%llu %llu", &ran, &waited) != 2) return {}; // NOLINT(cert-err34-c)
  return {1e-9 * static_cast<double>(ran), 1e-9 * static_cast<double>(waited)};
}

} // namespace

ProcessTree::ProcessTree(pid_t supervisor, pid_t worker, bool with_group)
    : supervisor_(supervisor), worker_(worker), init_(supervisor) {
  if (with_group) group_ = ControlGroup::around(worker);
  if (const Stat stat(read_small(fmt::format("/proc/{}/stat", worker))); stat.exists())
    init_ = static_cast<pid_t>(stat.at(4));
}

std::vector<pid_t> ProcessTree::processes() const {
  std::vector<pid_t> found;
  std::vector<pid_t> open = children_of(supervisor_);
  if (init_ != supervisor_)
    for (const pid_t child : children_of(init_)) open.push_back(child);
  while (!open.empty()) {
    const pid_t process = open.back();
    open.pop_back();
    if (process == init_ || std::find(found.begin(), found.end(), process) != found.end()) continue;
    found.push_back(process);
    for (const pid_t child : children_of(process)) open.push_back(child);
  }
  return found;
}

bool ProcessTree::stop() {
  if (group_) return group_->freeze();
  const auto deadline = Clock::now() + std::chrono::seconds(2);
  // The worker leads a group of processes, which the filter of system calls lets none of them leave. Linux stops all of
  // a group at once, so that none starts another one meanwhile.
  if (getpgid(worker_) == worker_) kill(-worker_, SIGSTOP);
  kill(worker_, SIGSTOP);
  for (int round = 0;; ++round) {
    stopped_ = processes();
    bool still = true;
    for (const pid_t process : stopped_)
      if (!stands_still(process)) {
        still = false;
        kill(process, SIGSTOP);
      }
    // A process that was started in the meantime is in a second list.
    if (still && processes().size() == stopped_.size()) return true;
    if (Clock::now() > deadline) return false;
    if (round > 50) std::this_thread::sleep_for(std::chrono::microseconds(100));
  }
}

void ProcessTree::go_on() const {
  if (group_) return group_->thaw();
  kill(worker_, SIGCONT);
  for (const pid_t process : stopped_)
    if (process != worker_) kill(process, SIGCONT);
}

bool ProcessTree::bind(const tessera::detail::ProcessorMask& processors) const {
  bool bound = true;
  for (const pid_t process : processes())
    for (const pid_t thread : numbers_in(task_folder(process)))
      bound = (processors.give_to(thread) || errno == ESRCH) && bound; // a thread that has ended
  return bound;
}

double ProcessTree::processor_seconds() const {
  if (group_)
    if (const std::optional<double> counted = group_->processor_seconds()) return *counted;
  double seconds = ended_children_seconds(init_); // with orphans that ended
  for (const pid_t process : processes()) seconds += clock_of(process) + ended_children_seconds(process);
  return seconds;
}

ProcessTree::ThreadTimes ProcessTree::worker_thread() const {
  return times_in(fmt::format("/proc/{}/task/{}/schedstat", worker_, worker_));
}

ProcessTree::ThreadTimes ProcessTree::own_thread() { return times_in("/proc/thread-self/schedstat"); }

int ProcessTree::count_tasks(const std::vector<pid_t>& processes) {
  std::size_t tasks = 0;
  for (const pid_t process : processes) tasks += numbers_in(task_folder(process)).size();
  return static_cast<int>(tasks);
}

int ProcessTree::running_threads() const {
  int running = 0;
  for (const pid_t process : processes())
    for (const pid_t thread : numbers_in(task_folder(process))) {
      const Stat stat(read_small(fmt::format("/proc/{}/task/{}/stat", process, thread)));
      running += stat.exists() && stat.state() == 'R';
    }
  return running;
}

std::optional<WaitingPlace> ProcessTree::worker_waits() const { return place_of(worker_, worker_); }

bool ProcessTree::worker_has_returned(const WaitingPlace& idle) const {
  constexpr std::uint64_t frames = 1024; // of send(); the judge's own call of a kernel takes more
  const std::optional<WaitingPlace> place = place_of(worker_, worker_);
  return !place || place->stack + frames >= idle.stack;
}

std::optional<bool> ProcessTree::is_quiet(const WaitingPlace& idle) const {
  for (const pid_t process : processes())
    for (const pid_t thread : numbers_in(task_folder(process))) {
      const std::optional<WaitingPlace> place = place_of(process, thread);
      if (!place) {
        // A process that has ended has no such file.
        const Stat stat(read_small(fmt::format("/proc/{}/task/{}/stat", process, thread)));
        if (!stat.exists() || std::strchr("ZXx", stat.state()) != nullptr) continue;
        return std::nullopt;
      }
      const bool is_worker = process == worker_ && thread == worker_;
      if (!(is_worker ? is_same_place(*place, idle) : waits_for_a_thread(*place))) return false;
    }
  return true;
}

void ProcessTree::kill_all() const {
  for (int round = 0; round < 200; ++round) {
    const std::vector<pid_t> all = processes();
    bool any = false;
    for (const pid_t process : all) {
      if (has_ended(process)) continue;
      any = true;
      kill(process, SIGKILL);
    }
    if (!any) return;
    std::this_thread::sleep_for(std::chrono::milliseconds(round < 20 ? 1 : 5));
  }
}

bool is_same_place(const WaitingPlace& place, const WaitingPlace& idle) {
  // An interpreter's frame may differ by a few words. A function that was called from there has a larger one.
  constexpr std::uint64_t words = 128;
  return place.call == idle.call && place.arguments[0] == idle.arguments[0] && place.stack + words >= idle.stack &&
         place.stack <= idle.stack + words;
}

} // namespace tessera::judge
