/// Tests the summary of repeated timings.

#include "core/measure/time_summary.hpp"

#include <cmath>

#include <boost/test/unit_test.hpp>

using tessera::measure::summarize;
using tessera::measure::TimeSummary;

BOOST_AUTO_TEST_SUITE(time_summary)

BOOST_AUTO_TEST_CASE(an_odd_number_of_samples_has_one_in_the_middle) {
  const TimeSummary time = summarize({5, 1, 3});
  BOOST_TEST(time.median == 3);
  BOOST_TEST(time.mean == 3);
  BOOST_TEST(time.min == 1);
  BOOST_TEST(time.max == 5);
}

BOOST_AUTO_TEST_CASE(an_even_number_has_two) {
  BOOST_TEST(summarize({8, 1, 2, 4}).median == 3);
  BOOST_TEST(summarize({8, 1, 2, 4}).mean == 3.75);
}

BOOST_AUTO_TEST_CASE(without_samples_nothing_is_known) {
  const TimeSummary time = summarize({});
  for (const double value : {time.median, time.mean, time.min, time.max}) BOOST_TEST(std::isnan(value));
}

BOOST_AUTO_TEST_SUITE_END()
