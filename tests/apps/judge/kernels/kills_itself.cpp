/// Sends itself SIGKILL, which no process can catch.
#include <unistd.h>
#include <csignal>

#include "product.hpp"

extern "C" void solve(const float* a, const float* b, float* c, int m, int k, int n) {
  product(a, b, c, m, n, k);
  kill(getpid(), SIGKILL);
}
