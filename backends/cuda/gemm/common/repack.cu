#include "repack.cuh"

#include "grid.cuh"

namespace tessera::cuda {
namespace {

constexpr int tile = 32;
constexpr int threads_down = 8;

/// Copies by way of a tile in shared memory. The tile is read along the rows or the columns of x, whichever are
/// contiguous, and written along the rows of `out`. Its rows are one element longer, so that columns have no bank
/// conflicts.
template <class T>
__global__ void copy(StridedMatrix<T> x, T* out, Index ld, Index out_rows, Index out_cols, T padding) {
  __shared__ T shared[tile][tile + 1];
  const auto across = static_cast<unsigned>(ceil_div<Index>(out_cols, tile));
  const Index first_row = static_cast<Index>(blockIdx.x / across) * tile;
  const Index first_col = static_cast<Index>(blockIdx.x % across) * tile;
  const bool along_row = x.col_stride == 1;
  for (unsigned y = threadIdx.y; y < tile; y += threads_down) {
    const unsigned r = along_row ? y : threadIdx.x;
    const unsigned c = along_row ? threadIdx.x : y;
    const bool inside = first_row + r < x.rows && first_col + c < x.cols;
    shared[r][c] = inside ? x.data[(first_row + r) * x.row_stride + (first_col + c) * x.col_stride] : padding;
  }
  __syncthreads();
  for (unsigned y = threadIdx.y; y < tile; y += threads_down)
    if (first_row + y < out_rows && first_col + threadIdx.x < out_cols)
      out[(first_row + y) * ld + first_col + threadIdx.x] = shared[y][threadIdx.x];
}

} // namespace

template <class T>
void repack(cudaStream_t stream, const StridedMatrix<T>& x, T* out, Index ld, Index out_rows, Index out_cols,
            T padding) {
  const auto blocks = static_cast<unsigned>(ceil_div<Index>(out_rows, tile) * ceil_div<Index>(out_cols, tile));
  copy<<<blocks, dim3(tile, threads_down), 0, stream>>>(x, out, ld, out_rows, out_cols, padding);
}

template void repack(cudaStream_t, const StridedMatrix<float>&, float*, Index, Index, Index, float);
template void repack(cudaStream_t, const StridedMatrix<double>&, double*, Index, Index, Index, double);

} // namespace tessera::cuda
