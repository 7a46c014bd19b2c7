/// Times products of host matrices, up to the result on the host. This is not a test: it prints a table of
/// docs/lab/cuda_executor.md. With TESSERA_CUDA_MEMORY_LIMIT=2G, say, most products go through the device in blocks.

#include <algorithm>
#include <array>
#include <chrono>
#include <cstdio>
#include <cstdlib>

#include <tessera/tessera.hpp>

using namespace tessera;

namespace {

double seconds_of(const Matrix<float>& a, const Matrix<float>& b) {
  const auto start = std::chrono::steady_clock::now();
  const Matrix<float> c = gemm(a, b, Backend::Cuda);
  static_cast<void>(c.data()[0]); // This copies the result to the host.
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

void measure(Index m, Index n, Index k) {
  const auto a = Matrix<float>::random(m, k, Seed{1});
  const auto b = Matrix<float>::random(k, n, Seed{2});
  std::array<double, 3> seconds{};
  for (double& s : seconds) s = seconds_of(Matrix<float>(a), Matrix<float>(b)); // The copies are on the host only.
  std::sort(seconds.begin(), seconds.end());
  const double flops = 2.0 * static_cast<double>(m) * static_cast<double>(n) * static_cast<double>(k);
  std::printf("| %lld×%lld×%lld | %.3f | %.1f |\n", static_cast<long long>(m), static_cast<long long>(n),
              static_cast<long long>(k), seconds[1], flops / seconds[1] * 1e-12);
}

} // namespace

int main() {
  const char* limit = std::getenv("TESSERA_CUDA_MEMORY_LIMIT");
  std::printf("memory limit: %s\n\n| m×n×k | seconds | TFLOP/s |\n|---|---|---|\n", limit ? limit : "none");
  for (const Index n : {8192, 16384, 24576}) measure(n, n, n);
  measure(8192, 8192, 65536);
  measure(32768, 32768, 1024);
}
