/// Gauss's elimination with partial pivoting, column by column: the row with the largest element comes to the diagonal,
/// and multiples of it are subtracted from all rows below.
///
/// Each column changes everything right of it: the whole rest of the matrix is read and written once for each column,
/// for two operations an element.

#include <algorithm>
#include <complex>

#include "numbers.hpp"
#include "textbook.hpp"

namespace tessera::compare_app::textbook {

template <class T>
void lu_unblocked(Index n, Index first, Index width, T* a, Index* pivots) {
  for (Index j = first; j < first + width; ++j) {
    Index pivot = j;
    for (Index i = j + 1; i < n; ++i)
      if (size(a[i * n + j]) > size(a[pivot * n + j])) pivot = i;
    pivots[j] = pivot;
    if (pivot != j) std::swap_ranges(a + j * n, a + (j + 1) * n, a + pivot * n); // rows as wholes
    for (Index i = j + 1; i < n; ++i) {
      const T factor = a[i * n + j] /= a[j * n + j];
      for (Index k = j + 1; k < first + width; ++k) a[i * n + k] -= product(factor, a[j * n + k]);
    }
  }
}

template void lu_unblocked(Index, Index, Index, float*, Index*);
template void lu_unblocked(Index, Index, Index, double*, Index*);
template void lu_unblocked(Index, Index, Index, std::complex<float>*, Index*);
template void lu_unblocked(Index, Index, Index, std::complex<double>*, Index*);

} // namespace tessera::compare_app::textbook
