#include "sign_sums.hpp"

#include <utility>

#include "reference/fma_clones.hpp"

namespace tessera::compare {
namespace {

/// Adds a chain to a sum that is wider than T.
[[gnu::always_inline]] inline void flush(const float* chain, double* sums, double*) {
  for (Index v = 0; v < lanes; ++v) sums[v] += static_cast<double>(chain[v]);
}
[[gnu::always_inline]] inline void flush(const double* chain, double* sums, double* sums_low) {
  for (Index v = 0; v < lanes; ++v) {
    const double high = sums[v] + chain[v];
    const double part = high - sums[v];
    sums_low[v] += (sums[v] - (high - part)) + (chain[v] - part);
    sums[v] = high;
  }
}

/// Adds the products of `height` rows. Their loop is unrolled, so that the chains of all rows stay in registers.
template <class T, std::size_t... row>
[[gnu::always_inline]] inline void add_rows(std::index_sequence<row...>, const T* __restrict a, Index ld, Index count,
                                            const T* __restrict x, double* __restrict sums,
                                            double* __restrict sums_low) {
  for (Index begin = 0; begin < count; begin += short_chain) {
    const Index end = std::min(begin + short_chain, count);
    T chain[sizeof...(row)][lanes] = {};
    for (Index p = begin; p < end; ++p) {
      const auto add = [&](T * own, T factor) __attribute__((always_inline)) {
        for (Index v = 0; v < lanes; ++v) own[v] = std::fma(factor, x[p * lanes + v], own[v]);
      };
      (add(chain[row], a[static_cast<Index>(row) * ld + p]), ...);
    }
    (flush(chain[row], sums + row * lanes, sums_low == nullptr ? nullptr : sums_low + row * lanes), ...);
  }
}

template <int height, class T>
[[gnu::always_inline]] inline void add_all(const T* a, Index ld, Index rows, Index count, const T* x, double* sums,
                                           double* sums_low) {
  const auto low = [&](Index r) { return sums_low == nullptr ? nullptr : sums_low + r * lanes; };
  Index r = 0;
  for (; r + height <= rows; r += height)
    add_rows(std::make_index_sequence<height>{}, a + r * ld, ld, count, x, sums + r * lanes, low(r));
  for (; r + 2 <= rows; r += 2)
    add_rows(std::make_index_sequence<2>{}, a + r * ld, ld, count, x, sums + r * lanes, low(r));
  for (; r < rows; ++r) add_rows(std::make_index_sequence<1>{}, a + r * ld, ld, count, x, sums + r * lanes, low(r));
}

/// Adds sizes of `height` rows with chains in C, one for each lane, of at most short_chain terms. Several rows keep
/// more chains going.
template <bool with_largest, int height, class C, class T>
[[gnu::always_inline]] inline void add_sizes_of(const T* x, Index ld, Index count, const C* weights, RowSize* sizes) {
  constexpr Index block = lanes * short_chain;
  for (Index begin = 0; begin < count; begin += block) {
    const Index end = std::min(begin + block, count);
    C sum[height][lanes] = {}, weighted[height][lanes] = {}, largest[height][lanes] = {};
    Index j = begin;
    const auto add = [&](int r, Index at, Index v) {
      const C magnitude = std::abs(static_cast<C>(x[r * ld + at]));
      sum[r][v] += magnitude;
      if (with_largest) largest[r][v] = largest[r][v] > magnitude ? largest[r][v] : magnitude;
      if (weights != nullptr) weighted[r][v] = std::fma(magnitude, weights[at], weighted[r][v]);
    };
    for (; j + lanes <= end; j += lanes)
      for (int r = 0; r < height; ++r)
        for (Index v = 0; v < lanes; ++v) add(r, j + v, v);
    for (Index v = 0; j < end; ++j, ++v)
      for (int r = 0; r < height; ++r) add(r, j, v);
    for (int r = 0; r < height; ++r)
      for (Index v = 0; v < lanes; ++v) {
        sizes[r].sum += static_cast<double>(sum[r][v]);
        sizes[r].weighted += static_cast<double>(weighted[r][v]);
        sizes[r].largest = std::max(sizes[r].largest, static_cast<double>(largest[r][v]));
      }
  }
}

template <bool with_largest, int height, class C, class T>
[[gnu::always_inline]] inline void add_all_sizes(const T* x, Index ld, Index rows, Index count, const C* weights,
                                                 RowSize* sizes) {
  Index r = 0;
  for (; r + height <= rows; r += height) add_sizes_of<with_largest, height>(x + r * ld, ld, count, weights, sizes + r);
  for (; r < rows; ++r) add_sizes_of<with_largest, 1>(x + r * ld, ld, count, weights, sizes + r);
}

} // namespace

TESSERA_FMA_CLONES void add_precise(const float* a, Index ld, Index rows, Index count, const double* x, const double*,
                                    double* sums, double*) {
  for (Index r = 0; r < rows; ++r, a += ld, sums += lanes) {
    double total[lanes];
    for (Index v = 0; v < lanes; ++v) total[v] = sums[v];
    for (Index p = 0; p < count; ++p) {
      const double factor = a[p];
      for (Index v = 0; v < lanes; ++v) total[v] = std::fma(factor, x[p * lanes + v], total[v]);
    }
    for (Index v = 0; v < lanes; ++v) sums[v] = total[v];
  }
}

TESSERA_FMA_CLONES void add_precise(const double* a, Index ld, Index rows, Index count, const double* x,
                                    const double* x_low, double* sums, double* sums_low) {
  for (Index r = 0; r < rows; ++r, a += ld, sums += lanes, sums_low += lanes) {
    double high[lanes];
    double low[lanes];
    for (Index v = 0; v < lanes; ++v) high[v] = sums[v], low[v] = sums_low[v];
    for (Index p = 0; p < count; ++p) {
      const double factor = a[p];
      for (Index v = 0; v < lanes; ++v) {
        const Pair sum = add_product({high[v], low[v]}, factor, x[p * lanes + v]);
        high[v] = sum.high;
        low[v] = std::fma(factor, x_low[p * lanes + v], sum.low);
      }
    }
    for (Index v = 0; v < lanes; ++v) sums[v] = high[v], sums_low[v] = low[v];
  }
}

namespace {
TESSERA_FMA_CLONES void add_short_narrow(const float* a, Index ld, Index rows, Index count, const float* x,
                                         double* sums, double* sums_low) {
  add_all<6>(a, ld, rows, count, x, sums, sums_low);
}
TESSERA_FMA_CLONES void add_short_narrow(const double* a, Index ld, Index rows, Index count, const double* x,
                                         double* sums, double* sums_low) {
  add_all<3>(a, ld, rows, count, x, sums, sums_low);
}
#if defined(TESSERA_AVX512)
/// Twice as many registers of twice the length hold the chains of more rows.
TESSERA_AVX512 void add_short_wide(const float* a, Index ld, Index rows, Index count, const float* x, double* sums,
                                   double* sums_low) {
  add_all<16>(a, ld, rows, count, x, sums, sums_low);
}
TESSERA_AVX512 void add_short_wide(const double* a, Index ld, Index rows, Index count, const double* x, double* sums,
                                   double* sums_low) {
  add_all<8>(a, ld, rows, count, x, sums, sums_low);
}
#endif
} // namespace

void add_short(const float* a, Index ld, Index rows, Index count, const float* x, double* sums, double* sums_low) {
#if defined(TESSERA_AVX512)
  if (__builtin_cpu_supports("avx512f")) return add_short_wide(a, ld, rows, count, x, sums, sums_low);
#endif
  add_short_narrow(a, ld, rows, count, x, sums, sums_low);
}
void add_short(const double* a, Index ld, Index rows, Index count, const double* x, double* sums, double* sums_low) {
#if defined(TESSERA_AVX512)
  if (__builtin_cpu_supports("avx512f")) return add_short_wide(a, ld, rows, count, x, sums, sums_low);
#endif
  add_short_narrow(a, ld, rows, count, x, sums, sums_low);
}

TESSERA_WIDE_CLONES void add_sizes(const float* x, Index ld, Index rows, Index count, const double* weights, bool,
                                   RowSize* sizes) {
  add_all_sizes<true, 1, double>(x, ld, rows, count, weights, sizes);
}
TESSERA_WIDE_CLONES void add_sizes(const double* x, Index ld, Index rows, Index count, const double* weights, bool,
                                   RowSize* sizes) {
  add_all_sizes<true, 1, double>(x, ld, rows, count, weights, sizes);
}
TESSERA_WIDE_CLONES void add_sizes_short(const float* x, Index ld, Index rows, Index count, const float* weights,
                                         bool largest, RowSize* sizes) {
  largest ? add_all_sizes<true, 2, float>(x, ld, rows, count, weights, sizes)
          : add_all_sizes<false, 2, float>(x, ld, rows, count, weights, sizes);
}
TESSERA_WIDE_CLONES void add_sizes_short(const double* x, Index ld, Index rows, Index count, const double* weights,
                                         bool largest, RowSize* sizes) {
  largest ? add_all_sizes<true, 1, double>(x, ld, rows, count, weights, sizes)
          : add_all_sizes<false, 1, double>(x, ld, rows, count, weights, sizes);
}

} // namespace tessera::compare
