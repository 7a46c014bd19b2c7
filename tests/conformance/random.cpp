/// Random fills give the reference's bits, because these depend only on the seed and on the element's number.

#include <boost/test/unit_test.hpp>

#include "guarded.hpp"
#include "shapes.hpp"
#include "subject.hpp"

namespace tessera::conformance {
namespace {

template <class T>
std::vector<T> result(Executor& executor, RandomCall call, Index padding) {
  Guarded<T> z(executor, call.rows, call.cols, {padding, 64, padding == 1});
  z.upload();
  call.z = z.data();
  call.ldz = z.ld();
  throw_if_failed(executor.random(executor.default_queue(), call));
  throw_if_failed(executor.default_queue().synchronize());
  z.download();
  BOOST_TEST(z.surroundings_intact(), "a random fill wrote beside its matrix");
  return compact(z);
}

} // namespace

BOOST_AUTO_TEST_SUITE(random_fill)

BOOST_AUTO_TEST_CASE_TEMPLATE(gives_the_reference_bits, T, ElementTypes) {
  struct Kind {
    Distribution distribution;
    double low, high;
  };
  for (const Kind kind :
       {Kind{Distribution::Uniform, -1, 1}, Kind{Distribution::Uniform, 0.25, 1000}, Kind{Distribution::Normal, 0, 1},
        Kind{Distribution::Normal, -3, 0.125}, Kind{Distribution::Integers, 1, 100},
        Kind{Distribution::Integers, -8, 8}, Kind{Distribution::Wide, -32, 32}, Kind{Distribution::Wide, -126, 127},
        Kind{Distribution::Special, 0.1, 0.4}})
    for (const Shape shape : shapes())
      for (const std::uint64_t seed : {std::uint64_t{0}, std::uint64_t{0x123456789abcdef0}})
        for (const int threads : {0, 1, 3}) {
          const RandomCall call{.distribution = kind.distribution,
                                .type = dtype_of<T>,
                                .rows = shape.rows,
                                .cols = shape.cols,
                                .seed = seed,
                                .low = kind.low,
                                .high = kind.high,
                                .threads = threads};
          const std::vector<T> got = result<T>(subject(), call, threads);
          const std::vector<T> expected = result<T>(reference(), call, 0);
          BOOST_TEST(differing(got, expected) == 0u, "distribution " << static_cast<int>(kind.distribution) << ", "
                                                                     << shape.rows << "×" << shape.cols << ", seed "
                                                                     << seed << ", threads " << threads);
        }
}

BOOST_AUTO_TEST_SUITE_END()

} // namespace tessera::conformance
