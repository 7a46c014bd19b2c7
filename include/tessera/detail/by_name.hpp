#pragma once

/// What makes a structure's members be named where they are initialised.

#include <tessera/detail/macros_off.hpp>

namespace tessera::detail {

/// The type of the first member of Owner, a structure with several members of one type, m and n for example, that a
/// list of values without names could exchange. Nothing converts to it, so that such a list does not compile; a list
/// with names leaves it out. The member has no bytes of its own: it is declared as
/// `[[no_unique_address]] detail::ByName<Owner> by_name = detail::ByName<Owner>{}`.
template <class Owner>
struct ByName {
  explicit constexpr ByName() noexcept = default;
};

} // namespace tessera::detail

#include <tessera/detail/macros_on.hpp>
