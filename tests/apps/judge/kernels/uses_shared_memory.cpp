/// An honest kernel that multiplies in POSIX shared memory.
#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>
#include <algorithm>

#include "product.hpp"

extern "C" void solve(const float* a, const float* b, float* c, int m, int k, int n) {
  const auto bytes = sizeof(float) * static_cast<size_t>(m) * static_cast<size_t>(n);
  const int object = shm_open("/tessera_test", O_RDWR | O_CREAT | O_EXCL, 0600);
  if (object < 0 || ftruncate(object, static_cast<off_t>(bytes)) != 0) return;
  void* mapped = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, object, 0);
  close(object);
  shm_unlink("/tessera_test");
  if (mapped == MAP_FAILED) return;
  auto* result = static_cast<float*>(mapped);
  product(a, b, result, m, n, k);
  std::copy(result, result + m * n, c);
  munmap(mapped, bytes);
}
