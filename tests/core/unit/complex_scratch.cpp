/// Tests the memory that a thread keeps for its complex products while the thread ends.

#include <complex>
#include <cstring>
#include <thread>
#include <vector>

#include <boost/test/unit_test.hpp>

#include <tessera/backend.hpp>
#include <tessera/complex.hpp>

using namespace tessera;

namespace {

std::complex<double> last_product() {
  const std::vector<std::complex<double>> a(64, {1.0, 2.0});
  std::vector<std::complex<double>> c(64);
  gemm(Op::None, Op::None, 8, 8, 8, 1.0, a.data(), 8, a.data(), 8, 0.0, c.data(), 8, {.backend = Backend::Reference});
  return c[63];
}

/// This object is made before the thread's block, so it is destroyed after the block. Memory that it allocates then is
/// probably where the block was.
struct Survivor {
  std::complex<double>* result = nullptr;
  bool* untouched = nullptr;

  ~Survivor() {
    constexpr std::size_t bytes = std::size_t{64} << 10;
    Executor& host = executor(Backend::Reference);
    void* memory = nullptr;
    if (!host.allocate(bytes, memory).ok()) return;
    const std::vector<char> pattern(bytes, 0x55);
    std::memcpy(memory, pattern.data(), bytes);
    *result = last_product();
    *untouched = std::memcmp(memory, pattern.data(), bytes) == 0;
    host.free(memory);
  }
};

} // namespace

BOOST_AUTO_TEST_SUITE(complex_scratch)

BOOST_AUTO_TEST_CASE(products_after_a_threads_block_is_gone) {
  std::complex<double> result;
  bool untouched = false;
  std::thread([&] {
    thread_local Survivor survivor;
    survivor.result = &result;
    survivor.untouched = &untouched;
    static_cast<void>(last_product());
  }).join();
  BOOST_TEST(result.real() == -24.0); // 8·(1 + 2i)²
  BOOST_TEST(result.imag() == 32.0);
  BOOST_TEST(untouched);
}

BOOST_AUTO_TEST_SUITE_END()
