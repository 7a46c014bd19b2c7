// Is honest, but runs on a separate non-blocking stream and does not wait for it. It must pass, and its time must not
// be near zero.
__global__ void multiply(const float* a, const float* b, float* c, int m, int k, int n) {
  const int j = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x);
  const int i = static_cast<int>(blockIdx.y);
  if (j >= n) return;
  float sum = 0;
  for (int p = 0; p < k; ++p) sum += a[i * k + p] * b[p * n + j];
  c[i * n + j] = sum;
}

extern "C" void solve(const float* a, const float* b, float* c, int m, int k, int n) {
  static cudaStream_t stream = nullptr;
  if (stream == nullptr) cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking);
  multiply<<<dim3((n + 63) / 64, m), 64, 0, stream>>>(a, b, c, m, k, n);
}
