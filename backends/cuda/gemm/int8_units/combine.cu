/// Puts residues together (Chinese remainder theorem), and stores the elements of C that are certain.
///
/// The product left z_l = X·(M/m_l)⁻¹ mod m_l of each exact sum X, so that Σ z_l·(M/m_l) is X plus a multiple of M,
/// which is known from its leading bits, because |X| is below 0.3·M. Three residues are first added in 32 bits. The
/// five sums are then multiplied by constants of three 32-bit digits, in 64 bits without carries.

#include <climits>

#include "cuda/gemm/common/epilogue.cuh"
#include "cuda/gemm/common/operands.cuh"
#include "cuda/gemm/common/programmatic_launch.cuh"
#include "finish.cuh"

namespace tessera::cuda::int8_units {
namespace {

constexpr int threads = 256;

struct Combination {
  Results results;
  const int *a_exponents, *b_exponents;
  int bits;
  EpilogueStore<double> to;
};

/// Returns int8::rounded(high·2⁶⁴ + low, exponent). It is for sums that are small, or whose results are subnormal or
/// too large.
__device__ __noinline__ double round_any(long long high, unsigned long long low, int exponent) {
  return int8::rounded(static_cast<int8::Wide>(int8::UnsignedWide{static_cast<unsigned long long>(high)} << 64 | low),
                       exponent);
}

/// Returns int8::rounded(high·2⁶⁴ + low, exponent), where the magnitude of the sum is 2¹¹⁶ at most.
__device__ double round_sum(long long high, unsigned long long low, int exponent) {
  // The sum has 2⁸⁷ or more, so that the low 32 bits matter only where the rest is half-way between two results: a bit
  // says whether there are any. The addition then rounds once, because its operands are exact.
  const unsigned middle = static_cast<unsigned>(low >> 32) | (static_cast<unsigned>(low) != 0);
  const double lower = __hiloint2double(0x45300000, static_cast<int>(middle)) - 0x1p84;
  const double sum = __fma_rn(static_cast<double>(high), 0x1p64, lower);
  const int upper = __double2hiint(sum), field = (upper >> 20 & 2047) + exponent;
  constexpr unsigned small = 1u << 23;
  const bool is_small = static_cast<unsigned long long>(high) + small < 2 * small;
  if (is_small || field < 1 || field > 2046) [[unlikely]]
    return round_any(high, low, exponent);
  return __hiloint2double(upper + (exponent << 20), __double2loint(sum));
}

/// Σ d_i·2^32i of 64-bit numbers d_i.
struct LongSum {
  long long at[3];

