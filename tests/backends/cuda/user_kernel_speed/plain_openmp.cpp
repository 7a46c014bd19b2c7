#include "plain_openmp.hpp"

namespace handwritten {

double openmp_sum(const double* x, tessera::Index n, int threads) {
  double sum = 0;
#pragma omp parallel for num_threads(threads) reduction(+ : sum)
  for (tessera::Index i = 0; i < n; ++i) sum += x[i];
  return sum;
}

} // namespace handwritten
