/// Cholesky's factor, column by column: an element of L is an element of A less a row of L times another row of L, as
/// far as both are known, and divided by the diagonal.
///
/// All of the work is in sums along two rows. A row is read once for each column, from wherever it lies.

#include <cmath>
#include <complex>

#include "numbers.hpp"
#include "textbook.hpp"

namespace tessera::compare_app::textbook {

template <class T>
void cholesky_unblocked(Index m, Index width, T* a, Index ld) {
  for (Index j = 0; j < width; ++j)
    for (Index i = j; i < m; ++i) {
      T sum = a[i * ld + j];
      for (Index k = 0; k < j; ++k) sum -= product(a[i * ld + k], conjugate(a[j * ld + k]));
      a[i * ld + j] = i == j ? T(std::sqrt(std::real(sum))) : sum / std::real(a[j * ld + j]);
    }
}

template void cholesky_unblocked(Index, Index, float*, Index);
template void cholesky_unblocked(Index, Index, double*, Index);
template void cholesky_unblocked(Index, Index, std::complex<float>*, Index);
template void cholesky_unblocked(Index, Index, std::complex<double>*, Index);

} // namespace tessera::compare_app::textbook
