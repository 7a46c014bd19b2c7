/// Is honest, with --abi cblas, for row-major matrices only.
extern "C" void cblas_dgemm(int, int trans_a, int trans_b, int m, int n, int k, double alpha, const double* a, int lda,
                            const double* b, int ldb, double beta, double* c, int ldc) {
  for (int i = 0; i < m; ++i)
    for (int j = 0; j < n; ++j) {
      double sum = 0;
      for (int p = 0; p < k; ++p)
        sum += (trans_a == 112 ? a[p * lda + i] : a[i * lda + p]) * (trans_b == 112 ? b[j * ldb + p] : b[p * ldb + j]);
      c[i * ldc + j] = beta == 0 ? alpha * sum : alpha * sum + beta * c[i * ldc + j];
    }
}
