#pragma once

/// A plain and right product for the kernels of this folder; a thread computes one element. A is m×k, B is k×n, C is
/// m×n; no matrix is padded. The grid has a row of blocks for each row of C.
__global__ void multiply(const float* a, const float* b, float* c, int m, int k, int n) {
  const int j = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x);
  const int i = static_cast<int>(blockIdx.y);
  if (j >= n) return;
  float sum = 0;
  for (int p = 0; p < k; ++p) sum += a[i * k + p] * b[p * n + j];
  c[i * n + j] = sum;
}
