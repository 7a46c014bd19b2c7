/// Whole numbers from lines of f64 operands, whose largest magnitudes are known: a kernel for each operand reads the
/// lines and writes 16 bytes for each element, near the rate of memory.

#include "lines.cuh"

#include <type_traits>

#include "cuda/device/status.hpp"
#include "cuda/gemm/common/ceil_div.hpp"
#include "cuda/gemm/common/programmatic_launch.cuh"

namespace tessera::cuda::int8_units {
namespace {

constexpr int threads = 256, warps = threads / 32;
constexpr const char* packing = "packing operands in whole numbers";

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

/// Neighbours along k of a line, four or sixteen, as whole numbers plus 2⁵⁵ and as sizes.
template <int count>
struct WholeNumbers {
  static constexpr int words = count / 4;

  unsigned low[count], high[count], sizes[words];
  unsigned size_sum = 0;

  __device__ WholeNumbers(const double (&x)[count], const LineUnits& units) {
    unsigned size[count];
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
    pack(sizes, size);
  }

  /// Writes the planes, the first one at `to`.
  __device__ void write(char* to) const {
    const auto store = [&](int plane, const unsigned(&word)[words]) {
      char* const at = to + plane * plane_bytes;
      if constexpr (words == 4)
        *reinterpret_cast<uint4*>(at) = make_uint4(word[0], word[1], word[2], word[3]);
      else
        *reinterpret_cast<unsigned*>(at) = word[0];
    };
    store(sizes_plane, sizes);
    unsigned word[words];
    pack(word, low);
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
      pack(word, byte);
      store(plane, word);
    });
  }

 private:
  static __device__ void pack(unsigned (&word)[words], const unsigned (&x)[count]) {
#pragma unroll
    for (int w = 0; w < words; ++w) word[w] = low_bytes(x[4 * w], x[4 * w + 1], x[4 * w + 2], x[4 * w + 3]);
  }
};

/// Lines that are contiguous: a block has 8 lines, a warp 16 of their steps at once, and a thread four of these. Lines
/// that lie across: a block has 32 lines, a warp an eighth of the block's steps, and a thread 16 of one line at once.
constexpr int pack_lines_along = 8, pack_lines_across = 32;

/// What packs an operand. The kernel for the second operand starts once the first operand's blocks have started, so
/// that it ends last and needs to wait for nothing before.
struct Packing {
  Lines lines;
  int bits;
  int steps; ///< of k, that a block has: 256 at least, and a power of two
  bool second;

  Packing(const Lines& operand, int bits_, bool is_second) : lines(operand), bits(bits_), second(is_second) {
    // Long lines keep a block busy; few of them must be shared out.
    steps = lines.along_k() ? 2048 : 1024;
    constexpr Index enough = 1056; // eight blocks for each multiprocessor of an H200
    while (blocks() < enough && steps > 256) steps /= 2;
  }
  Index blocks() const {
    return lines.padded / (lines.along_k() ? pack_lines_along : pack_lines_across) *
           ceil_div<Index>(lines.blocks * block_k, steps);
  }
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
  const Index k = lines.blocks * block_k, across = ceil_div<Index>(k, packing_of.steps);
  const Index first_line = blockIdx.x / across * pack_lines_along, first = blockIdx.x % across * packing_of.steps;
  const Index line = first_line + lane / 4;
  const int steps = static_cast<int>(min(Index{packing_of.steps}, k - first));
  const LineUnits units(lines.facts[line], packing_of.bits);
  if (first == 0 && threadIdx.x % 4 == 0 && warp == 0) lines.exponents[line] = lines.facts[line].exponent();
  const double* const from = x.data + line * x.row_stride + first;
  const Index left = line < x.rows ? x.cols - first : 0;
  const bool vectors = reinterpret_cast<std::uintptr_t>(from) % 16 == 0;
  char* to = lines.data + lines.offset_of(line, first + warp * 16) + lane % 4 * 4;
  unsigned sizes = 0;
  double element[4];
  int p = warp * 16 + lane % 4 * 4;
  if (p < steps) read_four(from + p, left - p, vectors, element);
#pragma unroll 1
  for (; p < steps; p += warps * 16) {
    const WholeNumbers<4> numbers(element, units);
    const int later = p + warps * 16;
    if (later < steps) read_four(from + later, left - later, vectors, element);
    numbers.write(to);
    to += planes * plane_bytes;
    sizes += numbers.size_sum;
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
  const Index k = lines.blocks * block_k, across = ceil_div<Index>(k, packing_of.steps);
  const Index first_line = blockIdx.x / across * pack_lines_across, first = blockIdx.x % across * packing_of.steps;
  const Index line = first_line + lane, begin = first + warp * (packing_of.steps / warps);
  if (warp == 0) size_sums[lane] = 0;
  __syncthreads();
  if (begin < k) {
    const LineUnits units(lines.facts[line], packing_of.bits);
    if (begin == 0) lines.exponents[line] = lines.facts[line].exponent();
    const double* const from = x.data + line + begin * x.col_stride;
    const int steps = packing_of.steps / warps;
    const int left = line < x.rows ? static_cast<int>(min(x.cols - begin, Index{steps})) : 0;
    double element[16];
    const auto read = [&](int p) {
#pragma unroll
      for (int i = 0; i < 16; ++i) element[i] = p + i < left ? __ldcs(from + (p + i) * x.col_stride) : 0.0;
    };
    unsigned sizes = 0;
    read(0);
#pragma unroll 1
    for (int p = 0; p < steps; p += 16) {
      const WholeNumbers<16> numbers(element, units);
      read(p + 16);
      numbers.write(lines.data + lines.offset_of(line, begin + p));
      sizes += numbers.size_sum;
    }
    if (sizes != 0) atomicAdd(&size_sums[lane], sizes);
  }
  __syncthreads();
  if (warp == 0 && size_sums[lane] != 0)
    atomicAdd(&lines.facts[line].size_sum, static_cast<unsigned long long>(size_sums[lane]));
}

Status launch_packing(cudaStream_t stream, const Packing& x) {
  const Launch how{.blocks = x.blocks(), .threads = threads, .programmatic = true};
  return launch_kernel(stream, how, packing, x.lines.along_k() ? pack_along_k : pack_across, x);
}

} // namespace

Status pack_lines(cudaStream_t stream, const Lines& a, const Lines& b, int bits) {
  if (Status status = find_extents(stream, a, b); !status.ok()) return status;
  if (Status status = launch_packing(stream, Packing(a, bits, false)); !status.ok()) return status;
  return launch_packing(stream, Packing(b, bits, true));
}

} // namespace tessera::cuda::int8_units
