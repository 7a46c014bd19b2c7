/// Is honest, with --abi leetgpu for all types. The name of the function says the type.
#include <cstdint>
#include <tessera/half.hpp>

namespace {
template <class Sum, class T, class R>
void multiply(const T* a, const T* b, R* c, int m, int k, int n) {
  for (int i = 0; i < m; ++i)
    for (int j = 0; j < n; ++j) {
      Sum sum = 0;
      for (int p = 0; p < k; ++p) sum += static_cast<Sum>(a[i * k + p]) * static_cast<Sum>(b[p * n + j]);
      c[i * n + j] = static_cast<R>(sum);
    }
}
} // namespace

extern "C" {
void solve(const float* a, const float* b, float* c, int m, int k, int n) { multiply<float>(a, b, c, m, k, n); }
void solve_f64(const double* a, const double* b, double* c, int m, int k, int n) { multiply<double>(a, b, c, m, k, n); }
void solve_f16(const tessera::f16* a, const tessera::f16* b, tessera::f16* c, int m, int k, int n) {
  multiply<float>(a, b, c, m, k, n);
}
void solve_bf16(const tessera::bf16* a, const tessera::bf16* b, tessera::bf16* c, int m, int k, int n) {
  multiply<float>(a, b, c, m, k, n);
}
void solve_i8(const int8_t* a, const int8_t* b, int32_t* c, int m, int k, int n) { multiply<int>(a, b, c, m, k, n); }
}
