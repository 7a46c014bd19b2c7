/// The library's threads beside the caller: which tasks run and where, exceptions, the floating-point state, and a
/// caller that is to be cancelled.

#include "core/base/thread_team.hpp"

#include <pthread.h>
#include <algorithm>
#include <atomic>
#include <chrono>
#include <functional>
#include <new>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include <boost/test/unit_test.hpp>

#include <tessera/detail/floating_point.hpp>

using namespace tessera::detail;

namespace {

/// Runs tasks on a team of four, or by parallel_for on four threads.
using Run = void (*)(std::size_t count, const std::function<void(std::size_t)>& task);
constexpr Run ways[]{
    [](std::size_t count, const std::function<void(std::size_t)>& task) { ThreadTeam(3).run(count, task); },
    [](std::size_t count, const std::function<void(std::size_t)>& task) { parallel_for(count, 4, task); }};

} // namespace

BOOST_AUTO_TEST_SUITE(thread_team)

BOOST_AUTO_TEST_CASE(each_task_runs_once) {
  for (const Run run : ways)
    for (const std::size_t count : {0, 1, 3, 4, 5, 1000}) {
      std::vector<std::atomic<int>> runs(count);
      run(count, [&](std::size_t i) { ++runs[i]; });
      BOOST_TEST(std::all_of(runs.begin(), runs.end(), [](const auto& one) { return one == 1; }), count << " tasks");
    }
}

BOOST_AUTO_TEST_CASE(the_first_task_is_the_callers) {
  for (const Run run : ways) {
    std::thread::id first;
    run(4, [&](std::size_t i) {
      if (i == 0) first = std::this_thread::get_id();
    });
    BOOST_TEST((first == std::this_thread::get_id()));
  }
}

BOOST_AUTO_TEST_CASE(a_team_has_several_rounds) {
  ThreadTeam team(2);
  for (std::size_t round = 1; round <= 100; ++round) {
    std::atomic<std::size_t> sum = 0;
    team.run(round, [&](std::size_t i) { sum += i + 1; });
    BOOST_TEST(sum == round * (round + 1) / 2);
  }
}

/// Whatever number of threads is asked for, the caller works.
BOOST_AUTO_TEST_CASE(the_caller_works_alone_where_no_thread_is_asked_for) {
  for (const int threads : {-1, 0, 1}) {
    std::size_t done = 0;
    parallel_for(7, threads, [&](std::size_t) { ++done; });
    BOOST_TEST(done == 7u);
  }
}

BOOST_AUTO_TEST_CASE(the_first_exception_comes_to_the_caller) {
  for (const Run run : ways)
    for (const std::size_t thrower : {0, 1, 3}) {
      std::atomic<int> others = 0;
      std::string text;
      try {
        run(4, [&](std::size_t i) {
          if (i == thrower) throw std::runtime_error("task " + std::to_string(i));
          ++others;
        });
      } catch (const std::runtime_error& error) {
        text = error.what();
      }
      BOOST_TEST(text == "task " + std::to_string(thrower));
      BOOST_TEST(others == 3);
    }
}

BOOST_AUTO_TEST_CASE(a_team_is_usable_after_an_exception) {
  ThreadTeam team(2);
  BOOST_CHECK_THROW(team.run(8, [](std::size_t) { throw std::bad_alloc(); }), std::bad_alloc);
  std::atomic<int> done = 0;
  team.run(8, [&](std::size_t) { ++done; });
  BOOST_TEST(done == 8);
}

BOOST_AUTO_TEST_CASE(no_task_begins_after_an_exception) {
  constexpr std::size_t count = 10'000;
  std::atomic<std::size_t> begun = 0;
  const auto task = [&](std::size_t i) {
    ++begun;
    if (i == 0) throw std::runtime_error("the first task");
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  };
  BOOST_CHECK_THROW(parallel_for(count, 4, task), std::runtime_error);
  BOOST_TEST(begun < count / 10);
}

/// Threads inherit the state of the one that starts them.
BOOST_AUTO_TEST_CASE(tasks_have_the_contracts_floating_point_state) {
  const FloatingPointState before = FloatingPointState::read();
  FloatingPointState odd = before;
#if defined(__x86_64__)
  odd.mxcsr = FloatingPointState::contract | 0x8040 | 0x2000; // FTZ and DAZ, rounding down
#elif defined(__aarch64__)
  odd.fpcr = 0x1800000; // FZ, rounding down
#endif
  for (const Run run : ways) {
    std::atomic<int> wrong = 0;
    odd.write();
    run(16, [&](std::size_t) {
      if (!FloatingPointState::read().keeps_contract()) ++wrong;
    });
    const FloatingPointState after = FloatingPointState::read();
    before.write();
#if defined(__x86_64__) || defined(__aarch64__)
    BOOST_TEST(wrong == 0);
    BOOST_TEST((after == odd));
#else // the state cannot be looked into
    static_cast<void>(after);
#endif
  }
}

/// A wait for the others is a cancellation point, and the tasks refer to the caller's memory.
BOOST_AUTO_TEST_CASE(a_request_to_cancel_the_caller_waits) {
  for (const Run run : ways) {
    std::atomic<int> done = 0;
    std::atomic<bool> returned = false, left = false;
    std::thread caller([&] {
      pthread_cancel(pthread_self());
      run(8, [&](std::size_t) {
        std::this_thread::sleep_for(std::chrono::milliseconds(2));
        ++done;
      });
      returned = true;
      pthread_testcancel();
      left = true;
    });
    caller.join();
    BOOST_TEST(done == 8);
    BOOST_TEST(returned);
    BOOST_TEST(!left);
  }
}

BOOST_AUTO_TEST_SUITE_END()
