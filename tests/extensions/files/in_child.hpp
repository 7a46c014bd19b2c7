#pragma once

/// Runs a part of a test in a process of its own, which changes its user, its mounts or its descriptors.

#include <sys/wait.h>
#include <unistd.h>
#include <cstdio>
#include <exception>

namespace tessera::test {

/// Calls action() in a child, which returns whether all was well, and returns that. An exception, whose text goes to
/// stderr, and a signal are not well.
template <class Action>
bool is_well_in_child(Action&& action) {
  std::fflush(nullptr);
  const pid_t child = fork();
  if (child == 0) {
    bool well = false;
    try {
      well = action();
    } catch (const std::exception& error) {
      std::fprintf(stderr, "in the child: %s\n", error.what());
    }
    _exit(well ? 0 : 1);
  }
  int status = 0;
  return child > 0 && waitpid(child, &status, 0) == child && WIFEXITED(status) && WEXITSTATUS(status) == 0;
}

/// Says on stderr what is not as it should be. Returns `is`.
inline bool expect(bool is, const char* what) {
  if (!is) std::fprintf(stderr, "in the child: not so: %s\n", what);
  return is;
}

} // namespace tessera::test
