#pragma once

/// A plain and right product for the kernels of this folder. A is m×k, B is k×n, C is m×n; no matrix is padded. The
/// kernels have the signature of --abi leetgpu, solve(a, b, c, m, k, n), with Tessera's names of the sizes.

/// Computes the first rows × cols elements of C.
inline void product(const float* a, const float* b, float* c, int n, int k, int rows, int cols) {
  for (int i = 0; i < rows; ++i)
    for (int j = 0; j < cols; ++j) {
      float sum = 0;
      for (int p = 0; p < k; ++p) sum += a[i * k + p] * b[p * n + j];
      c[i * n + j] = sum;
    }
}
/// Computes all of C.
inline void product(const float* a, const float* b, float* c, int m, int n, int k) { product(a, b, c, n, k, m, n); }
