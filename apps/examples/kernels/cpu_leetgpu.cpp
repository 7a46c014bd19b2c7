// The smallest kernel that can be judged, on the CPU:
//
//     gemm_compare --kernel cpu_leetgpu.cpp --abi leetgpu --cpu
//
// or compiled by hand:  g++ -O3 -march=native -shared -fPIC cpu_leetgpu.cpp -o mine.so
//
// A is M×N, B is N×K, C is M×K, stored row after row without gaps. C holds NaN at first: set it, do not add to it.

#include <algorithm>

extern "C" void solve(const float* A, const float* B, float* C, int M, int N, int K) {
  for (long i = 0; i < M; ++i) {
    float* c = C + i * K;
    std::fill(c, c + K, 0.0f);
    for (long p = 0; p < N; ++p) {
      const float a = A[i * N + p];
      const float* b = B + p * K;
      for (long j = 0; j < K; ++j) c[j] += a * b[j];
    }
  }
}
