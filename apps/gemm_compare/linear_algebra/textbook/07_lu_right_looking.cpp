/// A block of columns is eliminated by itself; its rows of U are solved for, and then the block is subtracted from what
/// is right of it and below as one product.
///
/// The rest of the matrix is read and written once for each block, no longer once for each column. The pivots are the
/// unblocked way's, because a column has all its subtractions behind it when its pivot is chosen.

#include <algorithm>
#include <complex>

#include "product.hpp"
#include "textbook.hpp"

namespace tessera::compare_app::textbook {

template <class T>
void lu_right_looking(Index n, T* a, Index* pivots) {
  for (Index j = 0; j < n; j += block) {
    const Index width = std::min(block, n - j), end = j + width;
    lu_unblocked(n, j, width, a, pivots);
    for (Index i = j + 1; i < end; ++i) // U's rows: substitution with ones on the diagonal
      subtract_product(1, n - end, i - j, a + i * n + j, n, a + j * n + end, n, a + i * n + end, n);
    subtract_product(n - end, n - end, width, a + end * n + j, n, a + j * n + end, n, a + end * n + end, n);
  }
}

template void lu_right_looking(Index, float*, Index*);
template void lu_right_looking(Index, double*, Index*);
template void lu_right_looking(Index, std::complex<float>*, Index*);
template void lu_right_looking(Index, std::complex<double>*, Index*);

} // namespace tessera::compare_app::textbook
