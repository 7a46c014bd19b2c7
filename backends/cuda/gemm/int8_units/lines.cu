/// Whole numbers from lines of f64 operands. A first kernel finds the largest magnitude of each line, and a second one
/// reads the lines again and writes 16 bytes for each element: both run at the speed of memory. Each has one launch for
/// both operands.

#include "lines.cuh"

#include <type_traits>

#include "cuda/device/status.hpp"
#include "cuda/gemm/common/ceil_div.hpp"
#include "cuda/gemm/common/programmatic_launch.cuh"

namespace tessera::cuda::int8_units {
namespace {

constexpr int threads = 256, warps = threads / 32;
constexpr const char* packing = "packing operands in whole numbers";

/// Both operands, and the number of blocks for the first of them.
struct BothLines {
  Lines a, b;
  Index a_blocks;
  int bits;
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
constexpr Index extent_k = 4096;
/// Lines that lie across: a block reads this many steps of 32 lines.
constexpr Index extent_steps = 1024;

__host__ __device__ bool along_k(const Lines& lines) { return lines.x.col_stride == 1; }

Index extent_blocks(const Lines& lines) {
  return along_k(lines) ? ceil_div<Index>(lines.x.rows * ceil_div(lines.x.cols, extent_k), warps)
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

__global__ void __launch_bounds__(threads) find_extents(const __grid_constant__ BothLines x) {
  const bool of_a = blockIdx.x < x.a_blocks;
  const Lines& lines = of_a ? x.a : x.b;
  const Index block = of_a ? blockIdx.x : blockIdx.x - x.a_blocks;
  if (along_k(lines))
    extents_along_k(lines, block);
  else
    extents_across(lines, block);
}

/// Calls f with the numbers from 0 to count − 1 as constants.
template <int count, int first = 0, class F>
__device__ void for_each_number(const F& f) {
  if constexpr (first < count) {
    f(std::integral_constant<int, first>{});
    for_each_number<count, first + 1>(f);
  }
}

/// The units of a line's whole numbers and sizes.
struct LineUnits {
  double number = 0, size = 0;
  bool fits = false;

  __device__ LineUnits(const Facts& facts, int bits) : fits(facts.fits()) {
    if (!fits) return;
    number = int8::power_of_two(bits - facts.exponent());
    size = int8::power_of_two(int8::size_bits - facts.exponent());
  }
};

/// Writes the planes of neighbours along k, four or sixteen. Returns the sum of their sizes.
template <int count>
__device__ unsigned write_planes(const double (&x)[count], const LineUnits& units, char* to, Index plane_bytes) {
  constexpr int words = count / 4;
  unsigned low[count], high[count], size[count], size_sum = 0;
#pragma unroll
  for (int i = 0; i < count; ++i) {
    const double element = units.fits ? x[i] : 0.0;
    const long long number = __double2ll_rn(element * units.number);
    low[i] = static_cast<unsigned>(number);
    high[i] = static_cast<unsigned>(number >> 32) + (1u << (offset_of_numbers - 32));
    // 2⁵² + size, rounded down: the size is in the low word.
    size[i] = static_cast<unsigned>(__double2loint(__fma_rd(fabs(element), units.size, 4503599627370496.0)));
    size_sum += size[i];
  }
  const auto store = [&](int plane, const unsigned(&word)[words]) {
    char* const at = to + plane * plane_bytes;
    if constexpr (words == 4)
      *reinterpret_cast<uint4*>(at) = make_uint4(word[0], word[1], word[2], word[3]);
    else
      *reinterpret_cast<unsigned*>(at) = word[0];
  };
  unsigned word[words];
#pragma unroll
  for (int w = 0; w < words; ++w) word[w] = low_bytes(low[4 * w], low[4 * w + 1], low[4 * w + 2], low[4 * w + 3]);
  static_assert(modulus_of(0) == 256);
  store(0, word);
  for_each_number<residues - 1>([&](auto number) {
    constexpr int plane = number.value + 1;
    constexpr Reduction r = reduction(plane, 1, offset_of_numbers);
    unsigned byte[count];
#pragma unroll
    for (int i = 0; i < count; ++i) {
      const int sum = add_bytes(low[i], r.weights[0], add_bytes(high[i], r.weights[1], r.base));
      byte[i] = static_cast<unsigned>(remainder_of(sum, r.inverse, r.shift, r.modulus));
    }
#pragma unroll
    for (int w = 0; w < words; ++w) word[w] = low_bytes(byte[4 * w], byte[4 * w + 1], byte[4 * w + 2], byte[4 * w + 3]);
    store(plane, word);
  });
#pragma unroll
  for (int w = 0; w < words; ++w) word[w] = low_bytes(size[4 * w], size[4 * w + 1], size[4 * w + 2], size[4 * w + 3]);
  store(sizes_plane, word);
  return size_sum;
}

/// Lines that are contiguous: a block has 8 lines, a warp 256 of their steps, 16 at once, and a thread four of these.
constexpr Index pack_k = 256, pack_lines_along = 8;
/// Lines that lie across: a block has 32 lines, a warp 128 of their steps, and a thread 16 of one line at once.
constexpr Index pack_steps = block_k;

Index pack_blocks(const Lines& lines) {
  return along_k(lines) ? lines.padded / pack_lines_along * ceil_div<Index>(lines.blocks * block_k, pack_k * warps)
                        : lines.padded / 32 * ceil_div<Index>(lines.blocks * block_k, pack_steps * warps);
}

__device__ void pack_along_k(const Lines& lines, Index block, int bits) {
  const auto& x = lines.x;
  const int lane = static_cast<int>(threadIdx.x) % 32, warp = static_cast<int>(threadIdx.x) / 32;
  const Index across = ceil_div<Index>(lines.blocks * block_k, pack_k * warps);
  const Index line = block / across * pack_lines_along + lane / 4;
  const Index begin = (block % across * warps + warp) * pack_k;
  const Index end = min(begin + pack_k, lines.blocks * block_k);
  if (begin >= end) return;
  const LineUnits units(lines.facts[line], bits);
  const double* const from = x.data + line * x.row_stride;
  const bool inside = line < x.rows, vectors = reinterpret_cast<std::uintptr_t>(from) % 16 == 0;
  const Index plane_bytes = lines.plane_bytes();
  unsigned long long sizes = 0;
#pragma unroll 2
  for (Index p = begin + lane % 4 * 4; p < end; p += 16) {
    double element[4];
    if (inside && vectors && p + 4 <= x.cols) {
      const double2 first = reinterpret_cast<const double2*>(from + p)[0];
      const double2 second = reinterpret_cast<const double2*>(from + p)[1];
      element[0] = first.x;
      element[1] = first.y;
      element[2] = second.x;
      element[3] = second.y;
    } else {
#pragma unroll
      for (int i = 0; i < 4; ++i) element[i] = inside && p + i < x.cols ? from[p + i] : 0.0;
    }
    sizes += write_planes(element, units, lines.data + lines.offset_of(line, p), plane_bytes);
  }
  sizes += __shfl_xor_sync(~0U, sizes, 1);
  sizes += __shfl_xor_sync(~0U, sizes, 2);
  if (lane % 4 == 0 && sizes != 0) atomicAdd(&lines.facts[line].size_sum, sizes);
}

__device__ void pack_across(const Lines& lines, Index block, int bits) {
  __shared__ unsigned size_sums[32];
  const auto& x = lines.x;
  const int lane = static_cast<int>(threadIdx.x) % 32, warp = static_cast<int>(threadIdx.x) / 32;
  const Index across = ceil_div<Index>(lines.blocks * block_k, pack_steps * warps);
  const Index line = block / across * 32 + lane;
  const Index begin = (block % across * warps + warp) * pack_steps;
  const Index end = min(begin + pack_steps, lines.blocks * block_k);
  if (warp == 0) size_sums[lane] = 0;
  __syncthreads();
  const LineUnits units(lines.facts[line], bits);
  const bool inside = line < x.rows;
  unsigned sizes = 0;
#pragma unroll 1
  for (Index p = begin; p < end; p += 16) {
    const double* const from = x.data + line + p * x.col_stride;
    double element[16];
#pragma unroll
    for (int i = 0; i < 16; ++i) element[i] = inside && p + i < x.cols ? from[i * x.col_stride] : 0.0;
    sizes += write_planes(element, units, lines.data + lines.offset_of(line, p), lines.plane_bytes());
  }
  if (sizes != 0) atomicAdd(&size_sums[lane], sizes);
  __syncthreads();
  if (warp == 0 && size_sums[lane] != 0)
    atomicAdd(&lines.facts[line].size_sum, static_cast<unsigned long long>(size_sums[lane]));
}

__global__ void __launch_bounds__(threads, 2) write_whole_numbers(const __grid_constant__ BothLines x) {
  const bool of_a = blockIdx.x < x.a_blocks;
  const Lines& lines = of_a ? x.a : x.b;
  const Index block = of_a ? blockIdx.x : blockIdx.x - x.a_blocks;
  if (along_k(lines))
    pack_along_k(lines, block, x.bits);
  else
    pack_across(lines, block, x.bits);
}

} // namespace

Status pack_lines(cudaStream_t stream, const Lines& a, const Lines& b, int bits) {
  for (const Lines* lines : {&a, &b})
    if (Status status =
            check(cudaMemsetAsync(lines->facts, 0, static_cast<std::size_t>(lines->facts_bytes()), stream), packing);
        !status.ok())
      return status;
  const Launch first{.blocks = extent_blocks(a) + extent_blocks(b), .threads = threads};
  if (Status status = launch_kernel(stream, first, packing, find_extents, BothLines{a, b, extent_blocks(a), bits});
      !status.ok())
    return status;
  const Launch second{.blocks = pack_blocks(a) + pack_blocks(b), .threads = threads};
  return launch_kernel(stream, second, packing, write_whole_numbers, BothLines{a, b, pack_blocks(a), bits});
}

} // namespace tessera::cuda::int8_units
