/// A block of columns looks to the left: what all finished columns contribute to it is subtracted as one product, and
/// then the block is factored by itself.
///
/// All but a small part of the work is now a product. A block of L is written once, when it is finished, and all that
/// lies left of it is read again for each block.

#include <algorithm>
#include <complex>
#include <vector>

#include "product.hpp"
#include "textbook.hpp"

namespace tessera::compare_app::textbook {

template <class T>
void cholesky_left_looking(Index n, T* a) {
  std::vector<T> rows(static_cast<std::size_t>(block * n));
  for (Index j = 0; j < n; j += block) {
    const Index width = std::min(block, n - j);
    copy_conjugate_transpose(width, j, a + j * n, n, rows.data(), width);
    subtract_product(n - j, width, j, a + j * n, n, rows.data(), width, a + j * n + j, n);
    cholesky_unblocked(n - j, width, a + j * n + j, n);
  }
}

template void cholesky_left_looking(Index, float*);
template void cholesky_left_looking(Index, double*);
template void cholesky_left_looking(Index, std::complex<float>*);
template void cholesky_left_looking(Index, std::complex<double>*);

} // namespace tessera::compare_app::textbook
