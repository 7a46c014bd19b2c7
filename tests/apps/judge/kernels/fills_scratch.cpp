/// Keeps 512 MiB in files of its scratch folder, each of which it removes at once: half of them stay open, of the
/// others one page stays mapped.
#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>
#include <cstdlib>
#include <string>
#include <vector>

#include "product.hpp"

extern "C" void solve(const float* a, const float* b, float* c, int m, int k, int n) {
  const std::vector<char> block(size_t{16} << 20, 1);
  for (int number = 0; number < 32; ++number) {
    const std::string path = std::string(std::getenv("TMPDIR")) + "/" + std::to_string(number);
    const int file = open(path.c_str(), O_RDWR | O_CREAT, 0600);
    if (file < 0 || write(file, block.data(), block.size()) < 0) break;
    unlink(path.c_str());
    if (number % 2 == 0) continue;
    mmap(nullptr, 4096, PROT_READ, MAP_PRIVATE, file, 0);
    close(file);
  }
  product(a, b, c, m, n, k);
}
