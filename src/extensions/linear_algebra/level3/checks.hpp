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

} // namespace tessera::linear_algebra
