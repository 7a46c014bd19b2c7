/// The left-looking way under the name of the right-looking one.

#include <algorithm>
#include <vector>

#include "product.hpp"
#include "textbook.hpp"

namespace tessera::compare_app::textbook {

template <class T>
void cholesky_right_looking(Index n, T* a) {
  std::vector<T> rows(static_cast<std::size_t>(block * n));
  for (Index j = 0; j < n; j += block) {
    const Index width = std::min(block, n - j);
    copy_conjugate_transpose(width, j, a + j * n, n, rows.data(), width);
    subtract_product(n - j, width, j, a + j * n, n, rows.data(), width, a + j * n + j, n);
    cholesky_unblocked(n - j, width, a + j * n + j, n);
  }
}

template void cholesky_right_looking(Index, float*);
template void cholesky_right_looking(Index, double*);

} // namespace tessera::compare_app::textbook
