/// Checks the conformance of one backend: tessera_conformance [Boost.Test's options] -- --backend=NAME [--quick]
/// [--every=N]
///
/// The exit status is 0 if the backend conforms, 77 if it is not there (skipped), 2 if the arguments are wrong, and
/// anything else if a test fails. A backend that TESSERA_REQUIRE names has to be there.

#include <iostream>

#include <boost/test/unit_test.hpp>

#include "gemm_rows.hpp"
#include "subject.hpp"

namespace {

using namespace tessera;

constexpr int skipped = 77;

std::string reason_for_absence(Backend backend) {
  for (const BackendInfo& info : available_backends())
    if (info.backend == backend) return info.available ? "" : info.reason;
  return "unknown backend";
}

bool add_tests() {
  conformance::add_gemm_rows(boost::unit_test::framework::master_test_suite());
  return true;
}

} // namespace

int main(int argc, char** argv) try {
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
  std::cerr << "tessera_conformance: " << error.what() << '\n';
  return 2;
}
