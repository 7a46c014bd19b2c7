#pragma once

/// Adds a tile's sums of one segment of k to the sums of earlier segments, and stores C after the last one, as
/// backends/cpu/gemm/common/update.hpp does. Lessons have no epilogue.

#include <cmath>

#include <tessera/backend/kernel.hpp>

namespace tessera::cpu {

template <class T>
struct Update {
  bool first; ///< no earlier segment has sums
  bool last;  ///< this segment is the last one, so that C gets its result
  T alpha, beta;
  const GemmCall* call = nullptr;
};

template <class T>
void apply(const Update<T>& update, Index rows, Index cols, const T* tile, Index ld_tile, T* s, Index lds, T* c,
           Index ldc) {
  for (Index i = 0; i < rows; ++i)
    for (Index j = 0; j < cols; ++j) {
      const T sum = update.first ? tile[i * ld_tile + j] : s[i * lds + j] + tile[i * ld_tile + j];
      if (!update.last)
        s[i * lds + j] = sum;
      else
        c[i * ldc + j] =
            update.beta == T{0} ? update.alpha * sum : std::fma(update.beta, c[i * ldc + j], update.alpha * sum);
    }
}

} // namespace tessera::cpu
