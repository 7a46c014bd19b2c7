/// Hangs, with a child process that ignores every signal that it can ignore and keeps all pipes open.
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
