/// Keeps 480 MiB in objects of POSIX shared memory, which it does not map.
#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>
#include <string>
#include <vector>

#include "product.hpp"

extern "C" void solve(const float* a, const float* b, float* c, int m, int k, int n) {
  const std::vector<char> block(size_t{48} << 20, 1);
  for (int number = 0; number < 10; ++number) {
    const std::string name = "/tessera_test_" + std::to_string(number);
    const int object = shm_open(name.c_str(), O_RDWR | O_CREAT, 0600);
    if (object < 0) break;
    const bool written = write(object, block.data(), block.size()) >= 0;
    close(object);
    if (!written) break;
  }
  product(a, b, c, m, n, k);
}
