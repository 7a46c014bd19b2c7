#pragma once

/// The stream_k kernels that store by rows, for explicit instantiation in stream_k_*_rows.cu. They are apart from the
/// other kernels, because a file of all of them would take long to compile.

#include "launch.cuh"

namespace tessera::cuda::stream_k {

template <class M>
Multiply<M> multiply_by_rows(Along a, Along b) noexcept {
  constexpr Storing rows = Storing::Rows;
  if (a == Along::K)
    return b == Along::K ? multiply<M, rows, Along::K, Along::K> : multiply<M, rows, Along::K, Along::Outer>;
  return b == Along::K ? multiply<M, rows, Along::Outer, Along::K> : multiply<M, rows, Along::Outer, Along::Outer>;
}

} // namespace tessera::cuda::stream_k
