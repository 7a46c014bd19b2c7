/// A block of columns is factored, and looks to the right: its product with itself is subtracted from everything that
/// is not finished yet.
///
/// The work is the left-looking one's, in another order. A product is over as many terms as the block has columns, and
/// what is right of it is read and written again for each block. Rows of what is right do not depend on each other, so
/// that many threads can share them.

#include <algorithm>
#include <complex>
#include <vector>

#include "product.hpp"
#include "textbook.hpp"

namespace tessera::compare_app::textbook {

template <class T>
void cholesky_right_looking(Index n, T* a) {
  std::vector<T> rows(static_cast<std::size_t>(block * n));
  for (Index j = 0; j < n; j += block) {
    const Index width = std::min(block, n - j), end = j + width;
    cholesky_unblocked(n - j, width, a + j * n + j, n);
    copy_conjugate_transpose(n - end, width, a + end * n + j, n, rows.data(), n - end);
    for (Index i = end; i < n; ++i) // as far as the diagonal
      subtract_product(1, i + 1 - end, width, a + i * n + j, n, rows.data(), n - end, a + i * n + end, n);
  }
}

template void cholesky_right_looking(Index, float*);
template void cholesky_right_looking(Index, double*);
template void cholesky_right_looking(Index, std::complex<float>*);
template void cholesky_right_looking(Index, std::complex<double>*);

} // namespace tessera::compare_app::textbook
