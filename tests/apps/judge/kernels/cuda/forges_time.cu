// Answers in the judge's place with a time of its own, of a nanosecond, and goes on. The verdict must not be a pass.
#include <unistd.h>
#include <cstdint>
#include <cstring>

#include "multiply.cuh"

extern "C" void solve(const float* a, const float* b, float* c, int m, int k, int n) {
  multiply<<<dim3((n + 63) / 64, m), 64>>>(a, b, c, m, k, n);
  unsigned char reply[536] = {}; // Reply of apps/gemm_judge/channel.hpp
  const std::uint32_t tag = 0x7e55e7a6, done = 1, call = 3;
  const double seconds = 1e-9;
  std::memcpy(reply, &tag, sizeof tag);
  std::memcpy(reply + 4, &done, sizeof done);
  std::memcpy(reply + 12, &call, sizeof call);
  std::memcpy(reply + 48, &seconds, sizeof seconds);
  if (write(3, reply, sizeof reply) < 0) return;
}
