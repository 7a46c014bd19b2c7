/// Matrices that lie in blocks of rows on several executors of the machine's GPUs: two executors of one GPU, and one
/// of each GPU where there are two.

#include <boost/test/unit_test.hpp>

#include <vector>

#include <tessera/beyond_memory/many_executors.hpp>
#include <tessera/beyond_memory/row_blocks.hpp>

using namespace tessera;

namespace {

using Executors = std::vector<Executor*>;

std::vector<Executors> lists_of_gpus() {
  std::vector<Executors> lists{{&executor(Backend::Cuda, 0), &executor(Backend::Cuda, 0, 1)}};
  try {
    Executor& second = executor(Backend::Cuda, 1);
    lists.push_back({&executor(Backend::Cuda, 0), &second});
    lists.push_back({&second, &executor(Backend::Cuda, 0), &executor(Backend::Cuda, 1, 1)});
  } catch (const BackendUnavailable& error) {
    BOOST_TEST_MESSAGE("one GPU: " << error.what());
  }
  return lists;
}

template <class T>
void check(Index m, Index n, Index k, Scalar<T> alpha, Scalar<T> beta, const GemmOptions& options = {}) {
  const auto a = Matrix<T>::random(m, k, Seed{1}), b = Matrix<T>::random(k, n, Seed{2});
  const auto before = Matrix<T>::random(m, n, Seed{3});
  Matrix<T> expected = before;
  GemmOptions on_one = options;
  on_one.backend = Backend::Cuda;
  gemm(alpha, a, b, beta, expected, on_one);
  for (const Executors& list : lists_of_gpus())
    for (int turn = 0; turn < 2; ++turn) { // the second one uses memory that was freed
      RowBlocks<T> on_a(list, m, k), on_b(list, k, n), on_c(list, m, n);
      on_a.assign(a);
      on_b.assign(b);
      on_c.assign(before);
      gemm(alpha, on_a, on_b, beta, on_c, options);
      BOOST_TEST((on_c.gathered() == expected), m << "×" << n << "×" << k << " on " << list.size() << " executors");
    }
}

} // namespace

BOOST_AUTO_TEST_SUITE(row_blocks)

BOOST_AUTO_TEST_CASE(the_bits_are_those_of_one_gpu) {
  check<float>(700, 4099, 3001, 1.0F, 0.0F);
  check<float>(640, 9000, 640, -0.5F, 2.0F); // eight strips, whose buffers are used again
  check<double>(300, 2100, 1500, 1.5, 0.0);
  check<bf16>(512, 2048, 2048, 1.0F, 0.0F);
  check<float>(1, 5, 2, 1.0F, 1.0F);
}

BOOST_AUTO_TEST_CASE(modes_of_matrix_units) {
  check<bf16>(512, 2304, 2048, 1.0F, 0.0F, {.math = Math::Bf16});
  check<float>(512, 2304, 2048, 1.0F, 0.0F, {.math = Math::Tf32});
}

/// Compares the bits of a product of host matrices on every list with the bits of the product on one GPU.
template <class T, class A, class B>
void check_host_matrices(const A& a, const B& b, Scalar<T> alpha, Scalar<T> beta, const GemmOptions& options = {}) {
  const auto before = Matrix<T>::random(a.rows(), b.cols(), Seed{3});
  Matrix<T> expected = before;
  GemmOptions on_a_gpu = options;
  on_a_gpu.backend = Backend::Cuda;
  gemm(alpha, a, b, beta, expected, on_a_gpu);
  for (const Executors& list : lists_of_gpus()) {
    Matrix<T> c = before;
    gemm(list, alpha, a, b, beta, c, options);
    BOOST_TEST((c == expected),
               a.rows() << "×" << b.cols() << "×" << a.cols() << " on " << list.size() << " executors");
  }
}

BOOST_AUTO_TEST_CASE(host_matrices) {
  const auto a = Matrix<float>::random(3000, 3000, Seed{1});
  check_host_matrices<float>(a, a, 1.0F, 0.0F);
  check_host_matrices<float>(a.transposed(), a.transposed(), -0.5F, 2.0F);
  const auto tall = a.block(0, 0, 2900, 2300), wide = a.block(0, 100, 2300, 1500); // rows are shared out
  check_host_matrices<float>(tall, wide, 1.0F, 1.0F);
  check_host_matrices<float>(wide.transposed(), tall.transposed(), 1.0F, 0.0F); // columns are
  const auto x = Matrix<double>::random(2000, 2500, Seed{1}), y = Matrix<double>::random(2500, 2100, Seed{2});
  check_host_matrices<double>(x, y, 1.0, 0.0);
  const auto u = Matrix<bf16>::random(2100, 5000, Seed{1}), v = Matrix<bf16>::random(5000, 1900, Seed{2});
  check_host_matrices<bf16>(u, v, 1.0F, 0.5F);
  check_host_matrices<bf16>(u, v, 1.0F, 0.0F, {.math = Math::Bf16});
  check_host_matrices<float>(tall, wide, 1.0F, 0.0F, {.math = Math::EmulatedFp16x3});
}

BOOST_AUTO_TEST_SUITE_END()
