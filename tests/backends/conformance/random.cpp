/// Random fills give the reference's bits, because these depend only on the seed and on the element's number.

#include <algorithm>
#include <limits>

#include <boost/test/unit_test.hpp>

#include <tessera/half.hpp>

#include "guarded.hpp"
#include "shapes.hpp"
#include "support/subject.hpp"

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
  const auto largest = static_cast<double>(std::numeric_limits<T>::max());
  const auto least = static_cast<double>(std::numeric_limits<T>::denorm_min());
  const double most = element_type(dtype_of<T>).largest_exponent; // the type has exponents 1 − most … most
  for (const Kind kind :
       {Kind{Distribution::Uniform, -1, 1}, Kind{Distribution::Uniform, 0.25, 1000}, Kind{Distribution::Normal, 0, 1},
        Kind{Distribution::Uniform, 100, 101}, Kind{Distribution::Uniform, -largest, largest},
        Kind{Distribution::Uniform, 0, least}, Kind{Distribution::Integers, 2040, 2051},
        Kind{Distribution::Normal, -3, 0.125}, Kind{Distribution::Integers, 1, 100},
        Kind{Distribution::Integers, -8, 8}, Kind{Distribution::Wide, std::max(-32.0, 1 - most), std::min(32.0, most)},
        Kind{Distribution::Wide, std::max(-126.0, 1 - most), std::min(127.0, most)},
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

/// Nothing is written where the numbers would leave the type.
BOOST_AUTO_TEST_CASE(ranges_beyond_a_type_are_refused) {
  for (const RandomCall& call :
       {RandomCall{.type = DType::F32, .low = -1e300, .high = 1e300},
        RandomCall{.type = DType::F16, .low = 0, .high = 70000},
        RandomCall{.distribution = Distribution::Normal, .type = DType::BF16, .low = 0, .high = 1e38},
        RandomCall{.distribution = Distribution::Integers, .type = DType::F16, .low = 0, .high = 65536}}) {
    RandomCall whole = call;
    whole.rows = whole.cols = 1;
    whole.ldz = 1;
    const Status status = subject().random(subject().default_queue(), whole);
    BOOST_TEST((status.code == StatusCode::InvalidArgument), status.why);
  }
}

BOOST_AUTO_TEST_SUITE_END()

} // namespace tessera::conformance
