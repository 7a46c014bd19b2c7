#pragma once

/// Copies of operands in another layout, for rungs that prepare their data first.

#include <cuda_runtime_api.h>

#include "strided_matrix.hpp"

namespace tessera::cuda {

/// out is out_rows×out_cols, ld elements from row to row: x, and `padding` where it ends. Both sides are coalesced.
template <class T>
void repack(cudaStream_t stream, const StridedMatrix<T>& x, T* out, Index ld, Index out_rows, Index out_cols,
            T padding);

} // namespace tessera::cuda
