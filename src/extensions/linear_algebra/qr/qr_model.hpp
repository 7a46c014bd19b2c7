#pragma once

/// The contract's QR factorisation as code, element by element (docs/contract.md, "QR"): what Backend::Reference
/// computes, and what the blocked algorithms must equal to the bit. It needs no memory.

#include "extensions/linear_algebra/model.hpp"

namespace tessera::linear_algebra {

// Declares the formulas of a type.
#define TESSERA_MODELS(T)                                                                                          \
  /** Factors A, m×n: R on and above the diagonal, V below it, and min(m, n) factors in `tau`. */                 \
  void model_qr(Index m, Index n, Grid<T> a, T* tau);                                                              \
  /** C, m×count, becomes Q·C, or Qᴴ·C, where Q is the product of k reflections whose V, m×k, lies below the \
   * diagonal. */                                                                                                  \
  void model_apply_q(Index m, Index k, Grid<const T> v, const T* tau, bool transposed, Index count, Grid<T> c);    \
  /** The first k columns of A, m×n with k ≤ n ≤ m, hold V; A becomes the first n columns of Q. */            \
  void model_form_q(Index m, Index n, Index k, Grid<T> a, const T* tau);
TESSERA_MODELS(float)
TESSERA_MODELS(double)
TESSERA_MODELS(std::complex<float>)
TESSERA_MODELS(std::complex<double>)
#undef TESSERA_MODELS

} // namespace tessera::linear_algebra
