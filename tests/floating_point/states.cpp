#include "states.hpp"

#include <cstring>

#include <boost/test/unit_test.hpp>

#include "conformance/subject.hpp"
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

BOOST_AUTO_TEST_SUITE_END()
