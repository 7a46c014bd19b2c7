#pragma once

/// Triangular systems with one right-hand side.

#include "strips.hpp"

namespace tessera::vectors {

template <class N>
Strided<const N> read_only(const Strided<N>& x) {
  return {x.first, x.size, x.step};
}

/// x(i) := x(i) − chain(i).
template <class N>
void subtract(const Chains<N>& chains, Index base, Index begin, Index end, const Strided<N>& x) {
  for (Index i = begin; i < end; ++i) {
    const N chain = chains.at(i - base);
    if constexpr (has_two_parts<N>)
      x[i] = {x[i].re - chain.re, x[i].im - chain.im};
    else
      x[i] -= chain;
  }
}

/// A triangular system, whose unknowns are found from the first on or from the last on. Segments are counted from
/// there, and the terms of a chain come in this order.
template <class N>
struct System {
  const Columns<const N>& t;
  Form form;
  bool backwards;
  const Strided<N>& x;

  template <class Body>
  void groups(Index begin, Index end, const Body& body) const {
    const Index width = form.transposed ? columns_by_rows(t) : few_columns<N>;
    if (backwards)
      for_groups_backwards(t, begin, end, width, form.conjugated, body);
    else
      for_groups(t, begin, end, width, form.conjugated, body);
  }

  /// Finds the unknowns of a segment, from which all earlier segments' terms have been subtracted.
  void find(Index begin, Index end) const {
    Chains<N> chains;
    chains.begin(end - begin);
    N found[segment<N>];
    groups(begin, end, [&](const Group<N>& group) {
      const Index one = group.number[0], other = group.number[group.count - 1];
      const Index first = std::min(one, other), last = std::max(one, other) + 1;
      const Index r0 = backwards == form.transposed ? last : begin, r1 = backwards == form.transposed ? end : first;
      if (form.transposed) add_rows(group, found + (r0 - begin), r0, r1, backwards, begin, chains);
      solve_group(group, form.transposed, x, begin, chains);
      if (form.transposed)
        for (Index i = first; i < last; ++i) found[i - begin] = x[i];
      else
        add_columns_by(group, read_only(x), r0, r1, begin, chains);
    });
  }

  /// Subtracts the terms of the found unknowns from … to − 1 from unknowns begin … end − 1, at most a segment each.
  void subtract_terms(Index from, Index to, Index begin, Index end) const {
    Chains<N> chains;
    chains.begin(end - begin);
    Index first = begin, last = end; // that have a term there
    if (form.transposed) {
      SideBySide<N, segment<N>> near;
      const N* const unknowns = near.of(read_only(x), from, to - from);
      first = std::max(begin, t.first_column(from));
      last = std::min(end, t.end_column(to));
      groups(first, last,
             [&](const Group<N>& group) { add_rows(group, unknowns, from, to, backwards, begin, chains); });
    } else {
      first = std::max(begin, t.first(from));
      last = std::min(end, t.end(to - 1));
      groups(std::max(from, t.first_column(begin)), std::min(to, t.end_column(end)),
             [&](const Group<N>& group) { add_columns_by(group, read_only(x), begin, end, begin, chains); });
    }
    subtract(chains, begin, first, last, x);
  }

  void solve() const {
    const Index n = x.size, count = (n + segment<N> - 1) / segment<N>;
    const auto limits = [&](Index s, const auto& call) {
      const Index begin = s * segment<N>, end = std::min(n, begin + segment<N>);
      backwards ? call(n - end, n - begin) : call(begin, end);
    };
    // The stored triangle is read by columns: what is found goes to all later segments. Its transpose is read by
    // columns, too: a segment takes what has been found before.
    for (Index s = 0; s < count; ++s)
      limits(s, [&](Index begin, Index end) {
        for (Index earlier = 0; form.transposed && earlier < s; ++earlier)
          limits(earlier, [&](Index from, Index to) {
            if (touches(from, to, begin, end)) subtract_terms(from, to, begin, end);
          });
        find(begin, end);
        for (Index later = s + 1; !form.transposed && later < count; ++later)
          limits(later, [&](Index from, Index to) {
            if (touches(begin, end, from, to)) subtract_terms(begin, end, from, to);
          });
      });
  }

  /// Has the matrix elements for these known and unknown numbers?
  bool touches(Index from, Index to, Index begin, Index end) const {
    if (form.transposed) return t.first(begin) < to && t.end(end - 1) > from;
    return t.first(from) < end && t.end(to - 1) > begin;
  }
};

} // namespace tessera::vectors
