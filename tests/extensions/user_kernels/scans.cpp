/// Scans have the bits of the contract's model.

#include <cstring>
#include <random>

#include <boost/test/unit_test.hpp>

#include "memory.hpp"
#include "model.hpp"
#include "terms.hpp"

namespace tessera::test {
namespace {

using conformance::options;
using conformance::subject;

template <class T>
void check_scans() {
  for (const Index n : sizes(!options().quick)) {
    std::mt19937 generator(static_cast<unsigned>(n));
    std::vector<T> x(static_cast<std::size_t>(n));
    for (T& value : x) value = static_cast<T>(static_cast<std::int32_t>(generator())) / T(3);
    const std::vector<T> expected = model_scan(x);
    for (const int threads : {0, 1, 3}) {
      const SubjectMemory<T> memory(x), result(std::vector<T>(x.size(), T(-1)));
      inclusive_scan(subject(), read<T>(memory.data(), 1, n, n, subject()), write(result.data(), 1, n, n, subject()),
                     {.threads = threads});
      const std::vector<T> got = result.values();
      BOOST_TEST((n == 0 || std::memcmp(got.data(), expected.data(), got.size() * sizeof(T)) == 0), "n = " << n);
      inclusive_scan(subject(), read<T>(memory.data(), 1, n, n, subject()), write(memory.data(), 1, n, n, subject()),
                     {.threads = threads}); // in place
      const std::vector<T> in_place = memory.values();
      BOOST_TEST((n == 0 || std::memcmp(in_place.data(), expected.data(), got.size() * sizeof(T)) == 0), "n = " << n);
    }
  }
}

BOOST_AUTO_TEST_SUITE(scans)

BOOST_AUTO_TEST_CASE(scans_of_f32) { check_scans<float>(); }
BOOST_AUTO_TEST_CASE(scans_of_f64) { check_scans<double>(); }
BOOST_AUTO_TEST_CASE(scans_of_i64) { check_scans<std::int64_t>(); }

BOOST_AUTO_TEST_CASE(columns_and_rows_of_matrices) {
  const Matrix x = Matrix<double>::random(2100, 5, Seed{3});
  Matrix<double> y(3, 2100, 7.0);
  inclusive_scan(subject(), read(x.block(0, 3, 2100, 1), subject()), write(y.block(1, 0, 1, 2100), subject()));
  std::vector<double> column;
  for (Index i = 0; i < 2100; ++i) column.push_back(x.at(i, 3));
  const std::vector<double> expected = model_scan(column);
  bool same = true;
  for (Index i = 0; i < 2100; ++i) same = same && y.at(1, i) == expected[static_cast<std::size_t>(i)];
  BOOST_TEST(same);
  BOOST_TEST(y.at(0, 2099) == 7.0); // write() of a block keeps what is beside it
  BOOST_TEST(y.at(2, 0) == 7.0);
}

BOOST_AUTO_TEST_CASE(vectors_of_other_lengths_are_refused) {
  const Matrix<float> x(1, 10), square(4, 4);
  Matrix<float> y(1, 11), z(4, 4);
  BOOST_CHECK_THROW(inclusive_scan(subject(), read(x, subject()), write(y, subject())), InvalidArgument);
  BOOST_CHECK_THROW(inclusive_scan(subject(), read(square, subject()), write(z, subject())), InvalidArgument);
}

BOOST_AUTO_TEST_SUITE_END()

} // namespace
} // namespace tessera::test
