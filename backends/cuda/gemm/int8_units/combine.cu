/// Puts residues together (Chinese remainder theorem), and stores the elements of C that are certain.
///
/// The product left z_l = X·(M/m_l)⁻¹ mod m_l of each exact sum X, so that Σ z_l·(M/m_l) is X plus a multiple of M,
/// which is known from its leading bits, because |X| is below 0.3·M. Three residues are first added in 32 bits. The
/// five sums are then multiplied by constants of three 32-bit digits, in 64 bits without carries.

#include "finish.cuh"

#include "cuda/gemm/common/epilogue.cuh"
#include "cuda/gemm/common/operands.cuh"
#include "cuda/gemm/common/programmatic_launch.cuh"

namespace tessera::cuda::int8_units {
namespace {

constexpr int threads = 256;

struct Combination {
  Results results;
  const Facts *a, *b;
  int bits;
  EpilogueStore<double> to;
};

/// Rounds sums that become subnormal or too large.
__device__ __noinline__ double round_slowly(unsigned long long high, unsigned long long low, int exponent) {
  return int8::rounded(static_cast<int8::Wide>(int8::UnsignedWide{high} << 64 | low), exponent);
}

/// Returns int8::rounded(high·2⁶⁴ + low, exponent), where the magnitude of `high` is below 2⁶².
__device__ double round_sum(long long high, unsigned long long low, int exponent) {
  const bool negative = high < 0;
  const auto a = static_cast<unsigned long long>(high);
  const unsigned long long low_magnitude = negative ? 0 - low : low;
  const unsigned long long high_magnitude = negative ? ~a + (low == 0) : a;
  // The leading 64 bits, of which the last one also says whether there are others.
  unsigned long long leading;
  int width; // of the whole sum, beyond 64 bits
  if (high_magnitude != 0) {
    const int zeros = __clzll(static_cast<long long>(high_magnitude));
    leading = high_magnitude << zeros | low_magnitude >> (64 - zeros) | (low_magnitude << zeros != 0);
    width = 64 - zeros;
  } else {
    if (low_magnitude == 0) return 0;
    const int zeros = __clzll(static_cast<long long>(low_magnitude));
    leading = low_magnitude << zeros;
    width = -zeros;
  }
  const double magnitude = __ull2double_rn(leading);
  const int scale = width + exponent, upper = __double2hiint(magnitude), field = (upper >> 20) + scale;
  if (field < 1 || field > 2046) [[unlikely]]
    return round_slowly(a, low, exponent);
  return __hiloint2double(upper + (scale << 20) | (negative ? INT_MIN : 0), __double2loint(magnitude));
}

/// Σ d_i·2^32i of 64-bit numbers d_i.
struct LongSum {
  long long at[3] = {};

