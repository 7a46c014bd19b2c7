#pragma once

/// The contract's QR factorisation as code, element by element (docs/contract.md, "QR"): what Backend::Reference
/// computes, and what the blocked algorithms must equal to the bit. It needs no memory.

#include "extensions/linear_algebra/model.hpp"

namespace tessera::linear_algebra {

/// Factors A, m×n: R on and above the diagonal, V below it, and min(m, n) factors in `tau`.
void model_qr(Index m, Index n, Grid<float> a, float* tau);
void model_qr(Index m, Index n, Grid<double> a, double* tau);

/// C, m×count, becomes Q·C, or Qᵀ·C, where Q is the product of k reflections whose V, m×k, lies below the diagonal.
void model_apply_q(Index m, Index k, Grid<const float> v, const float* tau, bool transposed, Index count,
                   Grid<float> c);
void model_apply_q(Index m, Index k, Grid<const double> v, const double* tau, bool transposed, Index count,
                   Grid<double> c);

/// The first k columns of A, m×n with k ≤ n ≤ m, hold V; A becomes the first n columns of Q.
void model_form_q(Index m, Index n, Index k, Grid<float> a, const float* tau);
void model_form_q(Index m, Index n, Index k, Grid<double> a, const double* tau);

} // namespace tessera::linear_algebra