  template <bool is_first>
  __device__ void add(int x, const Digits& y) {
#pragma unroll
    for (int i = 0; i < 3; ++i)
      at[i] = is_first ? static_cast<long long>(x) * y.at[i] : at[i] + static_cast<long long>(x) * y.at[i];
  }
  /// Takes the nearest multiple of M away, and rounds what is left.
  __device__ double rounded_remainder(int exponent) {
    constexpr int8::UnsignedWide all = product_without(0, 0);
    constexpr Digits m = digits_of(all);
    constexpr float inverse = 0x1p96f / static_cast<float>(all);
    static_assert(m.at[3] > 0);
    const long long leading = at[2] + (at[1] >> 32);
    const float quotient = __fmaf_rn(static_cast<float>(static_cast<int>(leading >> 32)), inverse, 12582912.0f);
    const int q = float_bits - __float_as_int(quotient); // the multiple, negative
    at[0] += static_cast<long long>(q) * m.at[0];
    at[1] += static_cast<long long>(q) * m.at[1];
    at[2] += static_cast<long long>(q) * m.at[2] + (static_cast<long long>(q * m.at[3]) << 32);
    const unsigned long long low = static_cast<unsigned long long>(at[0]),
                             sum = low + (static_cast<unsigned long long>(at[1]) << 32);
    const long long high = at[2] + (at[1] >> 32) + (at[0] >> 63) + (sum < low);
    return round_sum(high, sum, exponent);
  }
};

/// Adds a group of three residues to the sums of four elements. The words have the elements' bytes.
template <int number>
__device__ void add_group(LongSum (&sum)[4], unsigned first, unsigned second, unsigned third) {
  constexpr int l = number * group;
  constexpr int8::UnsignedWide of_group = int8::UnsignedWide{static_cast<unsigned>(modulus_of(l))} *
                                          static_cast<unsigned>(modulus_of(l + 1)) *
                                          static_cast<unsigned>(modulus_of(l + 2));
  constexpr auto others = static_cast<unsigned>(of_group);
  constexpr unsigned two = others / modulus_of(l) | others / modulus_of(l + 1) << 16, one = others / modulus_of(l + 2);
  static_assert(others / modulus_of(l) < 1 << 16 && others / modulus_of(l + 1) < 1 << 16 && one < 1 << 16);
  constexpr Digits weight = digits_of(product_without(l, l + group));
  static_assert(weight.at[3] == 0);
  const unsigned even = __byte_perm(first, second, 0x5140), odd = __byte_perm(first, second, 0x7362);
  sum[0].template add<number == 0>(add_pairs<false>(two, even, add_pairs<false>(one, third, 0)), weight);
  sum[1].template add<number == 0>(add_pairs<true>(two, even, add_pairs<false>(one << 16, third, 0)), weight);
  sum[2].template add<number == 0>(add_pairs<false>(two, odd, add_pairs<true>(one, third, 0)), weight);
  sum[3].template add<number == 0>(add_pairs<true>(two, odd, add_pairs<true>(one << 16, third, 0)), weight);
}

__device__ unsigned word_of(const uint4& x, int word) {
  return word == 0 ? x.x : word == 1 ? x.y : word == 2 ? x.z : x.w;
}

/// A thread has 16 elements of a row, two neighbours of every eight columns.
__global__ void __launch_bounds__(threads, 2) combine(const __grid_constant__ Combination x) {
  launch_dependents();
  wait_for_kernel_before();
  const int vector = static_cast<int>(threadIdx.x) / 32, lane = static_cast<int>(threadIdx.x) % 32;
  const unsigned tile = blockIdx.x / pieces, across = static_cast<unsigned>(x.results.tiles_n);
  const int piece = static_cast<int>(blockIdx.x % pieces), quarter = vector % quarters;
  const Index row = static_cast<Index>(tile / across) * tile_m + piece * piece_rows + vector / quarters * 8 + lane / 4;
  const Index col = static_cast<Index>(tile % across) * tile_n + quarter * quarter_n + lane % 4 * 2;
  const EpilogueStore<double>& to = x.to;
  const TileState state = x.results.states[tile];
  if (row >= to.m || col >= to.n || state.is_strict(quarter)) return;
  const char* const from = x.results.data + Results::offset_of(tile, piece, vector, lane);
  const auto read = [&](int plane) { return __ldcs(reinterpret_cast<const uint4*>(from + plane * tile_bytes)); };
  uint4 z[residues];
#pragma unroll
  for (int plane = 0; plane < residues; ++plane) z[plane] = read(plane);
  const int exponent = x.a_exponents[row] - 2 * x.bits;
  double* const c = static_cast<double*>(to.c) + row * to.ldc + col;
  const bool whole = to.vectors && !to.wanted && col + quarter_n - 8 + 2 <= to.n && !state.is_mixed(quarter);
  double held[16]; // in local memory, because the loop at the end is not unrolled
#pragma unroll
  for (int word = 0; word < 4; ++word) {
    double2 old[2] = {};
    int2 column[2];
#pragma unroll
    for (int pair = 0; pair < 2; ++pair) {
      if (whole && to.beta != 0) old[pair] = *reinterpret_cast<const double2*>(c + word * 16 + pair * 8);
      column[pair] = *reinterpret_cast<const int2*>(x.b_exponents + col + word * 16 + pair * 8);
    }
    LongSum sum[4];
    add_group<0>(sum, word_of(z[0], word), word_of(z[1], word), word_of(z[2], word));
    add_group<1>(sum, word_of(z[3], word), word_of(z[4], word), word_of(z[5], word));
    add_group<2>(sum, word_of(z[6], word), word_of(z[7], word), word_of(z[8], word));
    add_group<3>(sum, word_of(z[9], word), word_of(z[10], word), word_of(z[11], word));
    add_group<4>(sum, word_of(z[12], word), word_of(z[13], word), word_of(z[14], word));
#pragma unroll
    for (int pair = 0; pair < 2; ++pair) {
      const double first = sum[2 * pair].rounded_remainder(exponent + column[pair].x);
      const double second = sum[2 * pair + 1].rounded_remainder(exponent + column[pair].y);
      if (whole) {
        double2 r{to.alpha * first, to.alpha * second};
        if (to.beta != 0) r = double2{fused(to.beta, old[pair].x, r.x), fused(to.beta, old[pair].y, r.y)};
        *reinterpret_cast<double2*>(c + word * 16 + pair * 8) = r;
      } else {
        held[word * 4 + pair * 2] = first;
        held[word * 4 + pair * 2 + 1] = second;
      }
    }
  }
  if (whole) return;
  const char* const flags = state.is_mixed(quarter) ? from + sizes_plane * tile_bytes : nullptr;
#pragma unroll 1
  for (int i = 0; i < 16; ++i) {
    const int at = i / 2 * 8 + i % 2;
    if (col + at >= to.n || (flags != nullptr && flags[i] != 0)) continue;
    const double one[1][1]{{held[i]}};
    to.store([&](int) -> ResultPlace { return {row, col + at}; }, one);
  }
}

} // namespace

Status combine_residues(cudaStream_t stream, const GemmCall& call, const Lines& a, const Lines& b, int bits,
                        const Results& results) {
  const Combination x{results, a.exponents, b.exponents, bits, EpilogueStore<double>(call)};
  const Launch how{.blocks = results.tiles() * pieces, .threads = threads, .programmatic = true};
  return launch_kernel(stream, how, "int8_units", combine, x);
}

} // namespace tessera::cuda::int8_units
