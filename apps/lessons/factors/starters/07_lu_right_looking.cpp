/// The unblocked way, for the whole matrix.

#include <algorithm>

#include "product.hpp"
#include "textbook.hpp"

namespace tessera::compare_app::textbook {

/// A is n×n. `block` is the width of a block of columns.
template <class T>
void lu_right_looking(Index n, T* a, Index* pivots) {
  lu_unblocked(n, 0, n, a, pivots);
}

template void lu_right_looking(Index, float*, Index*);
template void lu_right_looking(Index, double*, Index*);

} // namespace tessera::compare_app::textbook
