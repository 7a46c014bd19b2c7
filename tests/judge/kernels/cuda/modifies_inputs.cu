// Adds one to an element of A. The verdict must be "modifies its inputs", A(0, 0).
__global__ void multiply(const float* a, const float* b, float* c, int m, int k, int n) {
  const int j = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x);
  const int i = static_cast<int>(blockIdx.y);
  if (j >= n) return;
  float sum = 0;
  for (int p = 0; p < k; ++p) sum += a[i * k + p] * b[p * n + j];
  c[i * n + j] = sum;
}
__global__ void change(float* a) { *a += 1; }

extern "C" void solve(const float* a, const float* b, float* c, int m, int k, int n) {
  multiply<<<dim3((n + 63) / 64, m), 64>>>(a, b, c, m, k, n);
  change<<<1, 1>>>(const_cast<float*>(a));
}
