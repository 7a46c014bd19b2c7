// What a learner's code may do instead of a product. ENDS is replaced by the test.
#include <cstdio>
#include <cstdlib>
#include <stdexcept>
#include <vector>

__global__ void spin(float* c) {
  volatile float* word = c;
  while (word[0] != 17.5f) word[1] = 1; // spins
}
__global__ void far(float* c) { c[1ull << 44] = 1; } // far
__device__ int deeper(volatile int* at, int n) {
  volatile int mine[64];
  mine[n % 64] = n;
  return deeper(mine, n + 1) + at[0];
}
__global__ void recursion(float* c) {
  int zero = 0;
  c[0] = deeper(&zero, 0);
}
__global__ void trap() { abort(); }
__global__ void talk() { printf("thread %u\n", threadIdx.x); }
__global__ void ptx() { asm volatile("bar.sync 0;"); }
__global__ void stuck(float* c) {
  if (threadIdx.x < 16)
    __shfl_sync(0xffffffff, 1, 0);
  else
    __syncthreads();
  c[0] = 1;
}
__global__ void big(float* c) {
  __shared__ float tile[20000];
  tile[threadIdx.x] = 1;
  c[threadIdx.x] = tile[threadIdx.x];
}

extern "C" void solve(const float* A, const float* B, float* C, int M, int N, int K) {
  (void)A, (void)B, (void)M, (void)N, (void)K;
  switch (ENDS) {
    case 0:
      spin<<<1, 32>>>(C);
      break;
    case 1:
      for (volatile int i = 0;; i = i + 1) {
      }
      break;
    case 2:
      far<<<1, 1>>>(C);
      break;
    case 3:
      recursion<<<1, 1>>>(C);
      break;
    case 4:
      trap<<<1, 1>>>();
      break;
    case 5:
      exit(3);
      break;
    case 6:
      throw std::runtime_error("a reason");
      break;
    case 7:
      for (std::vector<char*> all;;) all.push_back(new char[1 << 26]);
      break;
    case 8:
      for (float* p = nullptr; cudaMalloc(&p, 1 << 28) == cudaSuccess;) {
      }
      talk<<<40, 32>>>();
      break;
    case 9:
      ptx<<<1, 32>>>();
      break;
    case 10:
      stuck<<<1, 32>>>(C);
      break;
    case 11:
      break;
    case 12:
      big<<<1, 32>>>(C);
      break;
    case 13:
      _Exit(4);
      break;
  }
}
