/// Gauss's elimination that takes each pivot as it comes.

#include <algorithm>
#include <cmath>

#include "textbook.hpp"

namespace tessera::compare_app::textbook {

/// A is n×n, and its columns first … first + width − 1 become columns of L and U.
template <class T>
void lu_unblocked(Index n, Index first, Index width, T* a, Index* pivots) {
  for (Index j = first; j < first + width; ++j) {
    pivots[j] = j; // row j changes places with this row
    for (Index i = j + 1; i < n; ++i) {
      const T factor = a[i * n + j] /= a[j * n + j];
      for (Index k = j + 1; k < first + width; ++k) a[i * n + k] -= factor * a[j * n + k];
    }
  }
}

template void lu_unblocked(Index, Index, Index, float*, Index*);
template void lu_unblocked(Index, Index, Index, double*, Index*);

} // namespace tessera::compare_app::textbook
