#pragma once

/// Copies operands to another layout, for rungs that prepare their data first.

#include <cuda_runtime_api.h>

#include "strided_matrix.hpp"

namespace tessera::cuda {

/// Enqueues the copy of x to `out`, which has out_rows×out_cols elements, rows ld elements apart, and is filled with
/// `padding` past the end of x. Reads and writes are both coalesced.
template <class T>
void repack(cudaStream_t stream, const StridedMatrix<T>& x, T* out, Index ld, Index out_rows, Index out_cols,
            T padding);

} // namespace tessera::cuda
