/// Tests that helpers that wait actively take part in all loops that they come to, and that its leader waits for no
/// other helper.

#include "cpu/active_threads.hpp"

#include <atomic>
#include <chrono>
#include <thread>
#include <vector>

#include <boost/test/unit_test.hpp>

#include "cpu/team.hpp"

using namespace tessera;

namespace {

/// Threads of C++ as a runtime.
class ThreadsTeam final : public cpu::Team {
 public:
  explicit ThreadsTeam(int threads) : Team(threads) {}
  int forks = 0;

 private:
  int limit_here(int threads) const override { return threads; }
  void fork(int threads, cpu::SlotBody work) override {
    ++forks;
    std::vector<std::jthread> others;
    for (int slot = 1; slot < threads; ++slot) others.emplace_back([=] { work(slot); });
    work(0);
  }
  void loop(Index, int, cpu::TaskBody, cpu::Schedule) override {}
  int missing_for(int) const override { return 0; }
  void can_have(int) override {}
};

} // namespace

BOOST_AUTO_TEST_SUITE(active_threads)

BOOST_AUTO_TEST_CASE(the_leader_works_alone_where_no_helper_comes) {
  cpu::ActiveThreads active;
  int runs = 0;
  for (int i = 0; i < 100; ++i)
    active.run(4, [&](int slot) {
      BOOST_REQUIRE(slot == 0);
      ++runs;
    });
  active.dismiss();
  active.help(1); // comes too late and returns
  BOOST_TEST(runs == 100);
}

BOOST_AUTO_TEST_CASE(each_loop_has_ended_when_the_next_one_begins) {
  constexpr int helpers = 3, loops = 20000;
  cpu::ActiveThreads active;
  std::vector<std::jthread> threads;
  for (int slot = 1; slot <= helpers; ++slot) threads.emplace_back([&active, slot] { active.help(slot); });
  std::atomic<int> inside = 0, wrong = 0, slots = 0;
  for (int i = 0; i < loops; ++i) {
    const int most = 1 + i % (helpers + 1);
    active.run(most, [&](int slot) {
      ++inside;
      wrong += slot >= most;
      slots |= 1 << slot;
      --inside;
    });
    wrong += inside != 0;
  }
  // A helper comes to a loop that waits for it.
  for (int slot = 1; slot <= helpers; ++slot) {
    std::atomic<bool> came = false;
    active.run(helpers + 1, [&](int here) {
      if (here == slot) came = true;
      while (here == 0 && !came) std::this_thread::yield();
    });
  }
  active.dismiss();
  BOOST_TEST(wrong == 0);
  BOOST_TEST((slots & 1) == 1);
}

BOOST_AUTO_TEST_CASE(helpers_that_sleep_wake_for_the_next_loop_and_for_the_end) {
  cpu::ActiveThreads active;
  std::jthread helper([&] { active.help(1); });
  for (int i = 0; i < 3; ++i) {
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
    std::atomic<bool> came = false;
    active.run(2, [&](int slot) {
      if (slot == 1) came = true;
      while (!came) std::this_thread::yield();
    });
  }
  std::this_thread::sleep_for(std::chrono::milliseconds(20));
  active.dismiss();
  helper.join();
  BOOST_TEST(true);
}

BOOST_AUTO_TEST_CASE(loops_of_a_team_that_stays_together_run_every_task_once) {
  ThreadsTeam team(2);
  std::atomic<int> wrong = 0;
  const auto run_loops = [&] {
    for (int i = 0; i < 500; ++i) {
      std::vector<std::atomic<int>> runs(static_cast<std::size_t>(i % 17));
      team.run(i % 17, 2, [&](Index task, int slot) {
        wrong += slot != 0 && slot != 1;
        ++runs[static_cast<std::size_t>(task)];
        // Steps within a task, and their loops, are the task's own; only a task that is alone has helpers for them.
        if (slot == 0) {
          std::atomic<int> inner_runs = 0;
          const bool is_alone = i % 17 == 1;
          team.together(2, [&] {
            team.run(3, 2, [&](Index, int inner) {
              ++inner_runs;
              wrong += inner != 0 && !is_alone;
            });
          });
          wrong += inner_runs != 3;
        }
      });
      for (const auto& times : runs) wrong += times != 1;
    }
  };
  team.together(2, run_loops);
  const int forks_of_one = team.forks;
  BOOST_TEST(forks_of_one <= 1); // none where the process has one processor, or a busy machine took it
  run_loops();
  BOOST_TEST(wrong == 0);
}

BOOST_AUTO_TEST_SUITE_END()
