#include "apart.hpp"
#include "squares.hpp"

#if TESSERA_HAS_WIDE

namespace tessera::vectors {
namespace {

// Columns side by side: elements of a row come from as many columns as a vector holds.

/// The most columns whose chains go on together. A chain waits for each of its steps, so that there have to be enough
/// of them; more than 16 columns are read more slowly, and so complex numbers of 8 bytes alone have more.
template <class N>
constexpr Index turned_columns = has_two_parts<N> && sizeof(N) == 8 ? 32 : 16;
/// How many columns are the unit of which a tile has one to four.
template <class N>
constexpr int turned_unit = wide_numbers<N>* Parts<N>::count;

/// The rows `first` on of a tile's chains, which are real numbers.
template <int units, bool descending, bool conjugated, class R, class Where, class... Count>
TESSERA_WIDE_CODE void turn_rows(const Where& a, Index first, const R* x, WideOf<R> (&sum)[units], Count... count) {
  constexpr int rows = square_rows<R>;
#pragma GCC unroll 4
  for (int v = 0; v < units; ++v) {
    WideOf<R> row[rows];
    load_rows(of_vector(a, v, first), static_cast<const R*>(nullptr), count..., row);
#pragma GCC unroll 4
    for (int s = 0; s < rows; ++s) {
      const int r = descending ? rows - 1 - s : s;
      if (((r < count) && ...)) sum[v] = fused(row[r], spread(x[first + r]), sum[v]);
    }
  }
}
/// The parts of two rows of four columns, or of eight: the first unit's of complex numbers. `later` tells whether the
/// rows before are the columns' as well, so that a vector may begin with them.
template <bool later, class Column>
TESSERA_WIDE_CODE void load_two_rows(const Column& column, const ComplexNumber<double>*, Apart<double> (&row)[2]) {
  const auto two = [&](int c, int d, int r) __attribute__((target("avx2,fma"), always_inline)) {
    const double *const a = parts_of(column(c)), *const b = parts_of(column(d));
    if (r == 0) return halves(_mm_loadu_pd(a), _mm_loadu_pd(b));
    return _mm256_blend_pd(_mm256_castpd128_pd256(_mm_loadu_pd(a + 2)), _mm256_loadu_pd(b), 0xC);
  };
#pragma GCC unroll 2
  for (int r = 0; r < 2; ++r) row[r] = apart(two(0, 1, r), two(2, 3, r));
}
template <bool later, class Column>
TESSERA_WIDE_CODE void load_two_rows(const Column& column, const ComplexNumber<float>*, Apart<float> (&row)[2]) {
  const auto two = [&](int c, int d) __attribute__((target("avx2,fma"), always_inline)) {
    const float *const a = parts_of(column(c)), *const b = parts_of(column(d));
    if (!later) return halves(_mm_loadu_ps(a), _mm_loadu_ps(b));
    return _mm256_blend_ps(_mm256_castps128_ps256(_mm_loadu_ps(a)), _mm256_loadu_ps(b - 4), 0xF0);
  };
  // The order of columns is the one of apart(): 0, 1, 4, 5 in the lower half.
  const __m256 a = two(0, 2), b = two(1, 3), c = two(4, 6), d = two(5, 7);
  const __m256d ab = _mm256_castps_pd(_mm256_unpacklo_ps(a, b)), cd = _mm256_castps_pd(_mm256_unpacklo_ps(c, d));
  const __m256d ab_later = _mm256_castps_pd(_mm256_unpackhi_ps(a, b));
  const __m256d cd_later = _mm256_castps_pd(_mm256_unpackhi_ps(c, d));
  row[0] = {_mm256_castpd_ps(_mm256_unpacklo_pd(ab, cd)), _mm256_castpd_ps(_mm256_unpackhi_pd(ab, cd))};
  row[1] = {_mm256_castpd_ps(_mm256_unpacklo_pd(ab_later, cd_later)),
            _mm256_castpd_ps(_mm256_unpackhi_pd(ab_later, cd_later))};
}

template <bool later, int units, bool descending, bool conjugated, class R, class Where>
TESSERA_WIDE_CODE void turn_two_rows(const Where& a, Index first, const ComplexNumber<R>* x, Apart<R> (&sum)[units]) {
#pragma GCC unroll 4
  for (int p = 0; p < units; ++p) {
    Apart<R> row[2];
    load_two_rows<later>(of_vector(a, 2 * p, first), static_cast<const ComplexNumber<R>*>(nullptr), row);
#pragma GCC unroll 2
    for (int s = 0; s < 2; ++s) {
      const int r = descending ? 1 - s : s;
      step_apart<conjugated>(sum[p], row[r], spread_apart(x[first + r]));
    }
  }
}
/// The same of complex numbers.
template <int units, bool descending, bool conjugated, class R, class Where>
TESSERA_WIDE_CODE void turn_rows(const Where& a, Index first, const ComplexNumber<R>* x, Apart<R> (&sum)[units]) {
  constexpr int rows = square_rows<ComplexNumber<R>>;
  if constexpr (rows == 2) return turn_two_rows<false, units, descending, conjugated>(a, first, x, sum);
  if constexpr (rows == 4) {
    if (!descending) turn_two_rows<false, units, descending, conjugated>(a, first, x, sum);
    turn_two_rows<true, units, descending, conjugated>(a, first + 2, x, sum);
    if (descending) turn_two_rows<false, units, descending, conjugated>(a, first, x, sum);
  }
}
template <int units, bool descending, bool conjugated, class R, class Where>
TESSERA_WIDE_CODE void turn_rows(const Where& a, Index first, const ComplexNumber<R>* x, Apart<R> (&sum)[units],
                                 Index count) {
  using N = ComplexNumber<R>;
  constexpr int rows = square_rows<N>;
#pragma GCC unroll 4
  for (int p = 0; p < units; ++p) {
    WideOf<R> row[rows], other[rows];
    load_rows(of_vector(a, 2 * p, first), static_cast<const N*>(nullptr), count, row);
    load_rows(of_vector(a, 2 * p + 1, first), static_cast<const N*>(nullptr), count, other);
#pragma GCC unroll 4
    for (int s = 0; s < rows; ++s) {
      const int r = descending ? rows - 1 - s : s;
      if (r < count) step_apart<conjugated>(sum[p], apart(row[r], other[r]), spread_apart(x[first + r]));
    }
  }
}

TESSERA_WIDE_CODE __m256 load_chains(const float* chain) { return load(chain); }
TESSERA_WIDE_CODE __m256d load_chains(const double* chain) { return load(chain); }
template <class R>
TESSERA_WIDE_CODE Apart<R> load_chains(const ComplexNumber<R>* chain) {
  return load_apart(chain);
}
TESSERA_WIDE_CODE void store_chains(float* chain, __m256 sum) { store(chain, sum); }
TESSERA_WIDE_CODE void store_chains(double* chain, __m256d sum) { store(chain, sum); }
template <class R>
TESSERA_WIDE_CODE void store_chains(ComplexNumber<R>* chain, const Apart<R>& sum) {
  store_apart(chain, sum);
}

/// The chains of so many units of columns, `a` being a walk without growth or the columns' addresses.
template <int units, bool descending, bool conjugated, class N, class Where>
TESSERA_WIDE_CODE void turned_tile(const Where& a, Index rows, const N* x, N* chain) {
  decltype(load_chains(chain)) sum[units];
#pragma GCC unroll 4
  for (int v = 0; v < units; ++v) sum[v] = load_chains(chain + v * turned_unit<N>);
  constexpr Index at_once = square_rows<N>;
  const Index rest = rows % at_once, whole = rows - rest;
  for (Index done = 0; done < whole; done += at_once) {
    const Index first = descending ? rows - done - at_once : done;
    turn_rows<units, descending, conjugated>(a, first, x, sum);
  }
  if (rest > 0) turn_rows<units, descending, conjugated>(a, descending ? 0 : whole, x, sum, rest);
#pragma GCC unroll 4
  for (int v = 0; v < units; ++v) store_chains(chain + v * turned_unit<N>, sum[v]);
}

/// `most` is how many columns there may be.
template <Index most, bool descending, bool conjugated, class N>
TESSERA_WIDE_CODE void turned_pointers(const N* const* columns, Index units, Index rows, const N* x, N* chain) {
  if (units == 1) turned_tile<1, descending, conjugated>(columns, rows, x, chain);
  if (units == 2) turned_tile<2, descending, conjugated>(columns, rows, x, chain);
  if constexpr (most > 2 * turned_unit<N>) {
    if (units == 3) turned_tile<3, descending, conjugated>(columns, rows, x, chain);
    if (units == 4) turned_tile<4, descending, conjugated>(columns, rows, x, chain);
  }
}

template <bool descending, bool conjugated, class N>
TESSERA_WIDE_CODE void turned(Walk<N> a, Index rows, Index count, const N* x, N* chain) {
  constexpr Index most = turned_columns<N>, half = most / 2;
  constexpr int units_at_once = static_cast<int>(most / turned_unit<N>);
  for (; count >= most && a.growth == 0; count -= most, chain += most, a.first += most * a.step)
    turned_tile<units_at_once, descending, conjugated>(a, rows, x, chain);
  if (count >= half && a.growth == 0) {
    turned_tile<units_at_once / 2, descending, conjugated>(a, rows, x, chain);
    count -= half;
    chain += half;
    a.first += half * a.step;
  }
  const N* columns[most];
  for (; count > 0; count -= most, chain += most) {
    const Index units = std::min<Index>((count + turned_unit<N> - 1) / turned_unit<N>, units_at_once);
    Index goes_on = 1;
    for (Index c = 0; c < units * turned_unit<N>; ++c) { // after the last column the last one is read again, in vain
      columns[c] = a.first;
      if (c + 1 == count) goes_on = 0;
      a.first += a.step * goes_on;
      a.step += a.growth;
    }
    turned_pointers<most, descending, conjugated>(static_cast<const N* const*>(columns), units, rows, x, chain);
  }
}

template <bool descending, bool conjugated, class N>
TESSERA_WIDE_CODE void turned_scattered(const N* const* a, Index count, Index rows, const N* x, N* chain) {
  const Index units = (count + turned_unit<N> - 1) / turned_unit<N>;
  const N* columns[most_turned];
  for (Index c = 0; c < units * turned_unit<N>; ++c) columns[c] = a[std::min(c, count - 1)];
  turned_pointers<most_turned, descending, conjugated>(static_cast<const N* const*>(columns), units, rows, x, chain);
}

} // namespace

// A function for each way, lest one has them all in its frame.
template <bool conjugated, class N>
TESSERA_WIDE_ENTRY static void add_turned_of(const Walk<N>& a, Index rows, Index count, const N* x, bool descending,
                                             N* chain) noexcept {
  descending ? turned<true, conjugated>(a, rows, count, x, chain) : turned<false, conjugated>(a, rows, count, x, chain);
}
template <bool conjugated, class N>
TESSERA_WIDE_ENTRY static void add_scattered_of(const N* const* a, Index count, Index rows, const N* x, bool descending,
                                                N* chain) noexcept {
  descending ? turned_scattered<true, conjugated>(a, count, rows, x, chain)
             : turned_scattered<false, conjugated>(a, count, rows, x, chain);
}

#define TESSERA_TURNED(N)                                                                                          \
  void add_turned(const Walk<N>& a, Index rows, Index count, const N* x, bool conjugated, bool descending,         \
                  N* chain) noexcept {                                                                             \
    has_two_parts<N>&& conjugated ? add_turned_of<has_two_parts<N>>(a, rows, count, x, descending, chain)          \
                                  : add_turned_of<false>(a, rows, count, x, descending, chain);                    \
  }                                                                                                                \
  void add_turned(const N* const* columns, Index count, Index rows, const N* x, bool conjugated, bool descending,  \
                  N* chain) noexcept {                                                                             \
    has_two_parts<N>&& conjugated ? add_scattered_of<has_two_parts<N>>(columns, count, rows, x, descending, chain) \
                                  : add_scattered_of<false>(columns, count, rows, x, descending, chain);           \
  }
TESSERA_TURNED(float)
TESSERA_TURNED(double)
TESSERA_TURNED(ComplexNumber<float>)
TESSERA_TURNED(ComplexNumber<double>)
#undef TESSERA_TURNED

} // namespace tessera::vectors

#endif
