/// An honest kernel that starts many processes, each of which ends at once, while the judge looks at them.
#include <sys/wait.h>
#include <unistd.h>

#include "product.hpp"

extern "C" void solve(const float* a, const float* b, float* c, int m, int k, int n) {
  for (int number = 0; number < 400; ++number) {
    const pid_t other = fork();
    if (other == 0) _exit(0);
    if (other > 0) waitpid(other, nullptr, 0);
  }
  product(a, b, c, m, n, k);
}
