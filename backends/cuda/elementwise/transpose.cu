/// Transposition through shared memory, so that a warp both reads and writes neighbouring elements.
///
/// A block moves a 32×32 tile. The tile's rows are one element longer than needed: without that, a warp that reads a
/// column of it would meet the same bank 32 times. Each element is read once and written once.
/// Source: Ruetsch and Micikevicius, "Optimizing matrix transpose in CUDA" (2009).

#include "cuda/device/status.hpp"
#include "cuda/queue/stream.hpp"
#include "elementwise.hpp"

namespace tessera::cuda {
namespace {

constexpr int tile_size = 32;
constexpr int tile_rows = 8;         // Rows of a tile that the block copies at a time.
constexpr Index most_tiles_y = 1024; // Most rows of blocks in the grid. A block goes on to further tiles.

/// Computes z = xᵀ. z is rows×cols, x is cols×rows.
template <class T>
__global__ void __launch_bounds__(tile_size* tile_rows)
    transpose_tiles(const T* x, Index ldx, T* z, Index ldz, Index rows, Index cols) {
  __shared__ T tile[tile_size][tile_size + 1];
  const Index first_col = static_cast<Index>(blockIdx.x) * tile_size;
  for (Index first_row = static_cast<Index>(blockIdx.y) * tile_size; first_row < rows;
       first_row += static_cast<Index>(gridDim.y) * tile_size) {
    // A row of x is a column of z.
    const Index x_col = first_row + threadIdx.x;
    for (int r = static_cast<int>(threadIdx.y); r < tile_size; r += tile_rows)
      if (first_col + r < cols && x_col < rows) tile[r][threadIdx.x] = x[(first_col + r) * ldx + x_col];
    __syncthreads();
    const Index z_col = first_col + threadIdx.x;
    for (int r = static_cast<int>(threadIdx.y); r < tile_size; r += tile_rows)
      if (first_row + r < rows && z_col < cols) z[(first_row + r) * ldz + z_col] = tile[threadIdx.x][r];
    __syncthreads();
  }
}

Index tiles(Index elements) { return (elements + tile_size - 1) / tile_size; }

/// T is any type of an element's size.
template <class T>
Status transpose_typed(Queue& queue, const MapCall& call) noexcept {
  const Index y = tiles(call.rows);
  const dim3 grid(static_cast<unsigned>(tiles(call.cols)), static_cast<unsigned>(y < most_tiles_y ? y : most_tiles_y));
  transpose_tiles<<<grid, dim3(tile_size, tile_rows), 0, stream_of(queue)>>>(
      static_cast<const T*>(call.x), call.ldx, static_cast<T*>(call.z), call.ldz, call.rows, call.cols);
  return launched("transpose");
}

} // namespace

Status transpose(Queue& queue, const MapCall& call) noexcept {
  if (call.rows == 0 || call.cols == 0) return {};
  switch (size_of(call.type)) {
    case 8:
      return transpose_typed<std::uint64_t>(queue, call);
    case 4:
      return transpose_typed<std::uint32_t>(queue, call);
    default:
      return transpose_typed<std::uint16_t>(queue, call);
  }
}

} // namespace tessera::cuda
