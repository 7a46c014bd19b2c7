#pragma once

/// What is said where the memory is short and a call goes on all the same.

#include <cstdio>

namespace tessera::linear_algebra {

/// `what` is a routine, or the result that is computed.
inline void say_slow_loops_go_on(const char* what) {
  std::fprintf(stderr, "tessera: %s: out of host memory; slow loops that need none go on\n", what);
}

} // namespace tessera::linear_algebra
