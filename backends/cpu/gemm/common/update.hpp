#pragma once

/// What becomes of a tile's sums of one segment of k: waiting with earlier segments' sums, or alpha, beta and C.

#include <tessera/backend/kernel.hpp>

namespace tessera::cpu {

template <class T>
struct Update {
  bool first; ///< there is no earlier segment
  bool last;  ///< C gets its result now
  T alpha, beta;
  const GemmCall* call = nullptr; ///< whose epilogue comes last; null: none
};

/// May the sums of a call's only segment be stored as they are?
inline bool stores_plain_sums(const GemmCall& call) {
  return call.alpha == 1.0 && call.beta == 0.0 && call.epilogue.empty();
}

/// rows×cols sums at `tile`; s is where earlier segments' sums are, and where this one's go if it is not the last.
void apply(const Update<float>& update, Index rows, Index cols, const float* tile, Index ld_tile, float* s, Index lds,
           float* c, Index ldc);
void apply(const Update<double>& update, Index rows, Index cols, const double* tile, Index ld_tile, double* s,
           Index lds, double* c, Index ldc);

} // namespace tessera::cpu
