/// The product of a matrix with its own transpose: half of it is the other half's mirror, so that a row of A is
/// multiplied by the rows up to itself alone.
///
/// Both operands are read along rows. Each element is one chain of additions, in which an addition waits for the one
/// before it.

#include <complex>

#include "numbers.hpp"
#include "textbook.hpp"

namespace tessera::compare_app::textbook {

template <class T>
void symmetric_product(Index n, const T* a, bool conjugates, T* c) {
  for (Index i = 0; i < n; ++i)
    for (Index j = 0; j <= i; ++j) {
      T sum = 0;
      for (Index k = 0; k < n; ++k) sum += product(a[i * n + k], conjugates ? conjugate(a[j * n + k]) : a[j * n + k]);
      c[i * n + j] = sum;
    }
}

template void symmetric_product(Index, const float*, bool, float*);
template void symmetric_product(Index, const double*, bool, double*);
template void symmetric_product(Index, const std::complex<float>*, bool, std::complex<float>*);
template void symmetric_product(Index, const std::complex<double>*, bool, std::complex<double>*);

} // namespace tessera::compare_app::textbook
