/// f64 products of few tiles and long k. stream_k adds their segments in a chain of the blocks that computed them. The
/// bits must be z_order's, even where several such products share the device, so that not all blocks run at once.

#include <array>
#include <cstddef>
#include <memory>
#include <vector>

#include <boost/test/unit_test.hpp>

#include <tessera/tessera.hpp>

#include "bits.hpp"
#include "is_hopper.hpp"
#include "on_device.hpp"
#include "stream_k_products.hpp"

using namespace tessera;
using namespace tessera::cuda_test;

namespace {

void check_chain(Index m, Index n, Index k, Op op_a, Op op_b) {
  for (const double beta : {0.5, 0.0}) test::check_bits<double>("stream_k", m, n, k, op_a, op_b, 1, beta);
}

} // namespace

BOOST_AUTO_TEST_SUITE(chains)

BOOST_AUTO_TEST_CASE(chained_segments_keep_their_bits) {
  if (!is_hopper()) return;
  for (const auto& [m, n, k] : test::chained_products) {
    check_chain(m, n, k, Op::Transpose, Op::None);
    for (const Op op : {Op::None, Op::Transpose}) check_chain(m, n, k, op, Op::Transpose);
    check_chain(m, n, k, Op::None, Op::None);
  }
}

/// Each product would take all multiprocessors, and blocks of one product hold the multiprocessors that blocks of
/// another one wait for.
BOOST_AUTO_TEST_CASE(several_at_a_time_end) {
  if (!is_hopper()) return;
  Executor& device = executor(Backend::Cuda);
  Queue& first = device.default_queue();
  constexpr Index m = 1024, n = 1664, k = 5000;
  OnDevice a(device, DType::F64, m, k), b(device, DType::F64, k, n), c(device, DType::F64, m, n);
  a.fill_randomly(1);
  b.fill_randomly(2);
  const auto product = [&](Queue& queue, const OnDevice& result, const char* by) {
    const GemmCall call{{.type = DType::F64,
                         .m = m,
                         .n = n,
                         .k = k,
                         .alpha = 1.5,
                         .a = a.data(),
                         .lda = k,
                         .b = b.data(),
                         .ldb = n,
                         .c = result.data(),
                         .ldc = n}};
    check_ok(device.gemm(queue, call, by));
  };
  product(first, c, "z_order");
  const std::vector<std::byte> expected = c.bytes();
  constexpr std::size_t count = 4;
  std::array<std::unique_ptr<OnDevice>, count> results;
  std::array<std::unique_ptr<Queue>, count> queues;
  for (std::size_t q = 0; q < count; ++q) {
    results[q] = std::make_unique<OnDevice>(device, DType::F64, m, n);
    check_ok(device.create_queue(queues[q]));
  }
  for (int round = 0; round < 5; ++round)
    for (std::size_t q = 0; q < count; ++q) product(*queues[q], *results[q], "stream_k");
  for (std::size_t q = 0; q < count; ++q) {
    check_ok(queues[q]->synchronize());
    BOOST_TEST((results[q]->bytes() == expected), "queue " << q << " has other bits");
  }
}

BOOST_AUTO_TEST_SUITE_END()
