/// Sums of the magnitudes in columns.
///
/// A column's additions follow one another, each a few cycles after the last one. So one warp adds, a column a lane,
/// and all threads fetch tiles of the next rows meanwhile. Of a symmetric matrix the upper triangle is read as rows of
/// the lower one. The magnitude of a complex number is √(re² + im²), without overflow on the way; all threads find the
/// magnitudes of a tile before one warp adds them.

#include "async_copy.cuh"
#include "cuda/device/shared_memory.hpp"
#include "cuda/device/status.hpp"
#include "cuda/queue/stream.hpp"
#include "number.cuh"
#include "panel.hpp"

namespace tessera::cuda {
namespace {

constexpr int columns = 32; ///< of a block
constexpr int rows = 64;    ///< of a tile
template <class T>
constexpr int stages_of = sizeof(T) == 16 ? 2 : 4;
constexpr int threads = 256;

template <class T>
struct ColumnSums {
  const T* a;
  Index lda, rows, cols;
  bool is_symmetric;
  PartOf<T> scale; ///< a power of two
  double* sums;
};

template <class T>
struct TilesOfColumns {
  T number[stages_of<T>][rows][columns + 1];
};

template <class T>
__device__ double magnitude(T x, T scale) {
  return fabs(static_cast<double>(scale * x));
}
__device__ double root_of_squares(double re, double im) { return sqrt(fma(re, re, im * im)); }
__device__ double magnitude(const Complex<float>& x, float scale) {
  return root_of_squares(static_cast<double>(scale * x.re), static_cast<double>(scale * x.im));
}
__device__ double magnitude(const Complex<double>& x, double scale) {
  const double re = scale * x.re, im = scale * x.im, larger = fmax(fabs(re), fabs(im));
  const double power = larger > 0x1p480 ? 0x1p-600 : larger < 0x1p-480 ? 0x1p600 : 1.0;
  return root_of_squares(power * re, power * im) / power;
}

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

/// Returns the magnitude of a complex number of a tile whose first row is `first`.
template <class T>
__device__ double magnitude_in_tile(const ColumnSums<T>& p, Index first, int r, int c,
                                    const T (&tile)[rows][columns + 1]) {
  T number = tile[r][c];
  if (p.is_symmetric && first + r == static_cast<Index>(blockIdx.x) * columns + c) number.im = 0;
  return magnitude(number, p.scale);
}

template <class T>
__global__ void __launch_bounds__(threads) add_columns(ColumnSums<T> p) {
  extern __shared__ __align__(16) unsigned char memory[];
  TilesOfColumns<T>& tiles = *reinterpret_cast<TilesOfColumns<T>*>(memory);
  const int me = static_cast<int>(threadIdx.x);
  constexpr int stages = stages_of<T>;
  for (int stage = 0; stage + 1 < stages; ++stage) fetch(p, Index{stage} * rows, tiles.number[stage]);
  double sum = 0;
  int stage = 0;
  for (Index first = 0; first < p.rows; first += rows, stage = (stage + 1) % stages) {
    fetch(p, first + (stages - 1) * rows, tiles.number[(stage + stages - 1) % stages]);
    wait_for_groups<stages - 1>();
    __syncthreads();
    if constexpr (NumberOf<T>::is_complex) {
      __shared__ double sizes[rows][columns];
      for (int i = me; i < rows * columns; i += threads)
        sizes[i / columns][i % columns] = magnitude_in_tile(p, first, i / columns, i % columns, tiles.number[stage]);
      __syncthreads();
      if (me < columns) {
#pragma unroll 16
        for (int r = 0; r < rows; ++r) sum += sizes[r][me];
      }
    } else if (me < columns) {
#pragma unroll 16
      for (int r = 0; r < rows; ++r) sum += magnitude(tiles.number[stage][r][me], p.scale);
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
          {static_cast<const T*>(call.a), call.lda, call.rows, call.cols, call.symmetric,
           static_cast<PartOf<T>>(call.scale), call.sums});
  return launched("sums of columns");
}

} // namespace

Status column_sums(Queue& queue, const PanelCall& call) noexcept {
  return for_number_of(call, [&]<class T>(T) { return run<T>(queue, call); });
}

} // namespace tessera::cuda
