/// Runs the tests that need a device. Exits with status 77 (skipped) if there is none, or with 1 if TESSERA_REQUIRE
/// names cuda.

#define BOOST_TEST_NO_MAIN
#define BOOST_TEST_ALTERNATIVE_INIT_API
#include <cstdlib>
#include <iostream>
#include <string>

#include <boost/test/unit_test.hpp>

#include <tessera/backend.hpp>

#include "limit.hpp"

int main(int argc, char** argv) {
  using namespace tessera;
  // The process-wide executor reads the limit when it is made. The tests run out of memory on purpose.
  setenv("TESSERA_CUDA_MEMORY_LIMIT", std::to_string(cuda_test::memory_limit).c_str(), 1);
  for (const BackendInfo& info : available_backends()) {
    if (info.backend != Backend::Cuda || info.available) continue;
    const char* required = std::getenv("TESSERA_REQUIRE");
    if (required != nullptr && std::string(required).find("cuda") != std::string::npos) {
      std::cerr << "FAILED: TESSERA_REQUIRE names cuda, but it is not available: " << info.reason << '\n';
      return 1;
    }
    std::cout << "SKIPPED: cuda is not available: " << info.reason << '\n';
    return 77;
  }
  const Capabilities& machine = executor(Backend::Cuda).capabilities();
  std::cout << machine.device << ", compute capability " << machine.compute_major << '.' << machine.compute_minor
            << ", " << machine.driver << '\n';
  return boost::unit_test::unit_test_main([] { return true; }, argc, argv);
}
