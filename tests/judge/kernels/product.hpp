#pragma once

/// What the kernels of this folder share: the product itself, right and plain. A is m×k, B k×n, C m×n, rows end to end.
/// Their signature is that of --abi leetgpu in the letters of everything else here: solve(a, b, c, m, k, n).

/// The first rows × cols elements of C.
inline void product(const float* a, const float* b, float* c, int n, int k, int rows, int cols) {
  for (int i = 0; i < rows; ++i)
    for (int j = 0; j < cols; ++j) {
      float sum = 0;
      for (int p = 0; p < k; ++p) sum += a[i * k + p] * b[p * n + j];
      c[i * n + j] = sum;
    }
}
/// All m × n.
inline void product(const float* a, const float* b, float* c, int m, int n, int k) { product(a, b, c, n, k, m, n); }
