/// Tests that loops leave a runtime whose workers come late, and return to it.

#include <atomic>
#include <chrono>
#include <thread>
#include <vector>

#include <boost/test/unit_test.hpp>

#include "cpu/team.hpp"

using namespace tessera;

namespace {

/// A runtime on the caller's thread alone. If it is late, a loop ends some time after its last task.
class FakeTeam final : public cpu::Team {
 public:
  FakeTeam() : Team(2) {}
  int forks = 0;
  bool is_late = false;

  /// Runs loops and returns how many of them the runtime ran.
  int run_loops(int count) {
    const int before = forks;
    for (int i = 0; i < count; ++i) {
      std::vector<std::atomic<int>> runs(5);
      run(5, 2, [&](Index task, int) { ++runs[static_cast<std::size_t>(task)]; });
      for (const auto& times : runs) BOOST_REQUIRE(times == 1);
    }
    return forks - before;
  }

 private:
  int limit_here(int threads) const override { return threads; }
  void fork(int, cpu::SlotBody work) override {
    ++forks;
    work(0);
    work(1); // finds no task left
    if (is_late) std::this_thread::sleep_for(std::chrono::milliseconds(2));
  }
  void loop(Index, int, cpu::TaskBody, cpu::Schedule) override {}
  int missing_for(int) const override { return 0; }
  void can_have(int) override {}
};

} // namespace

BOOST_AUTO_TEST_SUITE(late_workers)

BOOST_AUTO_TEST_CASE(a_punctual_runtime_runs_all_loops) {
  FakeTeam team;
  // A busy machine may take the processor from this thread, so that a loop or two look late.
  BOOST_TEST(team.run_loops(500) > 100);
}

BOOST_AUTO_TEST_CASE(a_late_runtime_is_tried_less_and_less_often) {
  FakeTeam team;
  team.is_late = true;
  BOOST_TEST(team.run_loops(65) == 1);
  BOOST_TEST(team.run_loops(129) == 1);
  BOOST_TEST(team.run_loops(257) == 1);
  BOOST_TEST(team.run_loops(5000) < 10);
}

BOOST_AUTO_TEST_CASE(a_runtime_that_is_punctual_again_runs_all_loops) {
  FakeTeam team;
  team.is_late = true;
  team.run_loops(1);
  team.is_late = false;
  BOOST_TEST(team.run_loops(64) == 0);
  BOOST_TEST(team.run_loops(500) > 100);
}

BOOST_AUTO_TEST_SUITE_END()
