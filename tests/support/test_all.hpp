#pragma once

#include <cstdlib>

namespace tessera::test {

/// Says whether this is a run of everything (./tessera check all), which leaves out nothing to save time.
inline bool everything_is_tested() { return std::getenv("TESSERA_TEST_ALL") != nullptr; }

} // namespace tessera::test
