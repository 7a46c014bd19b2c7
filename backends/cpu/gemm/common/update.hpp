#pragma once

/// Adds a tile's sums of one segment of k to the sums of earlier segments; after the last segment applies alpha, beta
/// and the epilogue and stores C.

#include <tessera/backend/kernel.hpp>

namespace tessera::cpu {

template <class T>
struct Update {
  bool first; ///< no earlier segment has sums
  bool last;  ///< this segment is the last one, so that C gets its result
  T alpha, beta;
  const GemmCall* call = nullptr; ///< the call whose epilogue is applied; null: there is none
  T alpha_imaginary = 0;          ///< not 0: elements are the parts of complex numbers, which alpha multiplies
  T beta_imaginary = 0;           ///< likewise
};

/// Says whether the sums of a call's only segment are C's elements as they are.
inline bool stores_plain_sums(const GemmCall& call) {
  return call.alpha == 1.0 && call.beta == 0.0 && call.epilogue.empty();
}

/// Applies `update` to the rows×cols sums at `tile`. `s` holds the sums of the earlier segments; the new sums go there
/// unless this segment is the last one. `c` is the tile of C. With a complex factor s is c, or apart from it. The
/// function has its own version for processors with FMA.
void apply(const Update<float>& update, Index rows, Index cols, const float* tile, Index ld_tile, float* s, Index lds,
           float* c, Index ldc);
void apply(const Update<double>& update, Index rows, Index cols, const double* tile, Index ld_tile, double* s,
           Index lds, double* c, Index ldc);

} // namespace tessera::cpu
