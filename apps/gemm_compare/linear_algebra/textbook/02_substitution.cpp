/// Forward substitution: a row of X is the right-hand side less the rows before it, each times an element of L, and
/// divided by the diagonal.
///
/// The rows depend on each other, one after the other. With many right-hand sides what is subtracted from a row is a
/// product of a row of L by a matrix, and all columns of X go along side by side.

#include <complex>

#include "product.hpp"
#include "textbook.hpp"

namespace tessera::compare_app::textbook {

template <class T>
void substitution(Index n, Index count, const T* l, T* x) {
  for (Index i = 0; i < n; ++i) {
    subtract_product(1, count, i, l + i * n, n, x, count, x + i * count, count);
    for (Index j = 0; j < count; ++j) x[i * count + j] /= l[i * n + i];
  }
}

template void substitution(Index, Index, const float*, float*);
template void substitution(Index, Index, const double*, double*);
template void substitution(Index, Index, const std::complex<float>*, std::complex<float>*);
template void substitution(Index, Index, const std::complex<double>*, std::complex<double>*);

} // namespace tessera::compare_app::textbook
