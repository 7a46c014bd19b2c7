/// Sums of the magnitudes in columns.
///
/// A column's additions follow one another, each a few cycles after the last one. So one warp adds, a column a lane,
/// and all threads fetch tiles of the next rows meanwhile. Of a symmetric matrix the upper triangle is read as rows of
/// the lower one.

#include "async_copy.cuh"
#include "cuda/device/shared_memory.hpp"
#include "cuda/device/status.hpp"
#include "cuda/queue/stream.hpp"
#include "panel.hpp"

namespace tessera::cuda {
namespace {

constexpr int columns = 32; ///< of a block
constexpr int rows = 64;    ///< of a tile
constexpr int stages = 4;
constexpr int threads = 256;

template <class T>
struct ColumnSums {
  const T* a;
  Index lda, rows, cols;
  bool is_symmetric;
  T scale; ///< a power of two
  double* sums;
};

template <class T>
struct TilesOfColumns {
  T number[stages][rows][columns + 1];
};

/// Begins to read the tile of the rows from `first` on, with zeros where there is nothing. Neighbours in a warp read
/// neighbours in memory, which lie in rows above the diagonal.
template <class T>
__device__ void fetch(const ColumnSums<T>& p, Index first, T (&tile)[rows][columns + 1]) {
  const Index first_col = static_cast<Index>(blockIdx.x) * columns;
  const bool is_above = p.is_symmetric && first + rows <= first_col;
#pragma unroll 4
  for (int i = static_cast<int>(threadIdx.x); i < rows * columns; i += threads) {
    const int r = is_above ? i % rows : i / columns, c = is_above ? i / rows : i % columns;
    const Index row = first + r, col = first_col + c;
    const bool is_read = row < p.rows && col < p.cols;
    const Index place = p.is_symmetric && row < col ? col * p.lda + row : row * p.lda + col;
    copy_async(&tile[r][c], p.a + (is_read ? place : 0), is_read);
  }
  end_group_of_copies();
}

template <class T>
__global__ void __launch_bounds__(threads) add_columns(ColumnSums<T> p) {
  extern __shared__ __align__(16) unsigned char memory[];
  TilesOfColumns<T>& tiles = *reinterpret_cast<TilesOfColumns<T>*>(memory);
  const int me = static_cast<int>(threadIdx.x);
  for (int stage = 0; stage + 1 < stages; ++stage) fetch(p, Index{stage} * rows, tiles.number[stage]);
  double sum = 0;
  int stage = 0;
  for (Index first = 0; first < p.rows; first += rows, stage = (stage + 1) % stages) {
    fetch(p, first + (stages - 1) * rows, tiles.number[(stage + stages - 1) % stages]);
    wait_for_groups<stages - 1>();
    __syncthreads();
    if (me < columns) {
#pragma unroll 16
      for (int r = 0; r < rows; ++r) sum += fabs(static_cast<double>(p.scale * tiles.number[stage][r][me]));
    }
    __syncthreads();
  }
  const Index col = static_cast<Index>(blockIdx.x) * columns + me;
  if (me < columns && col < p.cols) p.sums[col] = sum;
}

template <class T>
Status run(Queue& queue, const PanelCall& call) noexcept {
  const cudaStream_t stream = stream_of(queue);
  if (Status status = allow_most_shared(add_columns<T>, "sums of columns"); !status.ok()) return status;
  add_columns<T>
      <<<static_cast<unsigned>((call.cols + columns - 1) / columns), threads, sizeof(TilesOfColumns<T>), stream>>>(
          {static_cast<const T*>(call.a), call.lda, call.rows, call.cols, call.symmetric, static_cast<T>(call.scale),
           call.sums});
  return launched("sums of columns");
}

} // namespace

Status column_sums(Queue& queue, const PanelCall& call) noexcept {
  return call.type == DType::F32 ? run<float>(queue, call) : run<double>(queue, call);
}

} // namespace tessera::cuda
