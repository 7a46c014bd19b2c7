/// The rung of docs/kernels.md is faster than naive, each with one thread, at 128³. A reader copies it: where its fused
/// multiply-adds are calls of the C library, it takes twice naive's time, and else a tenth. Runs of both take turns in
/// one process, and medians are compared, so that what else the machine does meets both.

#include <algorithm>
#include <vector>

#include <boost/test/unit_test.hpp>

#include <tessera/detail/stopwatch.hpp>
#include <tessera/tessera.hpp>

using namespace tessera;

namespace {

boost::test_tools::assertion_result has_fma(boost::unit_test::test_unit_id) {
#ifdef __x86_64__
  return __builtin_cpu_supports("fma") != 0;
#else
  return true;
#endif
}

struct Contestant {
  Executor& executor;
  const char* kernel;
  std::vector<double> seconds;

  double median() {
    std::nth_element(seconds.begin(), seconds.begin() + static_cast<std::ptrdiff_t>(seconds.size() / 2), seconds.end());
    return seconds[seconds.size() / 2];
  }
};

} // namespace

BOOST_AUTO_TEST_SUITE(rung)

BOOST_AUTO_TEST_CASE(is_faster_than_naive, *boost::unit_test::precondition(has_fma)) {
  constexpr Index side = 128;
  constexpr int rounds = 51;
  const auto a = Matrix<float>::random(side, side, Seed{1}), b = Matrix<float>::random(side, side, Seed{2});
  auto c = Matrix<float>(side, side);
  Contestant rung{executor(Backend::Tbb), "row_wise", {}}; // the plug-in of that name has the page's rung alone
  Contestant naive{executor(Backend::OpenMP), "naive", {}};
  for (int round = 0; round < rounds; ++round)
    for (Contestant* each : {&rung, &naive}) {
      const GemmCall call{{.type = DType::F32,
                           .m = side,
                           .n = side,
                           .k = side,
                           .alpha = 1,
                           .a = a.data(),
                           .lda = a.ld(),
                           .b = b.data(),
                           .ldb = b.ld(),
                           .beta = 0,
                           .c = c.data(),
                           .ldc = c.ld(),
                           .threads = 1}};
      const measure::HostStopwatch watch;
      BOOST_REQUIRE(each->executor.gemm(each->executor.default_queue(), call, each->kernel).ok());
      each->seconds.push_back(watch.seconds());
    }
  BOOST_TEST_MESSAGE("row_wise " << rung.median() << " s, naive " << naive.median() << " s");
  BOOST_TEST(rung.median() < naive.median());
}

BOOST_AUTO_TEST_SUITE_END()
