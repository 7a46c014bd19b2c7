#include "states.hpp"

#include <cstdlib>
#include <cstring>
#include <string>

#include <boost/test/unit_test.hpp>

#include "support/expect.hpp"
#include "support/subject.hpp"
#include "tasks.hpp"

using namespace tessera;
using namespace tessera::test;

namespace {

/// Counts the elements of `size` bytes that differ.
std::size_t differing(const Bytes& x, const Bytes& y, std::size_t size) {
  std::size_t count = 0;
  for (std::size_t at = 0; at < x.size(); at += size) count += std::memcmp(&x[at], &y[at], size) != 0 ? 1 : 0;
  return count;
}

} // namespace

BOOST_AUTO_TEST_SUITE(floating_point)

// main() made the first call from a thread that flushes subnormal numbers.
BOOST_AUTO_TEST_CASE(workers_that_remember_another_state_compute_in_the_contracts) {
  const SmallNumbers small;
  const std::size_t wrong =
      differing(small.multiply(conformance::reference()), small.multiply(conformance::subject()), sizeof(float));
  BOOST_TEST(wrong == 0u, wrong << " of " << SmallNumbers::side * SmallNumbers::side
                                << " elements differ from the reference's after one call under FTZ and DAZ");
}

BOOST_AUTO_TEST_CASE(each_task_has_the_references_bits_in_every_state_and_leaves_it) {
  for (const Task& task : tasks()) {
    const Bytes expected = task.run(conformance::reference());
    BOOST_TEST((task.run(conformance::subject()) == expected), task.name << " differs in the contract's own state");
    for (const CallersState& state : callers_states()) {
      Bytes found;
      const bool left = leaves_state(state, [&] { found = task.run(conformance::subject()); });
      BOOST_TEST((found == expected), task.name << " differs under " << state.name);
      BOOST_TEST(left, task.name << " changed the caller's state under " << state.name);
    }
  }
}

// The library has no backend in it. It changes the state of the thread that loads it, before the loader can see that.
BOOST_AUTO_TEST_CASE(a_plugin_made_with_fast_math_does_not_change_the_callers_state) {
  if (std::getenv("TESSERA_PLUGIN_PATH") == nullptr) {
    BOOST_TEST_MESSAGE("skipped: TESSERA_PLUGIN_PATH does not name the library's folder; CTest sets it");
    return;
  }
  std::string why;
  const auto before = detail::FloatingPointState::read();
  try {
    static_cast<void>(parse_backend("fast_math"));
    static_cast<void>(executor(parse_backend("fast_math")));
  } catch (const Error& error) {
    why = error.what();
  }
  const auto after = detail::FloatingPointState::read();
  before.write();
  BOOST_TEST(contains(why, "tessera_plugin"), "the library was not loaded: " << why);
  BOOST_TEST((before.keeps_contract() && after.keeps_contract())); // text may be formatted inexactly
}

BOOST_AUTO_TEST_SUITE_END()
