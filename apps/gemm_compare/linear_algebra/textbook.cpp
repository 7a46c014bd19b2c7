#include "textbook.hpp"

#include <algorithm>
#include <cmath>
#include <vector>

namespace tessera::compare_app::textbook {
namespace {

constexpr Index block = 64; ///< columns

/// C := C − A·B, m×n over k terms.
template <class T>
void subtract_product(Index m, Index n, Index k, const T* a, Index lda, const T* b, Index ldb, T* c, Index ldc) {
  for (Index i = 0; i < m; ++i)
    for (Index p = 0; p < k; ++p) {
      const T factor = a[i * lda + p];
      for (Index j = 0; j < n; ++j) c[i * ldc + j] -= factor * b[p * ldb + j];
    }
}

/// The lower triangle of C := C − A·Bᵀ; C has n columns and its first row is on the diagonal, or below it.
template <class T>
void subtract_rows_product(Index m, Index n, Index k, const T* a, const T* b, Index ld, T* c) {
  for (Index i = 0; i < m; ++i)
    for (Index j = 0; j < n; ++j) {
      T sum = 0;
      for (Index p = 0; p < k; ++p) sum += a[i * ld + p] * b[j * ld + p];
      c[i * ld + j] -= sum;
    }
}

/// Factors columns 0 … width − 1 of m rows, whose sums over earlier columns are subtracted already.
template <class T>
void factor_columns(Index m, Index width, T* a, Index ld) {
  for (Index j = 0; j < width; ++j) {
    for (Index i = j; i < m; ++i) {
      T sum = a[i * ld + j];
      for (Index k = 0; k < j; ++k) sum -= a[i * ld + k] * a[j * ld + k];
      a[i * ld + j] = i == j ? std::sqrt(sum) : sum / a[j * ld + j];
    }
  }
}

/// Eliminates `width` columns from `first` on. Rows change places as wholes.
template <class T>
void eliminate(Index n, Index first, Index width, T* a, Index* pivots) {
  for (Index j = first; j < first + width; ++j) {
    Index pivot = j;
    for (Index i = j + 1; i < n; ++i)
      if (std::abs(a[i * n + j]) > std::abs(a[pivot * n + j])) pivot = i;
    pivots[j] = pivot;
    if (pivot != j) std::swap_ranges(a + j * n, a + (j + 1) * n, a + pivot * n);
    for (Index i = j + 1; i < n; ++i) {
      const T factor = a[i * n + j] /= a[j * n + j];
      for (Index k = j + 1; k < first + width; ++k) a[i * n + k] -= factor * a[j * n + k];
    }
  }
}

} // namespace

template <class T>
void syrk(Index n, const T* a, T* c) {
  for (Index i = 0; i < n; ++i)
    for (Index j = 0; j <= i; ++j) {
      T sum = 0;
      for (Index k = 0; k < n; ++k) sum += a[i * n + k] * a[j * n + k];
      c[i * n + j] = sum;
    }
}

template <class T>
void substitute(Index n, Index count, const T* l, T* x) {
  for (Index i = 0; i < n; ++i) {
    subtract_product(1, count, i, l + i * n, n, x, count, x + i * count, count);
    for (Index j = 0; j < count; ++j) x[i * count + j] /= l[i * n + i];
  }
}

template <class T>
void cholesky_unblocked(Index n, T* a) {
  factor_columns(n, n, a, n);
}

template <class T>
void cholesky_left_looking(Index n, T* a) {
  for (Index j = 0; j < n; j += block) {
    const Index width = std::min(block, n - j);
    subtract_rows_product(n - j, width, j, a + j * n, a + j * n, n, a + j * n + j);
    factor_columns(n - j, width, a + j * n + j, n);
  }
}

template <class T>
void cholesky_right_looking(Index n, T* a) {
  for (Index j = 0; j < n; j += block) {
    const Index width = std::min(block, n - j), end = j + width;
    factor_columns(n - j, width, a + j * n + j, n);
    for (Index i = end; i < n; ++i)
      subtract_rows_product(1, i + 1 - end, width, a + i * n + j, a + end * n + j, n, a + i * n + end);
  }
}

template <class T>
void lu_unblocked(Index n, T* a, Index* pivots) {
  eliminate(n, 0, n, a, pivots);
}

template <class T>
void lu_right_looking(Index n, T* a, Index* pivots) {
  for (Index j = 0; j < n; j += block) {
    const Index width = std::min(block, n - j), end = j + width;
    eliminate(n, j, width, a, pivots);
    for (Index i = j + 1; i < end; ++i)
      subtract_product(1, n - end, i - j, a + i * n + j, n, a + j * n + end, n, a + i * n + end, n);
    subtract_product(n - end, n - end, width, a + end * n + j, n, a + j * n + end, n, a + end * n + end, n);
  }
}

template <class T>
void qr_unblocked(Index n, T* a, T* tau) {
  std::vector<T> w(static_cast<std::size_t>(n));
  for (Index j = 0; j < n; ++j) {
    T squares = 0;
    for (Index i = j + 1; i < n; ++i) squares += a[i * n + j] * a[i * n + j];
    tau[j] = 0;
    if (squares == 0) continue; // nothing to clear
    T& alpha = a[j * n + j];
    const T beta = -std::copysign(std::sqrt(alpha * alpha + squares), alpha);
    tau[j] = (beta - alpha) / beta;
    for (Index i = j + 1; i < n; ++i) a[i * n + j] /= alpha - beta;
    alpha = beta;
    for (Index k = j + 1; k < n; ++k) w[static_cast<std::size_t>(k)] = a[j * n + k];
    for (Index i = j + 1; i < n; ++i)
      for (Index k = j + 1; k < n; ++k) w[static_cast<std::size_t>(k)] += a[i * n + j] * a[i * n + k];
    for (Index k = j + 1; k < n; ++k) w[static_cast<std::size_t>(k)] *= tau[j];
    for (Index k = j + 1; k < n; ++k) a[j * n + k] -= w[static_cast<std::size_t>(k)];
    for (Index i = j + 1; i < n; ++i)
      for (Index k = j + 1; k < n; ++k) a[i * n + k] -= a[i * n + j] * w[static_cast<std::size_t>(k)];
  }
}

template void syrk(Index, const float*, float*);
template void syrk(Index, const double*, double*);
template void substitute(Index, Index, const float*, float*);
template void substitute(Index, Index, const double*, double*);
template void cholesky_unblocked(Index, float*);
template void cholesky_unblocked(Index, double*);
template void cholesky_left_looking(Index, float*);
template void cholesky_left_looking(Index, double*);
template void cholesky_right_looking(Index, float*);
template void cholesky_right_looking(Index, double*);
template void lu_unblocked(Index, float*, Index*);
template void lu_unblocked(Index, double*, Index*);
template void lu_right_looking(Index, float*, Index*);
template void lu_right_looking(Index, double*, Index*);
template void qr_unblocked(Index, float*, float*);
template void qr_unblocked(Index, double*, double*);

} // namespace tessera::compare_app::textbook
