#pragma once

#include <tessera/executor.hpp>

namespace tessera {

/// Says whether the generator can keep the promise of Distribution for this call's type and limits. The Status is
/// InvalidArgument, with the limits, where it cannot.
Status check_random(const RandomCall& call) noexcept;

} // namespace tessera
