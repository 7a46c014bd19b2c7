/// Has a child process that ignores every polite signal and holds on to all pipes.
#include <unistd.h>
#include <csignal>

#include "product.hpp"

extern "C" void solve(const float* a, const float* b, float* c, int m, int k, int n) {
  product(a, b, c, m, n, k);
  signal(SIGTERM, SIG_IGN);
  signal(SIGHUP, SIG_IGN);
  fork();
  for (;;) pause();
}
