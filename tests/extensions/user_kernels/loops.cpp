/// for_each: every index once, every kind of view, and matrices that stay coherent.

#include <boost/test/unit_test.hpp>

#include <tessera/gemm.hpp>

#include "memory.hpp"
#include "terms.hpp"

namespace tessera::test {
namespace {

using conformance::subject;

float at(const Matrix<float>& m, Index i, Index j) { return m(i, j); }

BOOST_AUTO_TEST_SUITE(loops)

BOOST_AUTO_TEST_CASE(every_index_once) {
  const std::pair<Index, Index> shapes[] = {{0, 3}, {3, 0},     {1, 1},     {1, 5000}, {5000, 1}, {17, 33},
                                            {4, 4}, {100, 257}, {1000, 37}, {3, 9001}, {70000, 2}};
  for (const auto& [rows, cols] : shapes)
    for (const LoopOptions options : {LoopOptions{}, LoopOptions{1, 0}, LoopOptions{3, 1}, LoopOptions{7, 100}}) {
      Matrix<double> y(rows, cols, 0.5);
      for_each(subject(), rows, cols, Place{update(y, subject())}, options);
      bool right = true;
      const Matrix<double>& seen = y;
      for (Index i = 0; i < rows; ++i)
        for (Index j = 0; j < cols; ++j) right = right && seen(i, j) == double(i * 100000 + j) + 0.5;
      BOOST_TEST(right, rows << "×" << cols << ", threads " << options.threads);
    }
}

BOOST_AUTO_TEST_CASE(blocks_and_transposes) {
  const Matrix x = Matrix<float>::random(60, 70, Seed{1});
  Matrix y = Matrix<float>::random(50, 80, Seed{2});
  const Matrix before = y;
  for_each(
      subject(), 20, 30,
      Saxpy{read(x.block(3, 4, 30, 20).transposed(), subject()), update(y.block(10, 11, 20, 30), subject()), 1.5f});
  bool right = true;
  for (Index i = 0; i < 50; ++i)
    for (Index j = 0; j < 80; ++j) {
      const bool inside = i >= 10 && i < 30 && j >= 11 && j < 41;
      const float expected =
          inside ? std::fma(1.5f, at(x, 3 + j - 11, 4 + i - 10), at(before, i, j)) : at(before, i, j);
      right = right && at(y, i, j) == expected;
    }
  BOOST_TEST(right);
  const Matrix<float> ones(80, 50, 1.0f);
  const float old = y.at(49, 79);
  for_each(subject(), 80, 50, Saxpy{read(ones, subject()), update(y.transposed(), subject()), 2.0f});
  BOOST_TEST(y.at(49, 79) == old + 2.0f);
}

BOOST_AUTO_TEST_CASE(vectors_of_rows_and_columns) {
  const Matrix x = Matrix<double>::random(1, 3001, Seed{1});
  const Matrix columns = Matrix<double>::random(3001, 3, Seed{2});
  Matrix<double> y(1, 3001);
  for_each(subject(), 3001,
           Triad{{read(x, subject()), read(columns.block(0, 1, 3001, 1), subject())}, write(y, subject()), 0.1});
  const Matrix<double>& seen = y;
  bool right = true;
  for (Index i = 0; i < 3001; ++i) {
    const double product = 0.1 * columns.at(i, 1);
    right = right && seen(0, i) == x.at(0, i) + product;
  }
  BOOST_TEST(right);
}

BOOST_AUTO_TEST_CASE(every_element_type) {
  const Matrix x = Matrix<f16>::random(37, 41, Seed{1});
  const Matrix bias = Matrix<float>::random(1, 41, Seed{2});
  Matrix y = Matrix<bf16>::random(37, 41, Seed{3});
  const Matrix before = y;
  for_each(subject(), 37, 41, Mixed{read(x, subject()), read(bias, subject()), update(y, subject())});
  bool right = true;
  for (Index i = 0; i < 37; ++i)
    for (Index j = 0; j < 41; ++j) {
      const float sum = x.at(i, j) + bias.at(0, j);
      right = right && y.at(i, j).bits == bf16(sum + before.at(i, j)).bits;
    }
  BOOST_TEST(right);
}

BOOST_AUTO_TEST_CASE(products_and_sums_are_not_contracted) {
  const Matrix x = Matrix<float>::random(1, 4097, Seed{9});
  Matrix<float> y(1, 4096);
  for_each(subject(), 4096, TwoRoundings{read(x, subject()), write(y, subject())});
  bool right = true;
  for (Index i = 0; i < 4096; ++i) {
    const volatile float square = at(x, 0, i) * at(x, 0, i);
    const volatile float product = at(x, 0, i + 1) * 3.0f;
    right = right && y.at(0, i) == square + product;
  }
  BOOST_TEST(right);
}

BOOST_AUTO_TEST_CASE(a_matrix_stays_where_it_was_written) {
  const bool on_host = subject().capabilities().host_memory;
  const Matrix x = Matrix<float>::random(40, 40, Seed{1});
  Matrix<float> y(40, 40);
  for_each(subject(), 40, 40, Saxpy{read(x, subject()), update(y, subject()), 2.0f});
  BOOST_TEST(y.newest_on() == (on_host ? nullptr : &subject()));
  BOOST_TEST(y.at(3, 4) == 2.0f * x.at(3, 4)); // reading through const leaves the device's copy current
  const Matrix product = gemm(y, x, subject().capabilities().backend);
  BOOST_TEST(product.at(0, 0) == gemm(y, x, Backend::Reference).at(0, 0));
}

BOOST_AUTO_TEST_CASE(the_callers_memory) {
  const SubjectMemory<double> x(std::vector<double>(12, 2.0)), y(std::vector<double>(12, 5.0));
  for_each(subject(), 3,
           Triad{{read<double>(x.data(), 1, 3, 4, subject()), read<double>(x.data(), 1, 3, 4, subject())},
                 write(y.data(), 1, 3, 4, subject()),
                 3.0});
  BOOST_TEST(y.values()[2] == 8.0);
  BOOST_TEST(y.values()[3] == 5.0);
  std::vector<float> mine(6, 1.0f); // host memory on every executor, by way of a matrix view
  {
    const auto view = MatrixView<float>::wrap(mine.data(), 2, 2, 3);
    const Matrix<float> ones(2, 2, 1.0f);
    for_each(subject(), 2, 2, Saxpy{read(ones, subject()), update(view, subject()), 4.0f});
  }
  BOOST_TEST(mine[4] == 5.0f);
  BOOST_TEST(mine[5] == 1.0f);
}

BOOST_AUTO_TEST_CASE(a_queue_of_ones_own) {
  std::unique_ptr<Queue> queue;
  throw_if_failed(subject().create_queue(queue));
  const SubjectMemory<double> x(std::vector<double>(5000, 2.0)), y(std::vector<double>(5000, 5.0));
  const auto in = read<double>(x.data(), 1, 5000, 5000, subject());
  throw_if_failed(subject().default_queue().synchronize());
  for_each(subject(), *queue, 5000, Triad{{in, in}, write(y.data(), 1, 5000, 5000, subject()), 3.0});
  throw_if_failed(queue->synchronize());
  BOOST_TEST(y.values()[4999] == 8.0);
  BOOST_TEST(sum(subject(), *queue, 5000, Values<double>{in}) == 10000.0);
}

BOOST_AUTO_TEST_SUITE_END()

} // namespace
} // namespace tessera::test
