#include "dense.hpp"

#include "apart.hpp"

#if TESSERA_HAS_WIDE

namespace tessera::vectors {
namespace {

// Rows side by side.

/// Rows of `vectors` vectors, the last of which has the numbers of the mask where is_cut.
template <int vectors, bool is_cut, class N>
TESSERA_WIDE_CODE void walk_rows(Walk<N> a, Index count, const N* x, bool conjugated, [[maybe_unused]] __m256i mask,
                                 N* chain) {
  constexpr int w = wide_numbers<N>;
  WideOf<N> sum[vectors];
#pragma GCC unroll 8
  for (int v = 0; v < vectors; ++v) sum[v] = load(parts_of(chain + v * w));
  const N* column = a.first;
  Index next = a.step;
  for (Index k = 0; k < count; ++k) {
    const Times<N> by = times(x[k], conjugated);
#pragma GCC unroll 8
    for (int v = 0; v < vectors; ++v) {
      const RealOf<N>* const at = parts_of(column + v * w);
      if (is_cut && v == vectors - 1)
        sum[v] = step(by, load_masked(at, mask), sum[v]);
      else
        sum[v] = step(by, load(at), sum[v]);
    }
    column += next;
    next += a.growth;
  }
#pragma GCC unroll 8
  for (int v = 0; v < vectors; ++v) store(parts_of(chain + v * w), sum[v]);
}

/// The same of complex numbers, of which each pair of vectors is taken apart.
template <int pairs, bool is_cut, bool conjugated, class R>
TESSERA_WIDE_CODE void walk_pairs(Walk<ComplexNumber<R>> a, Index count, const ComplexNumber<R>* x,
                                  [[maybe_unused]] __m256i mask, [[maybe_unused]] __m256i second_mask,
                                  ComplexNumber<R>* chain) {
  constexpr int w = wide_numbers<ComplexNumber<R>>;
  Apart<R> sum[pairs];
#pragma GCC unroll 4
  for (int p = 0; p < pairs; ++p) sum[p] = load_apart(chain + p * 2 * w);
  const ComplexNumber<R>* column = a.first;
  Index next = a.step;
  for (Index k = 0; k < count; ++k) {
    const Apart<R> by = spread_apart(x[k]);
#pragma GCC unroll 4
    for (int p = 0; p < pairs; ++p) {
      const ComplexNumber<R>* const at = column + p * 2 * w;
      if (is_cut && p == pairs - 1)
        step_apart<conjugated>(sum[p],
                               apart(load_masked(parts_of(at), mask), load_masked(parts_of(at + w), second_mask)), by);
      else
        step_apart<conjugated>(sum[p], load_apart(at), by);
    }
    column += next;
    next += a.growth;
  }
#pragma GCC unroll 4
  for (int p = 0; p < pairs; ++p) store_apart(chain + p * 2 * w, sum[p]);
}

template <class N>
TESSERA_WIDE_CODE void walk(Walk<N> a, Index rows, Index count, const N* x, bool conjugated, N* chain) {
  constexpr Index w = wide_numbers<N>, most = 8 * w;
  for (; rows >= most; rows -= most, a.first += most, chain += most)
    walk_rows<8, false>(a, count, x, conjugated, _mm256_setzero_si256(), chain);
  if (rows == 0) return;
  const Index vectors = (rows + w - 1) / w;
  const __m256i mask = mask_of_first<N>(rows - (vectors - 1) * w);
  switch (vectors) {
    case 1:
      return walk_rows<1, true>(a, count, x, conjugated, mask, chain);
    case 2:
      return walk_rows<2, true>(a, count, x, conjugated, mask, chain);
    case 3:
      return walk_rows<3, true>(a, count, x, conjugated, mask, chain);
    case 4:
      return walk_rows<4, true>(a, count, x, conjugated, mask, chain);
    case 5:
      return walk_rows<5, true>(a, count, x, conjugated, mask, chain);
    case 6:
      return walk_rows<6, true>(a, count, x, conjugated, mask, chain);
    case 7:
      return walk_rows<7, true>(a, count, x, conjugated, mask, chain);
    default:
      return walk_rows<8, true>(a, count, x, conjugated, mask, chain);
  }
}

template <bool conjugated, class R>
TESSERA_WIDE_CODE void walk_complex(Walk<ComplexNumber<R>> a, Index rows, Index count, const ComplexNumber<R>* x,
                                    ComplexNumber<R>* chain) {
  constexpr Index w = wide_numbers<ComplexNumber<R>>, pair = 2 * w, most = 4 * pair;
  const __m256i none = _mm256_setzero_si256();
  for (; rows >= most; rows -= most, a.first += most, chain += most)
    walk_pairs<4, false, conjugated>(a, count, x, none, none, chain);
  if (rows == 0) return;
  const Index pairs = (rows + pair - 1) / pair, rest = rows - (pairs - 1) * pair;
  const __m256i mask = mask_of_first<ComplexNumber<R>>(rest), second = mask_of_first<ComplexNumber<R>>(rest - w);
  if (pairs == 1) return walk_pairs<1, true, conjugated>(a, count, x, mask, second, chain);
  if (pairs == 2) return walk_pairs<2, true, conjugated>(a, count, x, mask, second, chain);
  if (pairs == 3) return walk_pairs<3, true, conjugated>(a, count, x, mask, second, chain);
  walk_pairs<4, true, conjugated>(a, count, x, mask, second, chain);
}
template <class R>
TESSERA_WIDE_CODE void walk(Walk<ComplexNumber<R>> a, Index rows, Index count, const ComplexNumber<R>* x,
                            bool conjugated, ComplexNumber<R>* chain) {
  conjugated ? walk_complex<true>(a, rows, count, x, chain) : walk_complex<false>(a, rows, count, x, chain);
}

// A few columns after another, so that memory is read in its order: the chains are read and written for each few.

/// Chains whose parts are apart in memory, too.
template <class R>
struct PartsOfChains {
  R *re, *im;
};
/// Elements of vectors in memory's order become those in the order of apart(), and these become the others.
TESSERA_WIDE_CODE __m256d in_apart_order(__m256d x) { return _mm256_permute4x64_pd(x, 0xD8); }
TESSERA_WIDE_CODE __m256 in_apart_order(__m256 x) { return _mm256_castpd_ps(in_apart_order(_mm256_castps_pd(x))); }
template <class R>
TESSERA_WIDE_CODE Apart<R> load_chains_at(const ComplexNumber<R>* chain, Index i) {
  return load_apart(chain + i);
}
template <class R>
TESSERA_WIDE_CODE Apart<R> load_chains_at(const PartsOfChains<R>& chain, Index i) {
  return {in_apart_order(load(chain.re + i)), in_apart_order(load(chain.im + i))};
}
template <class R>
TESSERA_WIDE_CODE void store_chains_at(ComplexNumber<R>* chain, Index i, const Apart<R>& sum) {
  store_apart(chain + i, sum);
}
template <class R>
TESSERA_WIDE_CODE void store_chains_at(const PartsOfChains<R>& chain, Index i, const Apart<R>& sum) {
  store(chain.re + i, in_apart_order(sum.re));
  store(chain.im + i, in_apart_order(sum.im));
}

/// Continues the chains by whole pairs of vectors, and returns how many rows they have.
template <int columns, bool conjugated, class R, class ChainsOfRows>
TESSERA_WIDE_CODE Index sweep_pairs(const ComplexNumber<R>* const (&column)[columns], Index rows,
                                    const Apart<R> (&by)[columns], const ChainsOfRows& chain) {
  constexpr Index pair = 2 * wide_numbers<ComplexNumber<R>>;
  Index i = 0;
  for (; i + pair <= rows; i += pair) {
    Apart<R> sum = load_chains_at(chain, i);
#pragma GCC unroll 4
    for (int c = 0; c < columns; ++c) step_apart<conjugated>(sum, load_apart(column[c] + i), by[c]);
    store_chains_at(chain, i, sum);
  }
  return i;
}

template <int columns, bool conjugated, class R>
TESSERA_WIDE_CODE void sweep_columns(const Walk<ComplexNumber<R>>& a, Index rows, const ComplexNumber<R>* x,
                                     ComplexNumber<R>* chain) {
  constexpr Index w = wide_numbers<ComplexNumber<R>>;
  const ComplexNumber<R>* column[columns];
  Apart<R> by[columns];
#pragma GCC unroll 4
  for (int c = 0; c < columns; ++c) {
    column[c] = a.first + c * a.step + a.growth * (c * (c - 1) / 2);
    by[c] = spread_apart(x[c]);
  }
  const Index i = sweep_pairs<columns, conjugated>(column, rows, by, chain);
  if (i == rows) return;
  const __m256i mask = mask_of_first<ComplexNumber<R>>(rows - i);
  const __m256i second = mask_of_first<ComplexNumber<R>>(rows - i - w);
  Apart<R> sum = load_apart(chain + i);
#pragma GCC unroll 4
  for (int c = 0; c < columns; ++c)
    step_apart<conjugated>(
        sum, apart(load_masked(parts_of(column[c] + i), mask), load_masked(parts_of(column[c] + i + w), second)),
        by[c]);
  store_apart(chain + i, sum);
}
template <bool conjugated, class R>
TESSERA_WIDE_CODE void sweep(Walk<ComplexNumber<R>> a, Index rows, Index count, const ComplexNumber<R>* x,
                             ComplexNumber<R>* chain) {
  constexpr Index few = few_at_once;
  for (; count >= few; count -= few, x += few) {
    sweep_columns<few, conjugated>(a, rows, x, chain);
    a.first += few * a.step + a.growth * (few * (few - 1) / 2);
    a.step += few * a.growth;
  }
  if (count == 1) sweep_columns<1, conjugated>(a, rows, x, chain);
  if (count == 2) sweep_columns<2, conjugated>(a, rows, x, chain);
  if (count == 3) sweep_columns<3, conjugated>(a, rows, x, chain);
}

template <bool conjugated, class R>
TESSERA_WIDE_CODE Index sweep_few(const ComplexNumber<R>* const* a, Index rows, const ComplexNumber<R>* x,
                                  const PartsOfChains<R>& chain) {
  const ComplexNumber<R>* const column[] = {a[0], a[1], a[2], a[3]};
  const Apart<R> by[] = {spread_apart(x[0]), spread_apart(x[1]), spread_apart(x[2]), spread_apart(x[3])};
  return sweep_pairs<few_at_once, conjugated>(column, rows, by, chain);
}

} // namespace

#define TESSERA_ROWS(N)                                                                                    \
  TESSERA_WIDE_ENTRY void add_walk(const Walk<N>& a, Index rows, Index count, const N* x, bool conjugated, \
                                   N* chain) noexcept {                                                    \
    walk(a, rows, count, x, conjugated, chain);                                                            \
  }
TESSERA_ROWS(float)
TESSERA_ROWS(double)
TESSERA_ROWS(ComplexNumber<float>)
TESSERA_ROWS(ComplexNumber<double>)
#undef TESSERA_ROWS

#define TESSERA_SWEEP(N)                                                                                    \
  TESSERA_WIDE_ENTRY void add_swept(const Walk<N>& a, Index rows, Index count, const N* x, bool conjugated, \
                                    N* chain) noexcept {                                                    \
    conjugated ? sweep<true>(a, rows, count, x, chain) : sweep<false>(a, rows, count, x, chain);            \
  }
TESSERA_SWEEP(ComplexNumber<float>)
TESSERA_SWEEP(ComplexNumber<double>)
#undef TESSERA_SWEEP

#define TESSERA_SWEEP(R)                                                                                          \
  TESSERA_WIDE_ENTRY Index add_few(const ComplexNumber<R>* const* columns, Index rows, const ComplexNumber<R>* x, \
                                   bool conjugated, R* re, R* im) noexcept {                                      \
    const PartsOfChains<R> chain{re, im};                                                                         \
    return conjugated ? sweep_few<true>(columns, rows, x, chain) : sweep_few<false>(columns, rows, x, chain);     \
  }
TESSERA_SWEEP(float)
TESSERA_SWEEP(double)
#undef TESSERA_SWEEP

} // namespace tessera::vectors

#endif
