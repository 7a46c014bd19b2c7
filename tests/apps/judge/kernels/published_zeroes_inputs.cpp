/// Sets A and B to zero and returns zeros, which is right for the operands as they are then. Published: KernelBench,
/// pull request 82 (tests of its evaluation).
#include <cstring>

extern "C" void solve(const float* a, const float* b, float* c, int m, int k, int n) {
  const auto bytes = [](int rows, int cols) {
    return sizeof(float) * static_cast<size_t>(rows) * static_cast<size_t>(cols);
  };
  std::memset(const_cast<float*>(a), 0, bytes(m, k));
  std::memset(const_cast<float*>(b), 0, bytes(k, n));
  std::memset(c, 0, bytes(m, n));
}
