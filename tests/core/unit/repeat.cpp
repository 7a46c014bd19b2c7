/// Tests how often work is repeated, and in which order.

#include "core/measure/repeat.hpp"

#include <vector>

#include <boost/test/unit_test.hpp>

#include <tessera/backend.hpp>

using namespace tessera;

BOOST_AUTO_TEST_SUITE(repeat)

BOOST_AUTO_TEST_CASE(a_budget_limits_the_runs_but_one_is_made) {
  BOOST_TEST(measure::runs_within(1, 0.25, 10) == 4);
  BOOST_TEST(measure::runs_within(1, 0.01, 10) == 10);
  BOOST_TEST(measure::runs_within(1, 5, 10) == 1);
  BOOST_TEST(measure::runs_within(0, 5, 10) == 10);
  BOOST_TEST(measure::runs_within(1, 0, 10) == 10);
  BOOST_TEST(measure::calls_per_sample(0.005, 0.001) == 5);
  BOOST_TEST(measure::calls_per_sample(0.005, 1) == 1);
}

BOOST_AUTO_TEST_CASE(competitors_take_turns_until_none_wants_another) {
  std::vector<int> left{0, 2, 1};
  std::vector<std::size_t> order;
  measure::take_turns(0, left.size(), [&](std::size_t i) {
    if (left[i] == 0) return false;
    order.push_back(i);
    return --left[i] > 0;
  });
  BOOST_TEST(order == (std::vector<std::size_t>{1, 2, 1}), boost::test_tools::per_element());
}

BOOST_AUTO_TEST_CASE(each_round_begins_with_another_competitor) {
  std::vector<std::size_t> order;
  for (const int round : {0, 1}) measure::take_rotated_turns(round, 3, [&](std::size_t i) { order.push_back(i); });
  BOOST_TEST(order == (std::vector<std::size_t>{0, 1, 2, 1, 2, 0}), boost::test_tools::per_element());
}

BOOST_AUTO_TEST_CASE(rows_grow_until_a_run_takes_long_enough) {
  measure::Stopwatch watch(executor(Backend::Reference));
  std::vector<Index> runs;
  Index rows = 1;
  const auto run = [&] { runs.push_back(rows); };
  BOOST_TEST(measure::time_growing_rows(watch, rows, 100, 1e9, run).ok());
  BOOST_TEST(runs == (std::vector<Index>{1, 8, 64, 100}), boost::test_tools::per_element());
  BOOST_TEST(measure::time_growing_rows(watch, rows, 100, 0, run).ok());
  BOOST_TEST(rows == 100);
}

BOOST_AUTO_TEST_CASE(a_stopwatch_times_the_queue_that_it_is_given) {
  Executor& reference = executor(Backend::Reference);
  std::unique_ptr<Queue> queue;
  BOOST_REQUIRE(reference.create_queue(queue).ok());
  measure::Stopwatch watch(reference, *queue);
  const auto work = [] {
    for (const measure::HostStopwatch waited; waited.seconds() < 1e-3;) {
    }
  };
  BOOST_TEST(watch.time(work).ok());
  BOOST_TEST(watch.seconds() >= 1e-3);
  BOOST_TEST(measure::fastest_host_seconds(2, work) >= 1e-3);
}

BOOST_AUTO_TEST_CASE(a_failure_ends_the_samples) {
  measure::Stopwatch watch(executor(Backend::Reference));
  std::vector<double> samples;
  const Status status = measure::sample(watch, 5, samples, [](int run) {
    return run < 2 ? Status{} : Status{StatusCode::Rejected, "enough"};
  });
  BOOST_TEST((status.code == StatusCode::Rejected));
  BOOST_TEST(samples.size() == 2u);
}

BOOST_AUTO_TEST_SUITE_END()
