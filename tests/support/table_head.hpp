#pragma once

/// How a plug-in's table begins: its size, its ABI and the build's tag. The definitions WRONG_SIZE, WRONG_ABI and
/// WRONG_TAG make one of them wrong.

#include <cstddef>

#include <tessera/backend/build_tag.hpp>

namespace tessera::test {

constexpr std::size_t table_size(std::size_t right) {
#if defined(WRONG_SIZE)
  return right + 8;
#else
  return right;
#endif
}

constexpr int table_abi(int right) {
#if defined(WRONG_ABI)
  return right + 1;
#else
  return right;
#endif
}

#if defined(WRONG_TAG)
inline constexpr const char* table_tag = "another-standard-library";
#else
inline constexpr const char* table_tag = TESSERA_BUILD_TAG;
#endif

} // namespace tessera::test
