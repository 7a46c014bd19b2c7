// Writes one element too many. The verdict must be "writes out of bounds", 0 bytes behind the end of C.
__global__ void multiply(const float* a, const float* b, float* c, int m, int k, int n) {
  const int j = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x);
  const int i = static_cast<int>(blockIdx.y);
  if (i == 0 && j == 0) c[static_cast<long long>(m) * n] = 0;
  if (j >= n) return;
  float sum = 0;
  for (int p = 0; p < k; ++p) sum += a[i * k + p] * b[p * n + j];
  c[i * n + j] = sum;
}

extern "C" void solve(const float* a, const float* b, float* c, int m, int k, int n) {
  multiply<<<dim3((n + 63) / 64, m), 64>>>(a, b, c, m, k, n);
}
