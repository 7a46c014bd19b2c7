#pragma once

/// The backend of a test that runs once for each, as a word that tests compare and print.

#include "subject.hpp"

namespace tessera::test {

inline Backend tested_backend() { return conformance::options().backend; }

} // namespace tessera::test
