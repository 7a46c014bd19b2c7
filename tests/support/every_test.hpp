#pragma once

#include "test_all.hpp"

namespace tessera::test {

/// A sanitized program takes many times as long. Bits, bounds and numbers are checked without sanitizers.
#ifdef __SANITIZE_ADDRESS__
inline constexpr bool sanitized = true;
#else
inline constexpr bool sanitized = false;
#endif

/// Says whether this run leaves out cases because it is sanitized.
inline bool has_fewer_cases() { return sanitized && !everything_is_tested(); }

} // namespace tessera::test
