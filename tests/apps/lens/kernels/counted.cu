// Kernels whose counters lens_counters.cpp works out by hand. All launches are of one warp unless they say otherwise.
#include <cuda_pipeline_primitives.h>
#include <cuda_runtime.h>

template <int stride, int offset>
__global__ void strided(const float* a, float* c) {
  c[threadIdx.x] = a[threadIdx.x * stride + offset];
}
__global__ void coalesced(const float* a, float* c) { c[threadIdx.x] = a[threadIdx.x]; }
__global__ void far_apart(const float* a, float* c) { c[threadIdx.x] = a[threadIdx.x * 32]; }
__global__ void misaligned(const float* a, float* c) { c[threadIdx.x] = a[threadIdx.x + 1]; }
__global__ void broadcast(const float* a, float* c) { c[threadIdx.x] = a[7]; }
__global__ void vectors(const float* a, float* c) {
  reinterpret_cast<float4*>(c)[threadIdx.x] = reinterpret_cast<const float4*>(a)[threadIdx.x];
}
__global__ void made_vectors(const float* a, float* c) {
  const float4 v = __ldg(reinterpret_cast<const float4*>(a) + threadIdx.x);
  reinterpret_cast<float4*>(c)[threadIdx.x] = make_float4(v.w, v.z, v.y, v.x);
}
__global__ void doubles(const double* a, double* c) { c[threadIdx.x] = a[threadIdx.x]; }
__global__ void some_lanes(const float* a, float* c, int n) {
  if (threadIdx.x < n) c[threadIdx.x] = a[threadIdx.x];
}

template <int stride>
__device__ float bank_read(const float* a) {
  __shared__ float tile[33 * 32];
  for (int i = threadIdx.x; i < 33 * 32; i += 32) tile[i] = a[i];
  __syncthreads();
  return tile[threadIdx.x * stride % (33 * 32)];
}
__global__ void banks_1(const float* a, float* c) { c[threadIdx.x] = bank_read<1>(a); }
__global__ void banks_2(const float* a, float* c) { c[threadIdx.x] = bank_read<2>(a); }
__global__ void banks_32(const float* a, float* c) { c[threadIdx.x] = bank_read<32>(a); }
__global__ void banks_33(const float* a, float* c) { c[threadIdx.x] = bank_read<33>(a); }
__global__ void banks_0(const float* a, float* c) { c[threadIdx.x] = bank_read<0>(a); }

// 16 bytes a lane past the registers, and a store beside them.
__global__ void copied(const float* a, float* c) {
  __shared__ alignas(16) float tile[129];
  __pipeline_memcpy_async(tile + 4 * threadIdx.x, a + 4 * threadIdx.x, 16);
  __pipeline_commit();
  if (threadIdx.x == 0) tile[128] = 1;
  __pipeline_wait_prior(0);
  __syncthreads();
  c[threadIdx.x] = tile[threadIdx.x] + tile[128];
}

// Reads of 128 bits: one vector after another, 32 bytes apart, one for all, and one for each half of the warp.
__global__ void wide(const float* a, float4* c, int what) {
  extern __shared__ __align__(16) float4 dynamic[];
  dynamic[threadIdx.x] = reinterpret_cast<const float4*>(a)[threadIdx.x];
  dynamic[threadIdx.x + 32] = reinterpret_cast<const float4*>(a)[threadIdx.x + 32];
  __syncthreads();
  const int lane = threadIdx.x;
  const int at = what == 0 ? lane : what == 1 ? 2 * lane : what == 2 ? 5 : lane / 16;
  c[blockIdx.x * 32 + lane] = dynamic[at];
}

// Lane l makes l % 4 + 1 passes of the inner loop, in each of two passes of the outer one.
__global__ void ragged(const float* a, float* c) {
  float sum = 0;
#pragma unroll 1
  for (int outer = 0; outer < 2; ++outer) {
#pragma unroll 1
    for (int inner = 0; inner <= static_cast<int>(threadIdx.x) % 4; ++inner)
      sum += a[outer * 256 + inner * 32 + threadIdx.x];
    sum *= c[outer * 32 + threadIdx.x];
  }
  c[threadIdx.x] = sum;
}

