/// Whole numbers from lines of f64 operands. A first kernel finds the largest magnitude of each line of both operands.
/// Then a kernel for each operand reads the lines again and writes 16 bytes for each element. All run near the speed of
/// memory.

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
  launch_dependents();
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

/// Writes the planes of neighbours along k, four or sixteen, at `offset` from `base`. Returns the sum of their sizes.
/// The base is the whole block's, so that the planes' addresses take no registers of a thread.
template <int count>
__device__ unsigned write_planes(const double (&x)[count], const LineUnits& units, char* base, unsigned offset,
                                 Index plane_bytes) {
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
    char* const at = base + plane * plane_bytes + offset;
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

/// Lines that are contiguous: a block has 8 lines and 2048 of their steps, a warp 16 of these at once, and a thread
/// four.
constexpr int pack_lines_along = 8;
constexpr Index pack_k_along = 2048;
/// Lines that lie across: a block has 32 lines and 1024 of their steps, a warp 128 of these, and a thread 16 of one
/// line at once.
constexpr int pack_lines_across = 32;
constexpr Index pack_k_across = warps * block_k;

Index pack_blocks(const Lines& lines) {
  const Index k = lines.blocks * block_k;
  return along_k(lines) ? lines.padded / pack_lines_along * ceil_div(k, pack_k_along)
                        : lines.padded / pack_lines_across * ceil_div(k, pack_k_across);
}

/// What packs an operand. The kernel for the second operand starts once the first operand's blocks have started, so
/// that it ends last and needs to wait for nothing before.
struct Packing {
  Lines lines;
  int bits;
  bool second;
};

/// The order of both kernels, from a block's start to its end.
class PackingOrder {
 public:
  __device__ explicit PackingOrder(bool second) : second_(second) {
    if (!second_) wait_for_kernel_before();
    launch_dependents();
  }
  __device__ ~PackingOrder() {
    if (second_) wait_for_kernel_before();
  }

 private:
  bool second_;
};

__device__ void read_four(const double* from, Index left, bool vectors, double (&x)[4]) {
  if (vectors && left >= 4) {
    const double2 first = __ldcs(reinterpret_cast<const double2*>(from));
    const double2 second = __ldcs(reinterpret_cast<const double2*>(from) + 1);
    x[0] = first.x;
    x[1] = first.y;
    x[2] = second.x;
    x[3] = second.y;
  } else {
#pragma unroll
    for (int i = 0; i < 4; ++i) x[i] = i < left ? from[i] : 0.0;
  }
}

__global__ void __launch_bounds__(threads, 4) pack_along_k(const __grid_constant__ Packing packing_of) {
  const PackingOrder order(packing_of.second);
  const Lines& lines = packing_of.lines;
  const auto& x = lines.x;
  const int lane = static_cast<int>(threadIdx.x) % 32, warp = static_cast<int>(threadIdx.x) / 32;
  const Index k = lines.blocks * block_k, across = ceil_div(k, pack_k_along);
  const Index first_line = blockIdx.x / across * pack_lines_along, first = blockIdx.x % across * pack_k_along;
  const Index line = first_line + lane / 4;
  const int steps = static_cast<int>(min(pack_k_along, k - first));
  const LineUnits units(lines.facts[line], packing_of.bits);
  if (first == 0 && threadIdx.x % 4 == 0 && warp == 0) lines.exponents[line] = lines.facts[line].exponent();
  const double* const from = x.data + line * x.row_stride + first;
  const Index left = line < x.rows ? x.cols - first : 0;
  const bool vectors = reinterpret_cast<std::uintptr_t>(from) % 16 == 0;
  char* const base = lines.data + lines.offset_of(first_line, first);
  const unsigned block_bytes = static_cast<unsigned>(lines.panel_lines * block_k);
  unsigned sizes = 0;
  double next[4];
  int p = warp * 16 + lane % 4 * 4;
  if (p < steps) read_four(from + p, left - p, vectors, next);
#pragma unroll 1
  for (; p < steps; p += warps * 16) {
    double element[4];
#pragma unroll
    for (int i = 0; i < 4; ++i) element[i] = next[i];
    const int later = p + warps * 16;
    if (later < steps) read_four(from + later, left - later, vectors, next);
    const unsigned offset =
        static_cast<unsigned>(p) / block_k * block_bytes + static_cast<unsigned>(warp * 128 + lane * 4);
    sizes += write_planes(element, units, base, offset, lines.plane_bytes());
  }
  static_assert(warps * 16 == block_k, "a warp has the same 16 steps of each block of k");
  __shared__ unsigned size_sums[pack_lines_along];
  if (threadIdx.x < pack_lines_along) size_sums[threadIdx.x] = 0;
  __syncthreads();
  sizes += __shfl_xor_sync(~0U, sizes, 1);
  sizes += __shfl_xor_sync(~0U, sizes, 2);
  if (lane % 4 == 0 && sizes != 0) atomicAdd(&size_sums[lane / 4], sizes);
  __syncthreads();
  if (threadIdx.x < pack_lines_along && size_sums[threadIdx.x] != 0)
    atomicAdd(&lines.facts[first_line + threadIdx.x].size_sum, static_cast<unsigned long long>(size_sums[threadIdx.x]));
}

__global__ void __launch_bounds__(threads, 2) pack_across(const __grid_constant__ Packing packing_of) {
  const PackingOrder order(packing_of.second);
  __shared__ unsigned size_sums[pack_lines_across];
  const Lines& lines = packing_of.lines;
  const auto& x = lines.x;
  const int lane = static_cast<int>(threadIdx.x) % 32, warp = static_cast<int>(threadIdx.x) / 32;
  const Index k = lines.blocks * block_k, across = ceil_div(k, pack_k_across);
  const Index first_line = blockIdx.x / across * pack_lines_across, first = blockIdx.x % across * pack_k_across;
  const Index line = first_line + lane, begin = first + warp * block_k;
  if (warp == 0) size_sums[lane] = 0;
  __syncthreads();
  if (begin < k) {
    const LineUnits units(lines.facts[line], packing_of.bits);
    if (begin == 0) lines.exponents[line] = lines.facts[line].exponent();
    const double* const from = x.data + line + begin * x.col_stride;
    const int left = line < x.rows ? static_cast<int>(min(x.cols - begin, Index{block_k})) : 0;
    char* const base = lines.data + lines.offset_of(first_line, first);
    const auto in_block = static_cast<unsigned>(lane / 8 * 8 * block_k + lane % 8 * 16);
    unsigned sizes = 0;
#pragma unroll 1
    for (int p = 0; p < block_k; p += 16) {
      double element[16];
#pragma unroll
      for (int i = 0; i < 16; ++i) element[i] = p + i < left ? __ldcs(from + (p + i) * x.col_stride) : 0.0;
      const unsigned offset = static_cast<unsigned>(warp * lines.panel_lines * block_k + p * 8) + in_block;
      sizes += write_planes(element, units, base, offset, lines.plane_bytes());
    }
    if (sizes != 0) atomicAdd(&size_sums[lane], sizes);
  }
  __syncthreads();
  if (warp == 0 && size_sums[lane] != 0)
    atomicAdd(&lines.facts[line].size_sum, static_cast<unsigned long long>(size_sums[lane]));
}

Status launch_packing(cudaStream_t stream, const Lines& lines, int bits, bool second) {
  const Launch how{.blocks = pack_blocks(lines), .threads = threads, .programmatic = true};
  return launch_kernel(stream, how, packing, along_k(lines) ? pack_along_k : pack_across, Packing{lines, bits, second});
}

} // namespace

Status pack_lines(cudaStream_t stream, const Lines& a, const Lines& b, int bits) {
  const Launch how{.blocks = extent_blocks(a) + extent_blocks(b), .threads = threads};
  if (Status status = launch_kernel(stream, how, packing, find_extents, BothLines{a, b, extent_blocks(a)});
      !status.ok())
    return status;
  if (Status status = launch_packing(stream, a, bits, false); !status.ok()) return status;
  return launch_packing(stream, b, bits, true);
}

} // namespace tessera::cuda::int8_units