  __device__ void add(int x, const Digits& y) {
#pragma unroll
    for (int i = 0; i < 3; ++i) at[i] += static_cast<long long>(x) * y.at[i];
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
    at[2] += q * ((static_cast<long long>(m.at[3]) << 32) + m.at[2]);
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
  sum[0].add(add_pairs<false>(two, even, add_pairs<false>(one, third, 0)), weight);
  sum[1].add(add_pairs<true>(two, even, add_pairs<false>(one << 16, third, 0)), weight);
  sum[2].add(add_pairs<false>(two, odd, add_pairs<true>(one, third, 0)), weight);
  sum[3].add(add_pairs<true>(two, odd, add_pairs<true>(one << 16, third, 0)), weight);
}

__device__ unsigned word_of(const uint4& x, int word) {
  return word == 0 ? x.x : word == 1 ? x.y : word == 2 ? x.z : x.w;
}

/// A thread has 16 elements of a row, two neighbours of every eight columns.
__global__ void __launch_bounds__(threads, 2) combine(const __grid_constant__ Combination x) {
  const int vector = static_cast<int>(threadIdx.x) / 32, lane = static_cast<int>(threadIdx.x) % 32;
  const Index tile = blockIdx.x / pieces;
  const int piece = static_cast<int>(blockIdx.x % pieces), quarter = vector % quarters;
  const auto across = static_cast<unsigned>(x.results.tiles_n);
  const Index row = static_cast<Index>(static_cast<unsigned>(tile) / across) * tile_m + piece * piece_rows +
                    vector / quarters * 8 + lane / 4;
  const Index col =
      static_cast<Index>(static_cast<unsigned>(tile) % across) * tile_n + quarter * quarter_n + lane % 4 * 2;
  const EpilogueStore<double>& to = x.to;
  if (row >= to.m || col >= to.n) return;
  const TileState state = x.results.states[tile];
  if (state.is_strict(quarter)) return;
  const char* const from = x.results.data + Results::offset_of(tile, piece, vector, lane);
  const auto read = [&](int plane) {
    return __ldcs(reinterpret_cast<const uint4*>(from + plane * x.results.plane_bytes()));
  };
  uint4 z[residues];
#pragma unroll
  for (int plane = 0; plane < residues; ++plane) z[plane] = read(plane);
  uint4 flags = make_uint4(0, 0, 0, 0);
  if (state.is_mixed(quarter)) flags = read(sizes_plane);
  const int exponent = x.a[row].exponent() - 2 * x.bits;
  double* const c = static_cast<double*>(to.c) + row * to.ldc + col;
  const bool whole = to.vectors && !to.wanted && col + quarter_n - 8 + 2 <= to.n && !state.is_mixed(quarter);
#pragma unroll
  for (int word = 0; word < 4; ++word) {
    double2 old[2] = {};
    if (whole && to.beta != 0) {
#pragma unroll
      for (int pair = 0; pair < 2; ++pair) old[pair] = *reinterpret_cast<const double2*>(c + word * 16 + pair * 8);
    }
    LongSum sum[4];
#define TESSERA_WORD(plane) word_of(z[plane], word)
    add_group<0>(sum, TESSERA_WORD(0), TESSERA_WORD(1), TESSERA_WORD(2));
    add_group<1>(sum, TESSERA_WORD(3), TESSERA_WORD(4), TESSERA_WORD(5));
    add_group<2>(sum, TESSERA_WORD(6), TESSERA_WORD(7), TESSERA_WORD(8));
    add_group<3>(sum, TESSERA_WORD(9), TESSERA_WORD(10), TESSERA_WORD(11));
    add_group<4>(sum, TESSERA_WORD(12), TESSERA_WORD(13), TESSERA_WORD(14));
#undef TESSERA_WORD
    double result[4];
#pragma unroll
    for (int i = 0; i < 4; ++i)
      result[i] = sum[i].rounded_remainder(exponent + x.b[col + word * 16 + i / 2 * 8 + i % 2].exponent());
    if (whole) {
#pragma unroll
      for (int pair = 0; pair < 2; ++pair) {
        double2 r{to.alpha * result[2 * pair], to.alpha * result[2 * pair + 1]};
        if (to.beta != 0) r = double2{fused(to.beta, old[pair].x, r.x), fused(to.beta, old[pair].y, r.y)};
        *reinterpret_cast<double2*>(c + word * 16 + pair * 8) = r;
      }
      continue;
    }
    const unsigned flag = word_of(flags, word);
#pragma unroll 1
    for (int i = 0; i < 4; ++i) {
      const int at = word * 16 + i / 2 * 8 + i % 2;
      const double one[1][1]{{i == 0 ? result[0] : i == 1 ? result[1] : i == 2 ? result[2] : result[3]}};
      if (col + at >= to.n || (flag >> 8 * i & 255) != 0) continue;
      if (to.wanted)
        to.store([&](int) -> ResultPlace { return {row, col + at}; }, one);
      else
        store_result(c + at, one[0][0], to.alpha, to.beta);
    }
  }
}

} // namespace

Status combine_residues(cudaStream_t stream, const GemmCall& call, const Lines& a, const Lines& b, int bits,
                        const Results& results) {
  const Combination x{results, a.facts, b.facts, bits, EpilogueStore<double>(call)};
  const Launch how{.blocks = results.tiles() * pieces, .threads = threads};
  return launch_kernel(stream, how, "int8_units", combine, x);
}

} // namespace tessera::cuda::int8_units
