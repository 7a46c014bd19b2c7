/// Computes in two processes, whatever number of threads it was given.
#include "two_processes.hpp"

extern "C" void solve(const float* a, const float* b, float* c, int m, int k, int n) {
  compute_in_two(a, b, c, m, n, k, false);
}
