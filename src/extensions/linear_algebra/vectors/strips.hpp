#pragma once

/// The sums of one strip of a product's rows, which is at most a segment long.

#include "groups.hpp"

namespace tessera::vectors {

/// How many columns a group has: as many as a tile takes where whole tiles are to be expected, else fewer, because the
/// rows that not all of them have are slow.
template <class N>
constexpr Index few_columns = 8;
template <class N>
Index columns_by_rows(const Columns<const N>& a) {
  constexpr Index wide = has_two_parts<N> ? 256 : 64;
  return a.below + a.above < wide || a.cols < wide ? few_columns<N> : Group<N>::most;
}

/// Calls body(group) for the columns k0 … k1 − 1.
template <class N, class Body>
void for_groups(const Columns<const N>& a, Index k0, Index k1, Index width, bool conjugated, const Body& body) {
  for (Index k = k0; k < k1; k += width) body(Group<N>(a, k, std::min(k1, k + width), false, conjugated));
}
/// The same from the last column on.
template <class N, class Body>
void for_groups_backwards(const Columns<const N>& a, Index k0, Index k1, Index width, bool conjugated,
                          const Body& body) {
  for (Index k = k1; k > k0; k -= width) body(Group<N>(a, std::max(k0, k - width), k, true, conjugated));
}

/// Calls part(begin, end) for the parts of first … end − 1 that are cut at multiples of a segment.
template <class N, class Part>
void for_segments(Index first, Index end, const Part& part) {
  for (Index begin = first; begin < end;) {
    const Index stop = std::min(end, begin - begin % segment<N> + segment<N>);
    part(begin, stop);
    begin = stop;
  }
}

/// Adds the columns of a group, whose factors are elements of x, to the chains of rows r0 … r1 − 1.
template <class N>
void add_columns_by(const Group<N>& group, const Strided<const N>& x, Index r0, Index r1, Index base,
                    Chains<N>& chains) {
  N factor[Group<N>::most];
  for (int q = 0; q < group.count; ++q) factor[q] = x[group.number[q]];
  add_columns(group, factor, r0, r1, base, chains);
}

/// Sums that nothing has been added to. A sum of −0 takes any first summand as it is.
template <class N>
void begin_sums(Chains<N>& sums, Index count) {
  sums.begin(count, -RealOf<N>{0});
}

/// sums(i − r0) := the sum of a(i, k)·x(k), for rows r0 … r1 − 1.
template <class N>
void sum_rows(const Columns<const N>& a, bool conjugated, const Strided<const N>& x, Index r0, Index r1,
              Chains<N>& sums) {
  Chains<N> chains;
  begin_sums(sums, r1 - r0);
  for_segments<N>(a.first_column(r0), a.end_column(r1), [&](Index from, Index to) {
    chains.begin(r1 - r0);
    for_groups(a, from, to, few_columns<N>, conjugated,
               [&](const Group<N>& group) { add_columns_by(group, x, r0, r1, r0, chains); });
    sums.add(chains, std::max(r0, a.first(from)) - r0, std::min(r1, a.end(to - 1)) - r0);
  });
}

/// sums(j − c0) := the sum of a(k, j)·x(k), for columns c0 … c1 − 1.
template <class N>
void sum_columns(const Columns<const N>& a, bool conjugated, const Strided<const N>& x, Index c0, Index c1,
                 Chains<N>& sums) {
  Chains<N> chains;
  SideBySide<N, segment<N>> part_of_x;
  begin_sums(sums, c1 - c0);
  for_segments<N>(a.first(c0), a.end(c1 - 1), [&](Index from, Index to) {
    const N* const near = part_of_x.of(x, from, to - from);
    const Index begin = std::max(c0, a.first_column(from)), end = std::min(c1, a.end_column(to));
    chains.begin(c1 - c0);
    for_groups(a, begin, end, columns_by_rows(a), conjugated,
               [&](const Group<N>& group) { add_rows(group, near, from, to, false, c0, chains); });
    sums.add(chains, begin - c0, end - c0);
  });
}

} // namespace tessera::vectors
