/// The unblocked way, for the whole matrix.

#include <algorithm>
#include <vector>

#include "product.hpp"
#include "textbook.hpp"

namespace tessera::compare_app::textbook {

/// A is n×n, and becomes L below its diagonal. `block` is the width of a block of columns.
template <class T>
void cholesky_left_looking(Index n, T* a) {
  cholesky_unblocked(n, n, a, n);
}

template void cholesky_left_looking(Index, float*);
template void cholesky_left_looking(Index, double*);

} // namespace tessera::compare_app::textbook
