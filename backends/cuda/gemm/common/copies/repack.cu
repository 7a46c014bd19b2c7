#include "repack.cuh"

#include "cuda/gemm/common/grid.cuh"
#include "repack_tile.cuh"

namespace tessera::cuda {
namespace {

template <class T>
__global__ void copy(StridedMatrix<T> x, T* out, Index ld, Index out_rows, Index out_cols, T padding) {
  __shared__ RepackTile<T> shared;
  const auto across = static_cast<unsigned>(ceil_div<Index>(out_cols, repack_side));
  repack_tile(x, out, ld, out_rows, out_cols, padding, blockIdx.x / across, blockIdx.x % across, threadIdx.x,
              threadIdx.y, shared);
}

} // namespace

template <class T>
void repack(cudaStream_t stream, const StridedMatrix<T>& x, T* out, Index ld, Index out_rows, Index out_cols,
            T padding) {
  const auto blocks =
      static_cast<unsigned>(ceil_div<Index>(out_rows, repack_side) * ceil_div<Index>(out_cols, repack_side));
  copy<<<blocks, dim3(repack_side, repack_down), 0, stream>>>(x, out, ld, out_rows, out_cols, padding);
}

template void repack(cudaStream_t, const StridedMatrix<float>&, float*, Index, Index, Index, float);
template void repack(cudaStream_t, const StridedMatrix<double>&, double*, Index, Index, Index, double);

} // namespace tessera::cuda
