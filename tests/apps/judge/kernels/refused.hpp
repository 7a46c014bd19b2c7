#pragma once

#include <cerrno>
#include <cstdio>
#include <cstring>

/// For kernels that try what a sandbox must refuse. Each prints what was not refused and returns how much that was.
class Attempts {
 public:
  /// `result`: of the call that was just made, −1 with errno if it failed.
  void must_be_refused(const char* what, long result) {
    const int error = errno;
    if (result == -1 && (error == EPERM || error == ENOSYS || error == EACCES)) return;
    std::fprintf(stderr, "not refused: %s: %s\n", what, result == -1 ? std::strerror(error) : "it succeeded");
    ++failures_;
  }
  int failures() const { return failures_; }

 private:
  int failures_ = 0;
};
