// A right product with tiles in shared memory, as a learner writes it; K columns of C, N summands.
#define TILE 16

__global__ void tiled(const float* A, const float* B, float* C, int M, int N, int K) {
  __shared__ float As[TILE][TILE], Bs[TILE][TILE + 1];
  int row = blockIdx.y * TILE + threadIdx.y, col = blockIdx.x * TILE + threadIdx.x;
  float sum = 0.0f;
  for (int t = 0; t < N; t += TILE) {
    As[threadIdx.y][threadIdx.x] = row < M && t + threadIdx.x < N ? A[row * N + t + threadIdx.x] : 0.0f;
    Bs[threadIdx.y][threadIdx.x] = t + threadIdx.y < N && col < K ? B[(t + threadIdx.y) * K + col] : 0.0f;
    __syncthreads();
    for (int p = 0; p < TILE; ++p) sum += As[threadIdx.y][p] * Bs[p][threadIdx.x];
    __syncthreads();
  }
  if (row < M && col < K) C[row * K + col] = sum;
}

extern "C" void solve(const float* A, const float* B, float* C, int M, int N, int K) {
  dim3 block(TILE, TILE), grid((K + TILE - 1) / TILE, (M + TILE - 1) / TILE);
  tiled<<<grid, block>>>(A, B, C, M, N, K);
  cudaDeviceSynchronize();
}

int main() { return 0; }
