#pragma once

/// The checks of level 3's arguments, which do not depend on the memory that the matrices are in. They throw
/// InvalidArgument.

#include <tessera/linear_algebra/symm.hpp>
#include <tessera/linear_algebra/syrk.hpp>

namespace tessera::linear_algebra {

template <class T>
void check_rank_update(const detail::RankUpdateCall<T>& call);
template <class T>
void check_symmetric(const detail::SymmetricCall<T>& call);

/// Has the update no terms? Then A and B are not read.
template <class T>
bool adds_nothing(const detail::RankUpdateCall<T>& call) {
  return call.k == 0 || call.alpha == T(0);
}
/// Does C stay as it is?
template <class T>
bool leaves_result(const detail::RankUpdateCall<T>& call) {
  return adds_nothing(call) && call.beta == T(1);
}

} // namespace tessera::linear_algebra
