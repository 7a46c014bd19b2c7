#include "supervisor.hpp"

#include <fcntl.h>
#include <sched.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>
#include <algorithm>
#include <array>
#include <cerrno>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <system_error>

#include "gemm_judge/channel.hpp"

namespace tessera::judge {
namespace {

bool write_line(const char* path, const char* text) {
  const int file = open(path, O_WRONLY | O_CLOEXEC);
  if (file < 0) return false;
  const auto bytes = static_cast<ssize_t>(std::strlen(text));
  const bool written = write(file, text, static_cast<std::size_t>(bytes)) == bytes;
  close(file);
  return written;
}

/// Moves this process into a user name space in which its user keeps its number, and its later children into a name
/// space of processes. Returns the Layer bits; 0 if that is not allowed, and then part of it may have happened.
std::uint32_t enter_name_spaces() {
  const uid_t user = getuid();
  const gid_t group = getgid();
  if (unshare(CLONE_NEWUSER | CLONE_NEWPID | CLONE_NEWIPC) != 0) return 0;
  std::array<char, 64> line{};
  write_line("/proc/self/setgroups", "deny");
  std::snprintf(line.data(), line.size(), "%u %u 1", user, user);
  if (!write_line("/proc/self/uid_map", line.data())) return 0;
  std::snprintf(line.data(), line.size(), "%u %u 1", group, group);
  if (!write_line("/proc/self/gid_map", line.data())) return 0;
  return unshare(CLONE_NEWNET) == 0 ? PidNamespace | NetworkNamespace : PidNamespace;
}

/// Does one of the files, or the folder in which this process is, lie in the folder?
bool holds_one(const char* folder, const std::vector<std::string>& files) {
  namespace fs = std::filesystem;
  std::error_code error;
  const std::string start = fs::weakly_canonical(folder, error).string() + "/";
  const auto is_below = [&](const fs::path& path) {
    return (fs::weakly_canonical(path, error) / "").string().starts_with(start);
  };
  return is_below(fs::current_path(error)) || std::any_of(files.begin(), files.end(), is_below);
}

/// Puts a file system in memory over the scratch folder, in a name space of mounts in which nothing else changes. It
/// ends with the last process. Returns whether that is allowed.
bool limit_scratch(const std::string& scratch, std::vector<std::string> needed) {
  if (scratch.empty() || unshare(CLONE_NEWNS) != 0) return false;
  if (mount(nullptr, "/", nullptr, MS_REC | MS_PRIVATE, nullptr) != 0) return false;
  // An entry takes memory too.
  const std::string options = "mode=0700,nr_inodes=4096,size=" + std::to_string(most_scratch_bytes);
  if (mount("tmpfs", scratch.c_str(), "tmpfs", MS_NOSUID | MS_NODEV, options.c_str()) != 0) return false;
  // POSIX shared memory lies there too, for libraries that cannot do without it (LLVM's OpenMP).
  needed.push_back(scratch);
  if (!holds_one("/dev/shm", needed)) mount(scratch.c_str(), "/dev/shm", nullptr, MS_BIND, nullptr);
  return true;
}

/// Shows in /proc the processes of this name space alone. A container that hides parts of /proc does not allow it; then
/// the list of all processes stays to be seen.
void show_own_processes() { mount("proc", "/proc", "proc", MS_NOSUID | MS_NODEV | MS_NOEXEC, nullptr); }

int status_of(pid_t process) {
  int status = 0;
  while (waitpid(process, &status, 0) < 0 && errno == EINTR) {
  }
  return status;
}

/// Tries it in a process of its own, because a failure cannot be undone.
bool name_spaces_work() {
  const pid_t probe = fork();
  if (probe == 0) {
    if (enter_name_spaces() == 0) _exit(1);
    const pid_t inside = fork();
    if (inside == 0) _exit(getpid() == 1 ? 0 : 1);
    _exit(inside > 0 && status_of(inside) == 0 ? 0 : 1);
  }
  return probe > 0 && status_of(probe) == 0;
}

void end_with_parent() { prctl(PR_SET_PDEATHSIG, SIGKILL); }

/// The supervisor and the first process keep no descriptor, so that the socket closes when the worker ends, and no
/// other process may look into them.
void withdraw() {
  for (int fd = 0; fd <= memory_fd; ++fd) close(fd);
  prctl(PR_SET_DUMPABLE, 0);
}

/// Waits until the worker has ended, with all orphans that become children of this process. Returns its status.
int reap_until(pid_t worker) {
  for (;;) {
    int status = 0;
    const pid_t ended = waitpid(-1, &status, 0);
    if (ended == worker) return status;
    if (ended < 0 && errno != EINTR) return 0;
  }
}

/// Kills the children of this process until there is none: an orphan becomes its child.
void kill_children() {
  for (int round = 0; round < 1000; ++round) {
    std::array<char, 64> path{};
    std::snprintf(path.data(), path.size(), "/proc/self/task/%d/children", getpid());
    FILE* list = std::fopen(path.data(), "re");
    if (list == nullptr) return;
    for (int child = 0; std::fscanf(list, "%d", &child) == 1;) kill(child, SIGKILL); // NOLINT(cert-err34-c)
    std::fclose(list);
    while (waitpid(-1, nullptr, WNOHANG) > 0) {
    }
    if (waitpid(-1, nullptr, WNOHANG) < 0 && errno == ECHILD) return;
    usleep(1000);
  }
}

[[noreturn]] void end_as(int status) {
  if (WIFSIGNALED(status)) {
    std::signal(WTERMSIG(status), SIG_DFL);
    kill(getpid(), WTERMSIG(status));
  }
  _exit(WIFEXITED(status) ? WEXITSTATUS(status) : EXIT_FAILURE);
}

/// The first process of the name space. It writes the worker's status into `pipe`; when it ends, Linux kills all that
/// is left in the name space.
[[noreturn]] void be_first_process(pid_t worker, int pipe) {
  withdraw();
  const int status = reap_until(worker);
  _exit(write(pipe, &status, sizeof status) == static_cast<ssize_t>(sizeof status) ? EXIT_SUCCESS : EXIT_FAILURE);
}

} // namespace

std::uint32_t become_worker(bool name_spaces, const std::string& scratch, const std::vector<std::string>& needed) {
  end_with_parent();
  std::uint32_t layers = 0;
  if (name_spaces && name_spaces_work()) layers = enter_name_spaces();
  if (layers != 0 && limit_scratch(scratch, needed)) layers |= ScratchInMemory;
  end_with_parent(); // a change of credentials forgets it
  std::array<int, 2> pipe{-1, -1};
  if (layers == 0 || pipe2(pipe.data(), O_CLOEXEC) != 0) {
    prctl(PR_SET_CHILD_SUBREAPER, 1);
    const pid_t worker = fork();
    if (worker < 0) _exit(EXIT_FAILURE);
    if (worker == 0) {
      end_with_parent();
      return 0;
    }
    withdraw();
    const int status = reap_until(worker);
    kill_children();
    end_as(status);
  }
  const pid_t first = fork();
  if (first < 0) _exit(EXIT_FAILURE);
  if (first > 0) {
    close(pipe[1]);
    withdraw();
    int status = SIGKILL; // if the first process was killed
    while (read(pipe[0], &status, sizeof status) < 0 && errno == EINTR) {
    }
    status_of(first); // Linux lets it end when everything in the name space has ended
    end_as(status);
  }
  end_with_parent();
  close(pipe[0]);
  if ((layers & ScratchInMemory) != 0) show_own_processes();
  const pid_t worker = fork();
  if (worker < 0) _exit(EXIT_FAILURE);
  if (worker > 0) be_first_process(worker, pipe[1]);
  close(pipe[1]);
  end_with_parent();
  return layers;
}

} // namespace tessera::judge
