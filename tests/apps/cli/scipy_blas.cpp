/// A library whose C interface has the prefix of scipy-openblas. It supports row-major products without transposes.

namespace {

template <class T>
void multiply(int m, int n, int k, T alpha, const T* a, int lda, const T* b, int ldb, T beta, T* c, int ldc) {
  for (int i = 0; i < m; ++i)
    for (int j = 0; j < n; ++j) {
      T sum{0};
      for (int p = 0; p < k; ++p) sum += a[i * lda + p] * b[p * ldb + j];
      c[i * ldc + j] = beta == 0 ? alpha * sum : alpha * sum + beta * c[i * ldc + j];
    }
}

} // namespace

extern "C" void scipy_cblas_sgemm(int, int, int, int m, int n, int k, float alpha, const float* a, int lda,
                                  const float* b, int ldb, float beta, float* c, int ldc) {
  multiply(m, n, k, alpha, a, lda, b, ldb, beta, c, ldc);
}

extern "C" void scipy_cblas_dgemm(int, int, int, int m, int n, int k, double alpha, const double* a, int lda,
                                  const double* b, int ldb, double beta, double* c, int ldc) {
  multiply(m, n, k, alpha, a, lda, b, ldb, beta, c, ldc);
}
