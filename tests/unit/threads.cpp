#include <boost/test/unit_test.hpp>

#include <tessera/backend.hpp>
#include <tessera/status.hpp>

#include "support/expect.hpp"

using namespace tessera;
using tessera::test::Environment;
using tessera::test::expect_error;

BOOST_AUTO_TEST_SUITE(threads)

BOOST_AUTO_TEST_CASE(our_variable_comes_first) {
  const Environment openmp("OMP_NUM_THREADS", "5");
  const Environment ours("TESSERA_NUM_THREADS", "3");
  BOOST_TEST(default_threads() == 3);
}

BOOST_AUTO_TEST_CASE(then_that_of_openmp_and_its_first_level) {
  const Environment ours("TESSERA_NUM_THREADS", nullptr);
  const Environment openmp("OMP_NUM_THREADS", "5,2");
  BOOST_TEST(default_threads() == 5);
}

BOOST_AUTO_TEST_CASE(then_the_processors_that_the_process_may_use) {
  const Environment ours("TESSERA_NUM_THREADS", "");
  const Environment openmp("OMP_NUM_THREADS", nullptr);
  BOOST_TEST(default_threads() >= 1);
}

BOOST_AUTO_TEST_CASE(what_is_no_number_is_refused) {
  const Environment openmp("OMP_NUM_THREADS", nullptr);
  for (const char* garbage : {"garbage", "0", "-2", "2x", "1.5", " 4", "99999999999999", "0x4"}) {
    const Environment ours("TESSERA_NUM_THREADS", garbage);
    expect_error<InvalidArgument>([] { static_cast<void>(default_threads()); }, {"TESSERA_NUM_THREADS", garbage});
  }
}

BOOST_AUTO_TEST_CASE(of_openmps_variable_too) {
  const Environment ours("TESSERA_NUM_THREADS", nullptr);
  const Environment openmp("OMP_NUM_THREADS", "many");
  expect_error<InvalidArgument>([] { static_cast<void>(default_threads()); }, {"OMP_NUM_THREADS", "many"});
}

BOOST_AUTO_TEST_SUITE_END()
