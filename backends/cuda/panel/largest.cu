/// The largest magnitudes of rows and columns, and the least ones of rows. Magnitudes are compared as their bits, in
/// which NaN is the largest.

#include "cuda/device/status.hpp"
#include "cuda/queue/stream.hpp"
#include "panel.hpp"

namespace tessera::cuda {
namespace {

using MagnitudeBits = unsigned long long;

constexpr int threads_of_rows = 256;
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
__global__ void __launch_bounds__(threads_of_rows)
    find_ranges(const double* x, Index ldx, Index cols, double* largest, double* least) {
  __shared__ Range of_warps[threads_of_rows / lanes_of_warp];
  const double* const row = x + static_cast<Index>(blockIdx.x) * ldx;
  Range range = range_of_nothing();
  Index j = threadIdx.x;
  for (; j + (rows_in_flight - 1) * threads_of_rows < cols; j += rows_in_flight * threads_of_rows) {
    double number[rows_in_flight];
#pragma unroll
    for (int u = 0; u < rows_in_flight; ++u) number[u] = row[j + u * threads_of_rows];
#pragma unroll
    for (int u = 0; u < rows_in_flight; ++u) range.add(magnitude_bits(number[u]));
  }
  for (; j < cols; j += threads_of_rows) range.add(magnitude_bits(row[j]));
  range = range_of_warp(range);
  const int lane = static_cast<int>(threadIdx.x) % lanes_of_warp, warp = static_cast<int>(threadIdx.x) / lanes_of_warp;
  if (lane == 0) of_warps[warp] = range;
  __syncthreads();
  if (warp != 0) return;
  range = range_of_warp(lane < threads_of_rows / lanes_of_warp ? of_warps[lane] : range_of_nothing());
  if (lane != 0) return;
  const MagnitudeBits bits = range.below_least + 1; // 0 where all are 0, and of NaN where there is no number
  largest[blockIdx.x] = __longlong_as_double(static_cast<long long>(range.largest));
  least[blockIdx.x] =
      __longlong_as_double(static_cast<long long>(bits == 0 || bits > infinite_bits ? infinite_bits : bits));
}

/// A block takes some columns, one a thread, of some rows. The largest numbers are 0 before.
__global__ void __launch_bounds__(threads_of_rows)
    find_largest(const double* x, Index ldx, Index m, Index n, const double* scales, MagnitudeBits* largest) {
  const Index col = static_cast<Index>(blockIdx.x) * threads_of_rows + threadIdx.x;
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

Status largest_of_rows(Queue& queue, const PanelCall& call) noexcept {
  if (call.type != DType::F64) return largest_of_f64_alone();
  if (call.rows == 0) return {};
  find_ranges<<<static_cast<unsigned>(call.rows), threads_of_rows, 0, stream_of(queue)>>>(
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
  const dim3 grid(static_cast<unsigned>((call.cols + threads_of_rows - 1) / threads_of_rows),
                  static_cast<unsigned>((call.rows + rows_of_block - 1) / rows_of_block));
  find_largest<<<grid, threads_of_rows, 0, stream>>>(static_cast<const double*>(call.x), call.ldx, call.rows, call.cols,
                                                     call.row_scales, reinterpret_cast<MagnitudeBits*>(call.largest));
  return launched("largest numbers of columns");
}

} // namespace tessera::cuda
