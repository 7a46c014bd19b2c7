#include "dense.hpp"
#include "extensions/linear_algebra/vectors/division.hpp"

#if TESSERA_HAS_WIDE

namespace tessera::vectors {
namespace {

constexpr int found_at_once = 4;

/// Unknowns are found a few at a time in scalar registers. Then the chains of all others go on with these in vectors,
/// which may also have chains of unknowns that are known.
template <bool forwards, class N>
TESSERA_WIDE_CODE void find(const Walk<N>& a, Index count, bool is_unit, N* chain, N* x) {
  constexpr int few = found_at_once;
  constexpr Index w = wide_numbers<N>;
  using D = decltype(divisor_of(N{}));
  D divisor[tile_size<N>];
  const N* column[tile_size<N>];
  columns_of(a, count, column);
  for (Index c = 0; c < count; ++c) divisor[c] = divisor_of(is_unit ? N{} : column[c][c]);
  for (Index done = 0; done < count; done += few) {
    const int some = static_cast<int>(std::min<Index>(few, count - done));
    const Index first = forwards ? done : count - done - some;
    const auto place = [&](int p) { return forwards ? first + p : first + some - 1 - p; };
    N sum[few] = {}, found[few] = {};
#pragma GCC unroll 4
    for (int p = 0; p < few; ++p)
      if (p < some) sum[p] = chain[place(p)];
#pragma GCC unroll 4
    for (int p = 0; p < few; ++p) {
      if (p >= some) return;
      found[p] = less(x[place(p)], sum[p]);
      if (!is_unit) found[p] = quotient(found[p], divisor[place(p)]);
      x[place(p)] = found[p];
#pragma GCC unroll 4
      for (int r = p + 1; r < few; ++r)
        if (r < some) add_term(sum[r], column[place(p)][place(r)], found[p], false);
    }
    const Index begin = forwards ? (first + few) / w * w : 0, end = forwards ? count : first;
    for (Index v = begin; v < end; v += w) {
      WideOf<N> later = load(parts_of(chain + v));
#pragma GCC unroll 4
      for (int p = 0; p < few; ++p) later = step(times(found[p], false), load(parts_of(column[place(p)] + v)), later);
      store(parts_of(chain + v), later);
    }
  }
}

} // namespace

#define TESSERA_FIND(N)                                                                                       \
  TESSERA_WIDE_ENTRY void find_unknowns(const Walk<N>& a, Index count, bool forwards, bool is_unit, N* chain, \
                                        N* x) noexcept {                                                      \
    forwards ? find<true>(a, count, is_unit, chain, x) : find<false>(a, count, is_unit, chain, x);            \
  }
TESSERA_FIND(float)
TESSERA_FIND(double)
TESSERA_FIND(ComplexNumber<float>)
TESSERA_FIND(ComplexNumber<double>)
#undef TESSERA_FIND

} // namespace tessera::vectors

#endif
