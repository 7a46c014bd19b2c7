#pragma once

/// A product's epilogue (tessera/epilogue.hpp) for one element.

#include <tessera/backend/activation.hpp>

namespace tessera::cuda {

/// Returns `r`, the product's element (i, j), with the epilogue applied. S is the type that is computed in. R is the
/// type of C's elements, and of bias and residual.
template <class S, class R>
__device__ inline S with_epilogue(const Epilogue& epilogue, Index i, Index j, S r) {
  const auto* bias = static_cast<const R*>(epilogue.bias);
  if (epilogue.bias_per == BiasPer::Row) r = r + static_cast<S>(bias[i * epilogue.bias_step]);
  if (epilogue.bias_per == BiasPer::Column) r = r + static_cast<S>(bias[j * epilogue.bias_step]);
  r = activated(epilogue.activation, r);
  if (epilogue.residual != nullptr)
    r = r + static_cast<S>(static_cast<const R*>(epilogue.residual)[i * epilogue.ld_residual + j]);
  return r;
}

} // namespace tessera::cuda
