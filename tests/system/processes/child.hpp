#pragma once

/// Runs a part of a test in the child of a fork.

#include <sys/wait.h>
#include <unistd.h>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <filesystem>
#include <iterator>
#include <string>

namespace tessera::test {

enum class Leave { AtOnce, ThroughExit };

/// Calls right() in a child and returns what happened there: "right", "wrong", "threw", or "ended by signal N". A child
/// that hangs is ended by signal 14 after a minute. The child leaves without destructors, or through exit().
template <class Right>
std::string in_child(Right right, Leave leave = Leave::AtOnce) {
  const pid_t child = fork();
  if (child < 0) return "fork failed";
  if (child == 0) {
    std::signal(SIGALRM, SIG_DFL);
    alarm(60);
    int status = 2;
    try {
      status = right() ? 0 : 1;
    } catch (const std::exception& error) {
      std::fprintf(stderr, "in the child: %s\n", error.what());
    }
    if (leave == Leave::ThroughExit) std::exit(status);
    _exit(status);
  }
  int status = 0;
  if (waitpid(child, &status, 0) != child) return "waitpid failed";
  if (WIFSIGNALED(status)) return "ended by signal " + std::to_string(WTERMSIG(status));
  switch (WEXITSTATUS(status)) {
    case 0:
      return "right";
    case 1:
      return "wrong";
    case 2:
      return "threw";
    default:
      return "exit status " + std::to_string(WEXITSTATUS(status));
  }
}

/// Returns the number of threads of this process, as the system counts them.
inline int threads_of_this_process() {
  return static_cast<int>(
      std::distance(std::filesystem::directory_iterator("/proc/self/task"), std::filesystem::directory_iterator()));
}

} // namespace tessera::test
