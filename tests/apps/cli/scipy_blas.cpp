/// A library whose C interface has the prefix of scipy-openblas. It supports row-major products without transposes, and
/// two factorisations of Hermitian matrices, lower triangles by columns: zpotrf, and cpotrf with a mistake.

#include <cmath>
#include <complex>
#include <cstddef>

namespace {

template <class T>
void factor(int n, std::complex<T>* a, int lda, bool conjugates) {
  const auto at = [&](int i, int j) -> std::complex<T>& { return a[j * lda + i]; };
  for (int j = 0; j < n; ++j)
    for (int i = j; i < n; ++i) {
      std::complex<T> sum = at(i, j);
      for (int k = 0; k < j; ++k) sum -= at(i, k) * (conjugates ? std::conj(at(j, k)) : at(j, k));
      at(i, j) = i == j ? std::complex<T>(std::sqrt(sum.real())) : sum / at(j, j).real();
    }
}

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

extern "C" void scipy_zpotrf_(const char*, const int* n, std::complex<double>* a, const int* lda, int* info,
                              std::size_t) {
  factor(*n, a, *lda, true);
  *info = 0;
}

extern "C" void scipy_cpotrf_(const char*, const int* n, std::complex<float>* a, const int* lda, int* info,
                              std::size_t) {
  factor(*n, a, *lda, false); // the mistake
  *info = 0;
}

extern "C" void scipy_cblas_dgemm(int, int, int, int m, int n, int k, double alpha, const double* a, int lda,
                                  const double* b, int ldb, double beta, double* c, int ldc) {
  multiply(m, n, k, alpha, a, lda, b, ldb, beta, c, ldc);
}
