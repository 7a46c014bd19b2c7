/// Returns at once. A thread writes C a moment later, and into every part of the shared page all the time.
#include <sys/mman.h>
#include <atomic>
#include <chrono>
#include <cstring>
#include <thread>

#include "../../../../apps/gemm_judge/channel.hpp"
#include "product.hpp"

extern "C" void solve(const float* a, const float* b, float* c, int m, int k, int n) {
  using namespace tessera::judge;
  std::thread([=] {
    product(a, b, c, m, n, k);
    void* page = mmap(nullptr, sizeof(SharedHeader), PROT_READ | PROT_WRITE, MAP_SHARED, memory_fd, 0);
    for (int round = 0; round < 40; ++round) {
      if (page != MAP_FAILED) std::memset(page, 0, sizeof(SharedHeader));
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
      c[0] += 0.0F * static_cast<float>(round);
    }
    c[1] = 7;
  }).detach();
  std::this_thread::sleep_for(std::chrono::milliseconds(5));
}