// Half of the warp goes each way, and together again.
__global__ void two_ways(const float* a, float* c) {
  float x;
  if (threadIdx.x % 2 == 0)
    x = a[threadIdx.x];
  else
    x = a[threadIdx.x + 64];
  c[threadIdx.x] = x;
}

// Registers: an array that loops of a constant length index, and a struct that is passed on.
struct Pair {
  float x, y;
};
__device__ __noinline__ float sum_of(const Pair* pair) { return pair->x + pair->y; }
__global__ void registers(const float* a, float* c) {
  float r[4];
  for (int i = 0; i < 4; ++i) r[i] = a[i * 32 + threadIdx.x];
  const Pair pair{r[0] + r[1], r[2] + r[3]};
  c[threadIdx.x] = sum_of(&pair);
}

// 8 results of a thread from 2 + 4 reads of shared memory.
__global__ void outer_product(const float* a, float* c) {
  __shared__ float rows[64], columns[128];
  rows[threadIdx.x] = a[threadIdx.x];
  rows[threadIdx.x + 32] = a[threadIdx.x + 32];
  for (int i = 0; i < 4; ++i) columns[threadIdx.x + 32 * i] = a[threadIdx.x + 32 * i];
  __syncthreads();
  float sum[2][4] = {};
#pragma unroll
  for (int i = 0; i < 2; ++i)
#pragma unroll
    for (int j = 0; j < 4; ++j) sum[i][j] += rows[threadIdx.x + 32 * i] * columns[threadIdx.x + 32 * j];
  for (int i = 0; i < 2; ++i)
    for (int j = 0; j < 4; ++j) c[(i * 4 + j) * 32 + threadIdx.x] = sum[i][j];
}

// Reductions by exchanges and by atomic operations, of two warps.
__global__ void reduction(const float* a, float* c) {
  __shared__ float parts[2];
  float x = a[threadIdx.x];
  for (int distance = 16; distance > 0; distance /= 2) x += __shfl_down_sync(0xffffffff, x, distance);
  if (threadIdx.x % 32 == 0) parts[threadIdx.x / 32] = x;
  if (__syncthreads_or(threadIdx.x == 63)) {
    const unsigned votes = __ballot_sync(0xffffffff, threadIdx.x % 2 == 0);
    if (threadIdx.x == 0) c[1] = parts[0] + parts[1];
    if (threadIdx.x == 0) c[2] = static_cast<float>(votes == 0x55555555u);
  }
  if (threadIdx.x == 0) c[0] = 0;
  __syncthreads();
  atomicAdd(&c[0], 1.0f);
}

extern "C" void solve(const float* A, const float* B, float* C, int M, int N, int K) {
  (void)B, (void)M, (void)N, (void)K; // A has 64x64 elements and C as many
  cudaStream_t stream;
  cudaStreamCreate(&stream);
  cudaMemset(C, 0, 4096);
  coalesced<<<1, 32>>>(A, C);
  far_apart<<<1, 32, 0, stream>>>(A, C);
  misaligned<<<dim3(1), dim3(32, 1, 1)>>>(A, C);
  broadcast<<<1, 32>>>(A, C);
  vectors<<<1, 32>>>(A, C);
  made_vectors<<<1, 32>>>(A, C);
  doubles<<<1, 32>>>(reinterpret_cast<const double*>(A), reinterpret_cast<double*>(C));
  some_lanes<<<1, 32>>>(A, C, 9);
  strided<3, 5><<<1, 32>>>(A, C);
  banks_0<<<1, 32>>>(A, C);
  banks_1<<<1, 32>>>(A, C);
  banks_2<<<1, 32>>>(A, C);
  banks_32<<<1, 32>>>(A, C);
  banks_33<<<1, 32>>>(A, C);
  copied<<<1, 32>>>(A, C);
  for (int what = 0; what < 4; ++what)
    wide<<<what + 1, 32, 64 * sizeof(float4)>>>(A, reinterpret_cast<float4*>(C), what);
  ragged<<<1, 32>>>(A, C);
  two_ways<<<1, 32>>>(A, C);
  registers<<<1, 32>>>(A, C);
  outer_product<<<1, 32>>>(A, C);
  reduction<<<1, 64>>>(A, C + 128);
  cudaStreamSynchronize(stream);
  cudaStreamDestroy(stream);
}
