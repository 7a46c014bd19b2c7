#pragma once

/// Tests that run once for each backend: the variable TESTED_BACKEND names it. A program with such tests has the main
/// of this header.

#include <cstdlib>
#include <iostream>
#include <string>
#include <string_view>

#include <boost/test/unit_test.hpp>

#include <tessera/backend.hpp>

#include "tested_backend_word.hpp"

namespace tessera::test {

/// Runs the tests. Returns 77, which CTest shows as skipped, if the backend is not there, or 1 if TESSERA_REQUIRE names
/// it.
inline int main_for_tested_backend(int argc, char** argv) {
  const Backend backend = tested_backend();
  for (const BackendInfo& info : available_backends()) {
    if (info.backend != backend || info.available) continue;
    const std::string name(to_string(backend));
    const char* const required = std::getenv("TESSERA_REQUIRE");
    const bool must = required != nullptr && std::string_view(required).find(name) != std::string_view::npos;
    (must ? std::cerr : std::cout) << (must ? "FAILED: TESSERA_REQUIRE names " + name + ", but it" : "SKIPPED: " + name)
                                   << " is not available: " << info.reason << '\n';
    return must ? 1 : 77;
  }
  return boost::unit_test::unit_test_main([] { return true; }, argc, argv);
}

} // namespace tessera::test
