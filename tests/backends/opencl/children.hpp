#pragma once

/// Parts of a test in processes of their own.

#include <sys/wait.h>
#include <unistd.h>

#include <cstdio>
#include <exception>

#include <boost/test/unit_test.hpp>

namespace tessera::opencl_test {

/// Starts a child that calls action(). Its exit status is 0, or 1 after an exception, whose text goes to stderr. After
/// a minute a signal ends it.
template <class Action>
pid_t start_child(Action action) {
  std::fflush(nullptr);
  const pid_t child = ::fork();
  if (child != 0) return child;
  ::alarm(60);
  int status = 0;
  try {
    action();
  } catch (const std::exception& error) {
    std::fprintf(stderr, "in the child: %s\n", error.what());
    status = 1;
  }
  std::fflush(nullptr);
  ::_exit(status);
}

/// Waits for a child and returns its exit status, or 128 and the number of the signal that ended it.
inline int status_of(pid_t child) {
  int status = -1;
  BOOST_TEST_REQUIRE(child > 0);
  BOOST_TEST_REQUIRE(::waitpid(child, &status, 0) == child);
  return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

template <class Action>
int in_child(Action action) {
  return status_of(start_child(action));
}

} // namespace tessera::opencl_test
