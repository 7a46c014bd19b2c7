/// The loops over L's elements, without what makes an element of L out of an element of A.

#include <cmath>

#include "textbook.hpp"

namespace tessera::compare_app::textbook {

/// A has m rows, `ld` elements from row to row, and `width` columns of it become columns of L.
template <class T>
void cholesky_unblocked(Index m, Index width, T* a, Index ld) {
  for (Index j = 0; j < width; ++j)
    for (Index i = j; i < m; ++i) {
      const T sum = a[i * ld + j]; // less what the columns before j contribute
      a[i * ld + j] = sum;
    }
}

template void cholesky_unblocked(Index, Index, float*, Index);
template void cholesky_unblocked(Index, Index, double*, Index);

} // namespace tessera::compare_app::textbook
