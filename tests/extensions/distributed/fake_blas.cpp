/// A BLAS that a program has loaded before Tessera's. Its dgemm_ adds from the last product to the first one, or in the
/// contract's order where FAKE_BLAS is `ascending`.

#include <cmath>
#include <cstdlib>
#include <cstring>

extern "C" __attribute__((visibility("default"))) void dgemm_(const char* op_a, const char* op_b, const int* m,
                                                              const int* n, const int* k, const double* alpha,
                                                              const double* a, const int* lda, const double* b,
                                                              const int* ldb, const double* beta, double* c,
                                                              const int* ldc) {
  const char* order = std::getenv("FAKE_BLAS");
  const bool ascending = order != nullptr && std::strcmp(order, "ascending") == 0;
  const auto element = [](const double* x, int ld, char op, int i, int j) {
    return op == 'N' ? x[i + static_cast<long>(j) * ld] : x[j + static_cast<long>(i) * ld];
  };
  for (int j = 0; j < *n; ++j)
    for (int i = 0; i < *m; ++i) {
      double sum = 0;
      for (int turn = 0; turn < *k; ++turn) {
        const int l = ascending ? turn : *k - 1 - turn;
        sum = std::fma(element(a, *lda, *op_a, i, l), element(b, *ldb, *op_b, l, j), sum);
      }
      double& to = c[i + static_cast<long>(j) * *ldc];
      to = *beta == 0 ? *alpha * sum : std::fma(*beta, to, *alpha * sum);
    }
}
