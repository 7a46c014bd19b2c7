/// Tries to get at the memory of its parent and all further ancestors. It puts -1 into C(0, 0) where one of
/// them succeeded.
#include <fcntl.h>
#include <sys/ptrace.h>
#include <sys/uio.h>
#include <unistd.h>
#include <cstdio>
#include <cstdlib>

#include "parent_of.hpp"
#include "product.hpp"

static bool reaches(int process) {
  char path[64];
  std::snprintf(path, sizeof path, "/proc/%d/mem", process);
  if (const int file = open(path, O_RDWR); file >= 0) return true;
  char bytes[16];
  const iovec ours{bytes, sizeof bytes}, theirs{bytes, sizeof bytes};
  if (process_vm_writev(process, &ours, 1, &theirs, 1, 0) > 0) return true;
  return ptrace(PTRACE_ATTACH, process, nullptr, nullptr) == 0;
}

extern "C" void solve(const float* a, const float* b, float* c, int m, int k, int n) {
  product(a, b, c, m, n, k);
  char self[32] = {};
  if (readlink("/proc/self", self, sizeof self - 1) < 0) return;
  for (int process = parent_of(std::atoi(self)); process > 1; process = parent_of(process))
    if (reaches(process)) c[0] = -1;
}
