#pragma once

/// Says whether the compiler put sanitizers into the program, which then takes many times as long. Tests with large
/// products look at fewer of them there: the bits are checked without sanitizers.

namespace tessera::test {

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
inline constexpr bool sanitized = true;
#else
inline constexpr bool sanitized = false;
#endif

} // namespace tessera::test
