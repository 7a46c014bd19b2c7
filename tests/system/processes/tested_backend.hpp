#pragma once

/// The backend that a test of a process is about.

#include <cstdlib>

#include <tessera/backend.hpp>

namespace tessera::test {

/// Returns the backend that TESTED_BACKEND names, and Auto where it names none.
inline Backend tested_backend() {
  const char* const name = std::getenv("TESTED_BACKEND");
  return parse_backend(name != nullptr ? name : "auto");
}

} // namespace tessera::test
