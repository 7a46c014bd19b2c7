/// A machine of more processors than the C library's cpu_set_t has bits. The program's own sched_getaffinity() stands
/// in for it: the system's call refuses a mask that is too short.

#include <sched.h>
#include <cerrno>
#include <climits>
#include <cstring>

#include <boost/test/unit_test.hpp>

#include <tessera/backend.hpp>
#include <tessera/detail/processors.hpp>

namespace {

constexpr std::size_t processors = 3000;

} // namespace

extern "C" int sched_getaffinity(pid_t, std::size_t bytes, cpu_set_t* mask) noexcept {
  if (bytes * CHAR_BIT < processors) {
    errno = EINVAL;
    return -1;
  }
  std::memset(mask, 0, bytes);
  for (std::size_t i = 0; i < processors; ++i)
    reinterpret_cast<unsigned char*>(mask)[i / CHAR_BIT] |= 1u << i % CHAR_BIT;
  return 0;
}

BOOST_AUTO_TEST_SUITE(large_machine)

BOOST_AUTO_TEST_CASE(all_its_processors_count) {
  BOOST_TEST(tessera::detail::ProcessorMask::of_thread(0).count() == static_cast<int>(processors));
  BOOST_TEST(tessera::detail::processors_of_process() == static_cast<int>(processors));
  BOOST_TEST(tessera::default_threads() > 1);
}

BOOST_AUTO_TEST_SUITE_END()
