// The smallest CUDA kernel that can be judged:
//
//     gemm_compare --kernel cuda_leetgpu.cu --abi leetgpu --gpu
//
// or compiled by hand:  nvcc -O3 -arch=native -shared -Xcompiler -fPIC cuda_leetgpu.cu -o mine.so
//
// The pointers are device memory; A is M×N, B is N×K, C is M×K, stored row after row without gaps. Use any stream.

__global__ void multiply(const float* A, const float* B, float* C, int M, int N, int K) {
  const int j = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x);
  const int i = static_cast<int>(blockIdx.y * blockDim.y + threadIdx.y);
  if (i >= M || j >= K) return;
  float sum = 0.0f;
  for (int p = 0; p < N; ++p) sum += A[static_cast<size_t>(i) * N + p] * B[static_cast<size_t>(p) * K + j];
  C[static_cast<size_t>(i) * K + j] = sum;
}

extern "C" void solve(const float* A, const float* B, float* C, int M, int N, int K) {
  const dim3 block(32, 8);
  const dim3 grid((K + block.x - 1) / block.x, (M + block.y - 1) / block.y);
  multiply<<<grid, block>>>(A, B, C, M, N, K);
}
