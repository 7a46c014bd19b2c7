#pragma once

/// The main of a test program that CTest runs once for each backend: PROGRAM [Boost.Test's options] -- --backend=NAME
/// [--quick | --part] [--every=N]
///
/// --quick runs a reduced set of cases, for slow tools; --part does so unless this is a run of everything.
///
/// The exit status is 0 if the tests pass, 77 if the backend is not there (skipped), 2 if the arguments are wrong, and
/// anything else if a test fails. A backend that TESSERA_REQUIRE names has to be there.

#include <iostream>
#include <string>

#include <boost/test/unit_test.hpp>

#include "subject.hpp"

namespace tessera::test {

inline std::string reason_for_absence(Backend backend) {
  for (const BackendInfo& info : available_backends())
    if (info.backend == backend) return info.available ? "" : info.reason;
  return "unknown backend";
}

/// `add_tests` registers the tests that do not register themselves.
inline int main_for_backend(const char* program, int argc, char** argv, bool (*add_tests)()) try {
  constexpr int skipped = 77;
  const conformance::Options options = conformance::parse_options(argc, argv);
  conformance::choose(options);
  const std::string name(to_string(options.backend));
  if (const std::string reason = reason_for_absence(options.backend); !reason.empty()) {
    if (conformance::required(options.backend)) {
      std::cerr << "FAILED: TESSERA_REQUIRE names " << name << ", but it is not available: " << reason << '\n';
      return 1;
    }
    std::cout << "SKIPPED: " << name << " is not available: " << reason << '\n';
    return skipped;
  }
  std::cout << "backend " << name << ": " << conformance::subject().capabilities().device << '\n';
  return boost::unit_test::unit_test_main(add_tests, argc, argv);
} catch (const std::exception& error) {
  std::cerr << program << ": " << error.what() << '\n';
  return 2;
}

} // namespace tessera::test
