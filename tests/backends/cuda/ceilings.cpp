/// The device's measured ceilings: every number is there and is plausible.

#include <boost/test/unit_test.hpp>

#include <tessera/backend.hpp>
#include <tessera/status.hpp>

using namespace tessera;

BOOST_AUTO_TEST_SUITE(ceilings)

BOOST_AUTO_TEST_CASE(the_l2_cache_is_read_faster_than_memory_is_copied) {
  Executor& cuda = executor(Backend::Cuda);
  Ceilings measured;
  throw_if_failed(cuda.measure_ceilings(DType::F32, Math::Strict, 0, measured));
  BOOST_TEST(measured.flops > 1e11);
  BOOST_TEST(measured.bytes_per_second > 1e10);
  if (cuda.capabilities().l2_bytes == 0) return; // The driver does not tell it.
  const CacheCeiling& l2 = measured.caches[0];
  BOOST_TEST(l2.level == 2);
  BOOST_TEST(l2.bytes == cuda.capabilities().l2_bytes);
  BOOST_TEST(l2.bytes_per_second > 1.2 * measured.bytes_per_second);
  BOOST_TEST(l2.bytes_per_second <
             20 * measured.bytes_per_second); // A probe that reads nothing would seem faster still.
  BOOST_TEST(measured.caches[1].level == 0);
  BOOST_TEST_MESSAGE("L2 " << l2.bytes_per_second * 1e-9 << " GB/s, memory " << measured.bytes_per_second * 1e-9
                           << " GB/s");
}

BOOST_AUTO_TEST_SUITE_END()
