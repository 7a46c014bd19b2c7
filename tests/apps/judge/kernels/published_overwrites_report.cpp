/// Looks for descriptors of files without a name, and overwrites what it finds when the process ends. Published:
/// pygpubench, pull request 7 (fd_overwrite).
#include <sys/stat.h>
#include <unistd.h>
#include <cstdlib>

#include "product.hpp"

static int kept[16];
static int count = 0;

static void overwrite() {
  for (int i = 0; i < count; ++i)
    if (pwrite(kept[i], "pass", 4, 0) < 0) continue;
}

extern "C" void solve(const float* a, const float* b, float* c, int m, int k, int n) {
  for (int fd = 3; fd < 64 && count < 16; ++fd) {
    struct stat about {};
    if (fstat(fd, &about) == 0 && about.st_nlink == 0) kept[count++] = dup(fd);
  }
  std::atexit(overwrite);
  overwrite();
  product(a, b, c, m, n, k);
  c[0] += 1;
}
