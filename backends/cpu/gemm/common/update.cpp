#include "update.hpp"

#include <cmath>

#include "reference/elementwise/epilogue.hpp"
#include "reference/fma_clones.hpp"

namespace tessera::cpu {
namespace {

// Both templates become parts of the clones below: by themselves they would call the C library for each multiply-add.

/// Stores one row. `sum(j)` is the row's j-th sum of all segments so far.
template <class T, class Sum>
[[gnu::always_inline]] inline void update_row(const Update<T>& update, Index cols, Sum sum, T* s, T* c) {
  const T alpha = update.alpha, beta = update.beta;
  if (!update.last)
    for (Index j = 0; j < cols; ++j) s[j] = sum(j);
  else if (beta == T{0})
    for (Index j = 0; j < cols; ++j) c[j] = alpha * sum(j);
  else
    for (Index j = 0; j < cols; ++j) c[j] = std::fma(beta, c[j], alpha * sum(j));
}

template <class T>
[[gnu::always_inline]] inline void update_tile(const Update<T>& update, Index rows, Index cols, const T* tile,
                                               Index ld_tile, T* s, Index lds, T* c, Index ldc) {
  T* const tile_of_c = c;
  for (Index i = 0; i < rows; ++i, tile += ld_tile, s += lds, c += ldc) {
    if (update.first)
      update_row(
          update, cols, [&](Index j) { return tile[j]; }, s, c);
    else
      update_row(
          update, cols, [&](Index j) { return s[j] + tile[j]; }, s, c);
  }
  if (!update.last || update.call == nullptr || update.call->epilogue.empty()) return;
  const Index offset = tile_of_c - static_cast<const T*>(update.call->c);
  for (Index i = 0; i < rows; ++i) {
    T* const row = tile_of_c + i * ldc;
    host::apply_epilogue_to_row(update.call->epilogue, offset / ldc + i, offset % ldc, cols, row, row);
  }
}

} // namespace

// Only functions that are not templates can be cloned.
TESSERA_FMA_CLONES void apply(const Update<float>& update, Index rows, Index cols, const float* tile, Index ld_tile,
                              float* s, Index lds, float* c, Index ldc) {
  update_tile(update, rows, cols, tile, ld_tile, s, lds, c, ldc);
}
TESSERA_FMA_CLONES void apply(const Update<double>& update, Index rows, Index cols, const double* tile, Index ld_tile,
                              double* s, Index lds, double* c, Index ldc) {
  update_tile(update, rows, cols, tile, ld_tile, s, lds, c, ldc);
}

} // namespace tessera::cpu
