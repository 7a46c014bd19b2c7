/// The hardware's rules for one request, on requests worked out by hand.

#include <boost/test/unit_test.hpp>

#include "gemm_lens/runtime/request.hpp"

namespace tessera::lens {
namespace {

template <class Address>
Request request_of(unsigned size, Address address, std::uint32_t lanes = 0xffffffff) {
  Request request;
  request.lanes = lanes;
  request.size = size;
  for (unsigned lane = 0; lane < 32; ++lane) request.address[lane] = static_cast<std::uint64_t>(address(lane));
  return request;
}

template <class Address>
int sectors(unsigned size, Address address, std::uint32_t lanes = 0xffffffff) {
  return sectors_of(request_of(size, address, lanes)).count;
}
template <class Address>
int wavefronts(unsigned size, Address address, std::uint32_t lanes = 0xffffffff) {
  Banks words{};
  return wavefronts_of(request_of(size, address, lanes), 0, words);
}

} // namespace

BOOST_AUTO_TEST_SUITE(requests_suite)

BOOST_AUTO_TEST_CASE(sectors_of_global_memory) {
  BOOST_TEST(sectors(4, [](unsigned l) { return 4 * l; }) == 4);
  BOOST_TEST(sectors(4, [](unsigned l) { return 4 * l + 4; }) == 5);
  BOOST_TEST(sectors(4, [](unsigned l) { return 124 - 4 * l; }) == 4); // the order of lanes does not matter
  BOOST_TEST(sectors(4, [](unsigned l) { return 128 * l; }) == 32);
  BOOST_TEST(sectors(4, [](unsigned) { return 64; }) == 1);
  BOOST_TEST(sectors(8, [](unsigned l) { return 8 * l; }) == 8);
  BOOST_TEST(sectors(16, [](unsigned l) { return 16 * l; }) == 16);
  BOOST_TEST(sectors(16, [](unsigned l) { return 32 * l; }) == 32);
  BOOST_TEST(sectors(2, [](unsigned l) { return 2 * l; }) == 2);
  BOOST_TEST(sectors(
                 4, [](unsigned l) { return 4 * l; }, 0x1ff) == 2);
  BOOST_TEST(sectors(
                 4, [](unsigned l) { return 4 * l; }, 0x80000001) == 2);
  BOOST_TEST(sectors(16, [](unsigned l) { return 64 * l + 24; }) == 64); // across sectors, as a GPU would refuse
}

BOOST_AUTO_TEST_CASE(wavefronts_of_32_bits) {
  BOOST_TEST(wavefronts(4, [](unsigned l) { return 4 * l; }) == 1);
  BOOST_TEST(wavefronts(4, [](unsigned l) { return 8 * l; }) == 2);
  BOOST_TEST(wavefronts(4, [](unsigned l) { return 128 * l; }) == 32);
  BOOST_TEST(wavefronts(4, [](unsigned l) { return 132 * l; }) == 1);
  BOOST_TEST(wavefronts(4, [](unsigned) { return 12; }) == 1);
  BOOST_TEST(wavefronts(4, [](unsigned l) { return 128 * (l / 16); }) == 2); // two words of one bank
  BOOST_TEST(wavefronts(
                 4, [](unsigned l) { return 128 * l; }, 0xf) == 4);
  BOOST_TEST(wavefronts(2, [](unsigned l) { return 2 * l; }) == 1); // two lanes a word
  BOOST_TEST(wavefronts(1, [](unsigned l) { return 128 * (l % 2) + l / 2 % 4; }) == 2);
}

BOOST_AUTO_TEST_CASE(wavefronts_of_64_bits) {
  BOOST_TEST(wavefronts(8, [](unsigned l) { return 8 * l; }) == 2);
  BOOST_TEST(wavefronts(8, [](unsigned l) { return 16 * l; }) == 4);
  BOOST_TEST(wavefronts(8, [](unsigned) { return 8; }) == 1); // neighbours agree: halves together
  BOOST_TEST(wavefronts(8, [](unsigned l) { return 8 * (l / 2); }) == 1);
  BOOST_TEST(wavefronts(8, [](unsigned l) { return 8 * (l / 4 * 2 + l % 2); }) == 1); // n ^ 2 agrees
  BOOST_TEST(wavefronts(8, [](unsigned l) { return 8 * (l % 16); }) == 2);
  BOOST_TEST(wavefronts(
                 8, [](unsigned l) { return 8 * l; }, 0xffff) == 1);
}

BOOST_AUTO_TEST_CASE(wavefronts_of_128_bits) {
  BOOST_TEST(wavefronts(16, [](unsigned l) { return 16 * l; }) == 4);
  BOOST_TEST(wavefronts(16, [](unsigned l) { return 32 * l; }) == 8);
  BOOST_TEST(wavefronts(16, [](unsigned) { return 0; }) == 2);
  BOOST_TEST(wavefronts(16, [](unsigned l) { return 16 * (l / 16); }) == 2);
  BOOST_TEST(wavefronts(16, [](unsigned l) { return 32 * (l % 16); }) == 8);
  BOOST_TEST(wavefronts(
                 16, [](unsigned l) { return 16 * l; }, 0xff) == 1);
}

BOOST_AUTO_TEST_CASE(words_of_banks) {
  Banks words{};
  wavefronts_of(request_of(4, [](unsigned l) { return 128 * (l % 3) + 4; }), 0, words);
  BOOST_TEST(words[1] == 3u);
  BOOST_TEST(words[0] == 0u);
  words = {};
  wavefronts_of(request_of(4, [](unsigned l) { return 1000 + 4 * l; }), 1000, words); // banks count from the base
  for (const std::uint32_t count : words) BOOST_TEST(count == 1u);
}

BOOST_AUTO_TEST_SUITE_END()

} // namespace tessera::lens
