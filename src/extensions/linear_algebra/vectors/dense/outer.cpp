#include "dense.hpp"

#if TESSERA_HAS_WIDE

namespace tessera::vectors {
namespace {

/// a[i] += u[i]·v for `count` rows. The last vector overlaps the one before: it is computed from what was there before,
/// so that both have the same bits where they meet. Storing a part of a vector would take longer.
template <class N>
TESSERA_WIDE_CODE void add_to_column(N* a, Index count, const N* u, const Times<N>& by) {
  constexpr Index w = wide_numbers<N>;
  if (count < w) {
    const __m256i mask = mask_of_first<N>(count);
    store_masked(parts_of(a), mask, step(by, load_masked(parts_of(u), mask), load_masked(parts_of(a), mask)));
    return;
  }
  const Index rest = count - w;
  const WideOf<N> last = step(by, load(parts_of(u + rest)), load(parts_of(a + rest)));
  Index i = 0;
  for (; i + 4 * w <= count; i += 4 * w)
#pragma GCC unroll 4
    for (Index v = 0; v < 4; ++v) {
      auto* const at = parts_of(a + i + v * w);
      store(at, step(by, load(parts_of(u + i + v * w)), load(at)));
    }
  for (; i < rest; i += w) store(parts_of(a + i), step(by, load(parts_of(u + i)), load(parts_of(a + i))));
  store(parts_of(a + rest), last);
}

template <bool twice, class N>
TESSERA_WIDE_CODE void outer(const OuterWalk<N>& a, const N* u, const N* v, const N* other_u, const N* other_v,
                             bool conjugates_u) {
  N* column = a.first;
  Index next = a.step;
  for (Index k = 0; k < a.count; ++k) {
    const Index first = a.part == Part::Lower ? std::clamp<Index>(k + a.offset, 0, a.rows) : 0;
    const Index end = a.part == Part::Upper ? std::clamp<Index>(k + a.offset + 1, 0, a.rows) : a.rows;
    add_to_column(column + first, end - first, u + first, times(v[k], conjugates_u));
    if constexpr (twice) add_to_column(column + first, end - first, other_u + first, times(other_v[k], conjugates_u));
    column += next;
    next += a.growth;
  }
}

} // namespace

#define TESSERA_OUTER(N)                                                                                         \
  TESSERA_WIDE_ENTRY void add_outer(const OuterWalk<N>& a, const N* u, const N* v, bool conjugates_u) noexcept { \
    outer<false>(a, u, v, u, v, conjugates_u);                                                                   \
  }                                                                                                              \
  TESSERA_WIDE_ENTRY void add_outers(const OuterWalk<N>& a, const N* u, const N* v, const N* other_u,            \
                                     const N* other_v) noexcept {                                                \
    outer<true>(a, u, v, other_u, other_v, false);                                                               \
  }
TESSERA_OUTER(float)
TESSERA_OUTER(double)
TESSERA_OUTER(ComplexNumber<float>)
TESSERA_OUTER(ComplexNumber<double>)
#undef TESSERA_OUTER

} // namespace tessera::vectors

#endif
