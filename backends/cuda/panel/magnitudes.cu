/// Magnitudes in rows and columns: their sums, and the largest ones.
///
/// A column's additions follow one another, each a few cycles after the last one. So one warp adds, a column a lane,
/// and all threads fetch tiles of the next rows meanwhile. Of a symmetric matrix the upper triangle is read as rows of
/// the lower one. Magnitudes are compared as their bits, in which NaN is the largest.

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

using MagnitudeBits = unsigned long long;

constexpr int lanes_of_warp = 32;
constexpr int rows_in_flight = 8; ///< loads of a thread
constexpr Index rows_of_block = 128;
constexpr MagnitudeBits no_sign = 0x7fffffffffffffffULL;
constexpr MagnitudeBits infinite_bits = 0x7ff0000000000000ULL;

__device__ MagnitudeBits magnitude_bits(double x) {
  return static_cast<MagnitudeBits>(__double_as_longlong(x)) & no_sign;
}
__device__ MagnitudeBits larger(MagnitudeBits x, MagnitudeBits y) { return x > y ? x : y; }
__device__ MagnitudeBits smaller(MagnitudeBits x, MagnitudeBits y) { return x < y ? x : y; }

/// The largest magnitude, and the least one but 0 less one, so that 0 is the largest of those.
struct Range {
  MagnitudeBits largest, below_least; // without values, as shared memory wants it
  __device__ void add(MagnitudeBits magnitude) {
    largest = larger(largest, magnitude);
    below_least = smaller(below_least, magnitude - 1);
  }
  __device__ void add(const Range& other) {
    largest = larger(largest, other.largest);
    below_least = smaller(below_least, other.below_least);
  }
};

__device__ Range range_of_nothing() { return {0, ~MagnitudeBits{0}}; }

__device__ Range range_of_warp(Range mine) {
  constexpr unsigned all = 0xffffffffU;
#pragma unroll
  for (int distance = lanes_of_warp / 2; distance > 0; distance /= 2) {
    mine.add(Range{__shfl_down_sync(all, mine.largest, distance), __shfl_down_sync(all, mine.below_least, distance)});
  }
  return mine;
}

/// A block takes a row.
__global__ void __launch_bounds__(threads)
    find_ranges(const double* x, Index ldx, Index cols, double* largest, double* least) {
  __shared__ Range of_warps[threads / lanes_of_warp];
  const double* const row = x + static_cast<Index>(blockIdx.x) * ldx;
  Range range = range_of_nothing();
  Index j = threadIdx.x;
  for (; j + (rows_in_flight - 1) * threads < cols; j += rows_in_flight * threads) {
    double number[rows_in_flight];
#pragma unroll
    for (int u = 0; u < rows_in_flight; ++u) number[u] = row[j + u * threads];
#pragma unroll
    for (int u = 0; u < rows_in_flight; ++u) range.add(magnitude_bits(number[u]));
  }
  for (; j < cols; j += threads) range.add(magnitude_bits(row[j]));
  range = range_of_warp(range);
  const int lane = static_cast<int>(threadIdx.x) % lanes_of_warp, warp = static_cast<int>(threadIdx.x) / lanes_of_warp;
  if (lane == 0) of_warps[warp] = range;
  __syncthreads();
  if (warp != 0) return;
  range = range_of_warp(lane < threads / lanes_of_warp ? of_warps[lane] : range_of_nothing());
  if (lane != 0) return;
  const MagnitudeBits bits = range.below_least + 1; // 0 where all are 0, and of NaN where there is no number
  largest[blockIdx.x] = __longlong_as_double(static_cast<long long>(range.largest));
  least[blockIdx.x] =
      __longlong_as_double(static_cast<long long>(bits == 0 || bits > infinite_bits ? infinite_bits : bits));
}

/// A block takes some columns, one a thread, of some rows. The largest numbers are 0 before.
__global__ void __launch_bounds__(threads)
    find_largest(const double* x, Index ldx, Index m, Index n, const double* scales, MagnitudeBits* largest) {
  const Index col = static_cast<Index>(blockIdx.x) * threads + threadIdx.x;
  if (col >= n) return;
  const Index first = static_cast<Index>(blockIdx.y) * rows_of_block;
  const Index end = first + rows_of_block < m ? first + rows_of_block : m;
  MagnitudeBits found = 0;
  Index i = first;
  for (; i + rows_in_flight <= end; i += rows_in_flight) {
    double number[rows_in_flight];
#pragma unroll
    for (int u = 0; u < rows_in_flight; ++u) number[u] = x[(i + u) * ldx + col];
#pragma unroll
    for (int u = 0; u < rows_in_flight; ++u) found = larger(found, magnitude_bits(number[u] * scales[i + u]));
  }
  for (; i < end; ++i) found = larger(found, magnitude_bits(x[i * ldx + col] * scales[i]));
  atomicMax(largest + col, found);
}

Status largest_of_f64_alone() { return {StatusCode::Rejected, "the largest numbers are found of f64 alone"}; }

} // namespace

Status column_sums(Queue& queue, const PanelCall& call) noexcept {
  return call.type == DType::F32 ? run<float>(queue, call) : run<double>(queue, call);
}

Status largest_of_rows(Queue& queue, const PanelCall& call) noexcept {
  if (call.type != DType::F64) return largest_of_f64_alone();
  if (call.rows == 0) return {};
  find_ranges<<<static_cast<unsigned>(call.rows), threads, 0, stream_of(queue)>>>(
      static_cast<const double*>(call.x), call.ldx, call.cols, call.largest, call.least);
  return launched("largest numbers of rows");
}

Status largest_of_columns(Queue& queue, const PanelCall& call) noexcept {
  if (call.type != DType::F64) return largest_of_f64_alone();
  if (call.cols == 0) return {};
  const cudaStream_t stream = stream_of(queue);
  const std::size_t bytes = static_cast<std::size_t>(call.cols) * sizeof(double);
  if (Status status = check(cudaMemsetAsync(call.largest, 0, bytes, stream), "largest numbers of columns");
      !status.ok())
    return status;
  if (call.rows == 0) return {};
  const dim3 grid(static_cast<unsigned>((call.cols + threads - 1) / threads),
                  static_cast<unsigned>((call.rows + rows_of_block - 1) / rows_of_block));
  find_largest<<<grid, threads, 0, stream>>>(static_cast<const double*>(call.x), call.ldx, call.rows, call.cols,
                                             call.row_scales, reinterpret_cast<MagnitudeBits*>(call.largest));
  return launched("largest numbers of columns");
}

} // namespace tessera::cuda
