// Kernels with one fault each. Its line ends with the finding's word; the line of a race's other access with "earlier".
#include <cuda_runtime.h>
#include <vector>

__global__ void write_then_read(float* c) {
  __shared__ float tile[64];
  tile[threadIdx.x] = threadIdx.x;         // earlier 1
  c[threadIdx.x] = tile[63 - threadIdx.x]; // race 1
}
__global__ void read_then_write(float* c) {
  __shared__ float tile[64];
  tile[threadIdx.x] = threadIdx.x;
  __syncthreads();
  const float x = tile[(threadIdx.x + 1) % 64]; // earlier 2
  tile[threadIdx.x] = x;                        // race 2
  c[threadIdx.x] = x;
}
__global__ void between_warps_of_one_barrier(float* c) {
  __shared__ float tile[64];
  tile[threadIdx.x] = threadIdx.x; // earlier 3
  __syncwarp();
  c[threadIdx.x] = tile[(threadIdx.x + 32) % 64]; // race 3
}
__global__ void blocks_write_one_element(float* c) {
  c[threadIdx.x] = blockIdx.x; // race 4
}
__global__ void unwritten(float* c) {
  __shared__ float tile[64];
  if (threadIdx.x < 63) tile[threadIdx.x] = 1;
  __syncthreads();
  c[threadIdx.x] = tile[threadIdx.x]; // uninitialised 5
}
__global__ void past_the_end(const float* a, float* c, int n) {
  c[threadIdx.x] = a[n - 63 + threadIdx.x]; // out_of_bounds 6
}
__global__ void before_the_beginning(const float* a, float* c) {
  c[threadIdx.x] = a[static_cast<int>(threadIdx.x) - 1]; // out_of_bounds 7
}
__global__ void past_shared(float* c) {
  __shared__ float first[64];
  __shared__ float second[64];
  first[threadIdx.x] = second[threadIdx.x] = 1;
  first[threadIdx.x + 1] = 2; // out_of_bounds 8
  __syncthreads();
  c[threadIdx.x] = second[threadIdx.x];
}
__global__ void past_dynamic(float* c) {
  extern __shared__ float dynamic[];
  dynamic[threadIdx.x] = 1; // out_of_bounds 9
  c[threadIdx.x] = 1;
}
__global__ void host_pointer(const float* host, float* c) {
  c[threadIdx.x] = host[threadIdx.x]; // out_of_bounds 10
}
__global__ void freed(const float* gone, float* c) {
  c[threadIdx.x] = gone[threadIdx.x]; // out_of_bounds 11
}
__global__ void odd_vector(const float* a, float* c) {
  const float4 v = *reinterpret_cast<const float4*>(a + 4 * threadIdx.x + 1); // misaligned 12
  c[threadIdx.x] = v.x;
}
__global__ void some_return(float* c, int n) {
  if (threadIdx.x >= n) return;
  __syncthreads(); // barrier_divergence 13
  c[threadIdx.x] = 1;
}
__global__ void two_barriers(float* c) {
  if (threadIdx.x < 32)
    __syncthreads(); // barrier_divergence 14
  else
    __syncthreads();
  c[threadIdx.x] = 1;
}
__global__ void nothing(float* c) { c[threadIdx.x] = 0; }

extern "C" void solve(const float* A, const float* B, float* C, int M, int N, int K) {
  (void)B, (void)K;
  write_then_read<<<1, 64>>>(C);
  read_then_write<<<1, 64>>>(C);
  between_warps_of_one_barrier<<<1, 64>>>(C);
  blocks_write_one_element<<<2, 64>>>(C);
  unwritten<<<1, 64>>>(C);
  past_the_end<<<1, 64>>>(A, C, M * N);
  before_the_beginning<<<1, 64>>>(A, C);
  past_shared<<<1, 64>>>(C);
  past_dynamic<<<1, 64, 252>>>(C);
  std::vector<float> host(64);
  host_pointer<<<1, 64>>>(host.data(), C);
  float* gone = nullptr;
  cudaMalloc(&gone, 256);
  cudaFree(gone);
  freed<<<1, 64>>>(gone, C);
  odd_vector<<<1, 64>>>(A, C);
  some_return<<<1, 64>>>(C, 40);
  two_barriers<<<1, 64>>>(C);
  nothing<<<1, 1025>>>(C);                             // launch_failed 15
  nothing<<<1, 64, 100000>>>(C);                       // launch_failed 16
  cudaMemcpy(C, A, 1 << 20, cudaMemcpyDeviceToDevice); // out_of_bounds 17
}
