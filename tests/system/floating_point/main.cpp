/// Checks that one backend computes in the contract's floating-point state, whatever the caller's:
/// tessera_floating_point [Boost.Test's options] -- --backend=NAME. The exit status is 77 if the backend is not there
/// (skipped).
///
/// The first call of the process comes from a thread that flushes subnormal numbers, so that the backend's workers are
/// made in that state and remember it. All tests run on these workers.

#include <iostream>

#include <boost/test/unit_test.hpp>

#include "states.hpp"
#include "support/subject.hpp"
#include "tasks.hpp"

using namespace tessera;

namespace {

constexpr int skipped = 77;

/// Loads the backend, and lets it make its threads, from the state of a caller. Returns the reason if it is not there.
std::string first_call(const test::CallersState& state, Backend backend) {
  const test::SmallNumbers numbers;
  std::string absent;
  const auto call = [&] {
    try {
      numbers.multiply(executor(backend));
    } catch (const BackendUnavailable& why) {
      absent = why.what();
    }
  };
  if (!test::leaves_state(state, call)) std::cout << "the first call changed the caller's state\n";
  return absent;
}

bool no_tests_of_its_own() { return true; }

} // namespace

int main(int argc, char** argv) try {
  const conformance::Options options = conformance::parse_options(argc, argv);
  conformance::choose(options);
  const std::vector<test::CallersState> states = test::callers_states();
  if (states.empty()) {
    std::cout << "SKIPPED: the test does not know this processor's floating-point registers\n";
    return skipped;
  }
  if (const std::string absent = first_call(states[2], options.backend); !absent.empty()) {
    std::cerr << (conformance::required(options.backend) ? "FAILED: " : "SKIPPED: ") << absent << '\n';
    return conformance::required(options.backend) ? 1 : skipped;
  }
  return boost::unit_test::unit_test_main(no_tests_of_its_own, argc, argv);
} catch (const std::exception& error) {
  std::cerr << "tessera_floating_point: " << error.what() << '\n';
  return 2;
}
