#pragma once

/// The backend of a test that runs once for each: the variable TESTED_BACKEND names it.

#include <cstdlib>

#include <tessera/backend.hpp>

namespace tessera::test {

/// The backend that TESTED_BACKEND names; the reference if it names none.
inline Backend tested_backend() {
  const char* const named = std::getenv("TESTED_BACKEND");
  return named != nullptr ? parse_backend(named) : Backend::Reference;
}

} // namespace tessera::test
