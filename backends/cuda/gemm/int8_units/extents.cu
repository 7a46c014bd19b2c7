/// The largest magnitude of each line of both operands, and its number of elements other than 0, in one launch at the
/// rate of memory.

#include "cuda/device/status.hpp"
#include "cuda/gemm/common/ceil_div.hpp"
#include "cuda/gemm/common/programmatic_launch.cuh"
#include "lines.cuh"

namespace tessera::cuda::int8_units {
namespace {

constexpr int threads = 256, warps = threads / 32;

/// Both operands, and the number of blocks for the first of them.
struct BothLines {
  Lines a, b;
  Index a_blocks;
};

/// The largest magnitude of some elements, and how many are not 0.
struct Extent {
  unsigned long long largest = 0;
  unsigned nonzeros = 0;

  __device__ void add(double x) {
    const unsigned long long magnitude = static_cast<unsigned long long>(__double_as_longlong(x)) << 1 >> 1;
    largest = max(largest, magnitude);
    nonzeros += magnitude != 0;
  }
  __device__ void add(const Extent& other) {
    largest = max(largest, other.largest);
    nonzeros += other.nonzeros;
  }
  __device__ void add_to(Facts& line) const {
    atomicMax(&line.largest, largest);
    atomicAdd(&line.nonzeros, static_cast<unsigned long long>(nonzeros));
  }
};

/// Lines that are contiguous: a warp reads this many elements of one line.
constexpr Index extent_k = 2048;
/// Lines that lie across: a block reads this many steps of 32 lines.
constexpr Index extent_steps = 512;

Index extent_blocks(const Lines& lines) {
  return lines.along_k() ? ceil_div<Index>(lines.x.rows * ceil_div(lines.x.cols, extent_k), warps)
                         : ceil_div<Index>(lines.x.rows, 32) * ceil_div(lines.x.cols, extent_steps);
}

__device__ void extents_along_k(const Lines& lines, Index block) {
  const auto& x = lines.x;
  const int lane = static_cast<int>(threadIdx.x) % 32;
  const Index pieces = ceil_div(x.cols, extent_k), number = block * warps + threadIdx.x / 32;
  const Index line = number / pieces, begin = number % pieces * extent_k;
  if (line >= x.rows) return;
  const int count = static_cast<int>(min(extent_k, x.cols - begin));
  const double* const from = x.data + line * x.row_stride + begin;
  Extent extent;
  int p = 0;
  if (reinterpret_cast<std::uintptr_t>(from) % 16 == 0) {
    constexpr int at_once = 8;
    for (; p + at_once * 64 <= count; p += at_once * 64) {
      double2 pair[at_once];
#pragma unroll
      for (int i = 0; i < at_once; ++i) pair[i] = reinterpret_cast<const double2*>(from + p)[i * 32 + lane];
#pragma unroll
      for (int i = 0; i < at_once; ++i) {
        extent.add(pair[i].x);
        extent.add(pair[i].y);
      }
    }
  }
#pragma unroll 8
  for (int at = p + lane; at < count; at += 32) extent.add(from[at]);
#pragma unroll
  for (int step = 16; step > 0; step /= 2)
    extent.add(Extent{__shfl_xor_sync(~0U, extent.largest, step), __shfl_xor_sync(~0U, extent.nonzeros, step)});
  if (lane == 0) extent.add_to(lines.facts[line]);
}

__device__ void extents_across(const Lines& lines, Index block) {
  __shared__ Extent all[warps][32];
  const auto& x = lines.x;
  const int lane = static_cast<int>(threadIdx.x) % 32, warp = static_cast<int>(threadIdx.x) / 32;
  const Index pieces = ceil_div(x.cols, extent_steps);
  const Index line = block / pieces * 32 + lane, begin = block % pieces * extent_steps;
  const Index end = min(begin + extent_steps, x.cols);
  Extent extent;
  if (line < x.rows) {
#pragma unroll 8
    for (Index p = begin + warp; p < end; p += warps) extent.add(x.data[line + p * x.col_stride]);
  }
  all[warp][lane] = extent;
  __syncthreads();
  if (warp != 0 || line >= x.rows) return;
#pragma unroll
  for (int w = 1; w < warps; ++w) extent.add(all[w][lane]);
  extent.add_to(lines.facts[line]);
}

__global__ void __launch_bounds__(threads) extents_of_lines(const __grid_constant__ BothLines x) {
  launch_dependents();
  const bool of_a = blockIdx.x < x.a_blocks;
  const Lines& lines = of_a ? x.a : x.b;
  const Index block = of_a ? blockIdx.x : blockIdx.x - x.a_blocks;
  if (lines.along_k())
    extents_along_k(lines, block);
  else
    extents_across(lines, block);
}

} // namespace

Status find_extents(cudaStream_t stream, const Lines& a, const Lines& b) {
  const BothLines both{a, b, extent_blocks(a)};
  const Launch how{.blocks = extent_blocks(a) + extent_blocks(b), .threads = threads};
  return launch_kernel(stream, how, "finding the largest elements of lines", extents_of_lines, both);
}

} // namespace tessera::cuda::int8_units
