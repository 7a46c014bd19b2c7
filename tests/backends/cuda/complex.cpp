/// Complex products whose scratch memory goes from queue to queue, and complex products that do not fit into the
/// device.

#include <array>
#include <complex>
#include <memory>
#include <vector>

#include <boost/test/unit_test.hpp>

#include <tessera/backend.hpp>
#include <tessera/complex.hpp>

#include "limit.hpp"
#include "round_trip.hpp"

using namespace tessera;
using namespace tessera::cuda_test;

namespace {

template <class T>
std::vector<std::complex<T>> random_numbers(Index count, std::uint64_t seed) {
  std::vector<std::complex<T>> numbers(static_cast<std::size_t>(count));
  check_ok(executor(Backend::Reference)
               .random(executor(Backend::Reference).default_queue(), {.type = dtype_of<T>,
                                                                      .rows = 1,
                                                                      .cols = 2 * count,
                                                                      .z = numbers.data(),
                                                                      .ldz = 2 * count,
                                                                      .seed = seed}));
  return numbers;
}

} // namespace

BOOST_AUTO_TEST_SUITE(complex_products)

/// Products follow each other on two queues without a wait. A product that reused another one's scratch memory too
/// early would be found.
BOOST_AUTO_TEST_CASE(two_queues_at_once) {
  using Number = std::complex<float>;
  constexpr Index n = 400, products = 12;
  constexpr std::size_t row = n * sizeof(Number);
  Executor& device = executor(Backend::Cuda);
  const std::vector<Number> a = random_numbers<float>(n * n, 1);
  std::vector<Number> expected(n * n), got(n * n);
  gemm(Op::ConjugateTranspose, Op::Transpose, n, n, n, Number(0.5f, 2), a.data(), n, a.data(), n, 0, expected.data(), n,
       {.backend = Backend::Tbb});

  std::array<std::unique_ptr<Queue>, 2> queues;
  for (auto& queue : queues) check_ok(device.create_queue(queue));
  void* memory = nullptr;
  check_ok(device.allocate((products + 1) * n * row, memory));
  check_ok(device.copy_in(*queues[0], memory, row, a.data(), row, row, n));
  const auto matrix = [&](Index number) { return static_cast<Number*>(memory) + number * n * n; };
  ComplexGemmCall call{{.op_a = Op::ConjugateTranspose, .op_b = Op::Transpose, .m = n, .n = n, .k = n}};
  call.alpha = {0.5, 2};
  call.a = call.b = memory;
  call.lda = call.ldb = call.ldc = n;
  for (Index p = 1; p <= products; ++p) {
    call.c = matrix(p);
    check_ok(gemm(device, *queues[static_cast<std::size_t>(p % 2)], call));
  }
  for (auto& queue : queues) check_ok(queue->synchronize());
  for (Index p = 1; p <= products; ++p) {
    check_ok(device.copy_out(*queues[0], got.data(), row, matrix(p), row, row, n));
    BOOST_TEST((got == expected), "product " << p);
  }
  device.free(memory);
}

BOOST_AUTO_TEST_CASE(a_complex_product_that_does_not_fit_goes_through_in_parts) {
  using Number = std::complex<double>;
  constexpr Index m = 2000, n = 2500, k = 3000;
  static_assert((m * k + k * n + m * n) * sizeof(Number) > memory_limit);
  const std::vector<Number> a = random_numbers<double>(m * k, 1), b = random_numbers<double>(k * n, 2);
  std::vector<Number> c = random_numbers<double>(m * n, 3), expected = c;
  for (auto* result : {&c, &expected})
    gemm(Op::Transpose, Op::None, m, n, k, Number(1, -1), a.data(), m, b.data(), n, Number(0.5, 0.25), result->data(),
         n, {.backend = result == &c ? Backend::Cuda : Backend::Tbb});
  BOOST_TEST((c == expected));
}

BOOST_AUTO_TEST_SUITE_END()
