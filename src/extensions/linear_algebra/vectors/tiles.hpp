#pragma once

/// Chains of a group's neighbouring columns side by side, by the loops of dense/dense.hpp.

#include "dense/dense.hpp"
#include "groups.hpp"

namespace tessera::vectors {

#if TESSERA_HAS_WIDE

/// Continues the chains of the group's columns by the rows i0 … i1 − 1, which all of them have. `x` is of row r0.
template <class N>
void add_tile(const Group<N>& group, const N* x, Index i0, Index i1, Index r0, bool descending, Index k0,
              Chains<N>& chains) {
  static_assert(Group<N>::most <= most_turned);
  constexpr int parts = Parts<N>::count;
  const N* column[Group<N>::most];
  alignas(32) N chain[Group<N>::most + 2 * wide_numbers<N>];
  auto* const numbers = parts_of(chain);
  for (int c = 0; c < group.count; ++c) {
    column[c] = group.column[c] + i0;
    for (int p = 0; p < parts; ++p) numbers[c * parts + p] = chains.part[p][group.number[c] - k0];
  }
  add_turned(column, group.count, i1 - i0, x + (i0 - r0), group.conjugated, descending, chain);
  for (int c = 0; c < group.count; ++c)
    for (int p = 0; p < parts; ++p) chains.part[p][group.number[c] - k0] = numbers[c * parts + p];
}

#else

template <class N>
void add_tile(const Group<N>&, const N*, Index, Index, Index, bool, Index, Chains<N>&) {}

#endif

} // namespace tessera::vectors
