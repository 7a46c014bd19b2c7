/// Inside a parallel region of OpenMP the executor knows that it may not use the region's other threads.

#include <omp.h>

#include <boost/test/unit_test.hpp>

#include <tessera/backend.hpp>
#include <tessera/backend/host_executor.hpp>

using namespace tessera;

BOOST_AUTO_TEST_SUITE(parallel_region)

BOOST_AUTO_TEST_CASE(threads_of_a_parallel_region) { // TESSERA_NUM_THREADS is 2
  const auto* openmp = dynamic_cast<const HostExecutor*>(&executor(Backend::OpenMP));
  BOOST_REQUIRE(openmp != nullptr);
  int inside = 0;
#pragma omp parallel num_threads(2)
#pragma omp single
  inside = openmp->threads_here();
  BOOST_TEST(inside == 1);
  BOOST_TEST(openmp->threads_here() == 2);
}

BOOST_AUTO_TEST_SUITE_END()
