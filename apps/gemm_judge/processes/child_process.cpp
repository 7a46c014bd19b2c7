#include "child_process.hpp"

#include <fcntl.h>
#include <poll.h>
#include <spawn.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>
#include <array>
#include <cerrno>
#include <csignal>
#include <cstring>
#include <thread>

#include <tessera/status.hpp>

#include "process_tree.hpp"

extern char** environ;

namespace tessera::judge {
namespace {

/// Attributes and file actions of posix_spawn; the destructor frees them.
struct SpawnPlan {
  SpawnPlan() {
    posix_spawn_file_actions_init(&actions);
    posix_spawnattr_init(&attributes);
  }
  ~SpawnPlan() {
    posix_spawn_file_actions_destroy(&actions);
    posix_spawnattr_destroy(&attributes);
    for (const int fd : moved) close(fd);
  }
  SpawnPlan(const SpawnPlan&) = delete;
  SpawnPlan& operator=(const SpawnPlan&) = delete;

  /// Gives the child our descriptor `ours` as `theirs`. It is copied to a high number first, so that no dup2 in the
  /// child overwrites a descriptor that is still to be copied.
  void give(int ours, int theirs) {
    const int high = fcntl(ours, F_DUPFD_CLOEXEC, 64);
    moved.push_back(high);
    posix_spawn_file_actions_adddup2(&actions, high, theirs);
  }

  posix_spawn_file_actions_t actions;
  posix_spawnattr_t attributes;
  std::vector<int> moved;
};

} // namespace

ChildProcess::ChildProcess(const std::vector<std::string>& arguments,
                           const std::vector<std::pair<int, int>>& inherited) {
  std::array<int, 2> output{};
  if (pipe2(output.data(), O_CLOEXEC) != 0) throw IoError(std::string("pipe: ") + std::strerror(errno));
  output_fd_ = output[0];
  fcntl(output_fd_, F_SETFL, O_NONBLOCK);

  SpawnPlan plan;
  int last = STDERR_FILENO;
  posix_spawn_file_actions_addopen(&plan.actions, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
  plan.give(output[1], STDOUT_FILENO);
  plan.give(output[1], STDERR_FILENO);
  for (const auto& [ours, theirs] : inherited) {
    plan.give(ours, theirs);
    last = std::max(last, theirs);
  }
#if __GLIBC_PREREQ(2, 34)
  posix_spawn_file_actions_addclosefrom_np(&plan.actions, last + 1);
#endif
  sigset_t none;
  sigset_t all;
  sigemptyset(&none);
  sigfillset(&all);
  posix_spawnattr_setsigmask(&plan.attributes, &none);
  posix_spawnattr_setsigdefault(&plan.attributes, &all);
  posix_spawnattr_setflags(&plan.attributes, POSIX_SPAWN_SETSID | POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF);

  std::vector<char*> argv;
  argv.reserve(arguments.size() + 1);
  for (const std::string& argument : arguments) argv.push_back(const_cast<char*>(argument.c_str()));
  argv.push_back(nullptr);
  const int error = posix_spawnp(&pid_, argv[0], &plan.actions, &plan.attributes, argv.data(), environ);
  close(output[1]);
  if (error != 0) {
    close(output_fd_);
    throw IoError("cannot start " + arguments[0] + ": " + std::strerror(error));
  }
  group_.emplace(pid_);
#ifdef SYS_pidfd_open
  pid_fd_ = static_cast<int>(syscall(SYS_pidfd_open, pid_, 0));
#endif
}

ChildProcess::~ChildProcess() {
  end(std::chrono::milliseconds(0));
  close(output_fd_);
  if (pid_fd_ >= 0) close(pid_fd_);
}

ChildProcess::Event ChildProcess::wait(int descriptor, Clock::time_point deadline, const Look* look) {
  bool output_open = true;
  auto next_look = look != nullptr ? Clock::now() + look->every : Clock::time_point::max();
  for (;;) {
    const auto left = std::chrono::duration_cast<std::chrono::milliseconds>(deadline - Clock::now()).count();
    if (left <= 0) return Event::TimeLimit;
    std::array<pollfd, 3> polled{{{descriptor, POLLIN, 0}, {pid_fd_, POLLIN, 0}, {output_fd_, POLLIN, 0}}};
    if (!output_open) polled[2].fd = -1;
    // Without a pid descriptor the loop asks every 20 ms whether the child has ended.
    const bool ask = pid_fd_ < 0;
    const long long most = look != nullptr ? look->every.count() : ask ? 20 : 60'000;
    poll(polled.data(), polled.size(), static_cast<int>(std::min<long long>(left, most)));
    if (polled[2].revents != 0) output_open = read_output();
    if (output_bytes_ > flood_bytes) return Event::Flood;
    if (polled[0].revents != 0) return Event::Readable;
    if (polled[1].revents != 0 || (ask && has_ended())) {
      read_output();
      return Event::Ended;
    }
    if (Clock::now() < next_look) continue;
    const auto before = Clock::now();
    if (!look->is_well()) return Event::Objection;
    // A look takes at most a twentieth of the time.
    next_look = Clock::now() + std::max<Clock::duration>(look->every, 20 * (Clock::now() - before));
  }
}

bool ChildProcess::read_output() {
  std::array<char, 65536> buffer{};
  for (int round = 0; round < 64; ++round) { // bounded, because the child may write faster than this loop reads
    const ssize_t got = read(output_fd_, buffer.data(), buffer.size());
    if (got == 0) return false;
    if (got < 0) return errno == EAGAIN || errno == EINTR;
    output_bytes_ += static_cast<std::size_t>(got);
    if (output_.size() < kept_output_bytes)
      output_.append(buffer.data(), std::min(static_cast<std::size_t>(got), kept_output_bytes - output_.size()));
  }
  return true;
}

bool ChildProcess::has_ended() const {
  siginfo_t info{};
  return waitid(P_PID, static_cast<id_t>(pid_), &info, WEXITED | WNOHANG | WNOWAIT) == 0 && info.si_pid == pid_;
}

int ChildProcess::end(std::chrono::milliseconds patience, const ProcessTree* tree) {
  if (reaped_) return status_;
  // The group is signalled before the child is reaped: until then its number cannot go to another process.
  const auto deadline = Clock::now() + patience;
  while (!has_ended() && Clock::now() < deadline) std::this_thread::sleep_for(std::chrono::milliseconds(1));
  read_output();
  if (tree != nullptr && !has_ended()) tree->kill_all();
  kill(-pid_, SIGKILL);
  kill(pid_, SIGKILL);
  group_.reset(); // before waitpid() frees the number for another process
  while (waitpid(pid_, &status_, 0) < 0 && errno == EINTR) {
  }
  reaped_ = true;
  return status_;
}

std::string signal_name(int signal) {
  const char* abbreviation = sigabbrev_np(signal);
  const char* description = sigdescr_np(signal);
  return (abbreviation ? std::string("SIG") + abbreviation : "signal " + std::to_string(signal)) +
         (description ? std::string(" (") + description + ")" : "");
}

} // namespace tessera::judge
