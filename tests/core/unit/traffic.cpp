/// Counts of operations, memory accesses and bytes, against products that are small enough to count by hand.

#include <tessera/backend/traffic.hpp>

#include <boost/test/unit_test.hpp>

#include "cpu/gemm/textbook/traffic.hpp"
#include "cuda/gemm/common/traffic.hpp"

using namespace tessera;

namespace {

GemmCall product(Index m, Index n, Index k) {
  GemmCall call;
  call.m = m;
  call.n = n;
  call.k = k;
  return call;
}

GemmKernel with_tile(int m, int n, int k = 1) { return {.name = "some", .tile = {m, n, k}}; }

} // namespace

BOOST_AUTO_TEST_SUITE(traffic)

BOOST_AUTO_TEST_CASE(a_kernel_without_a_count_moves_each_operand_once) {
  GemmCall call = product(2, 3, 4);
  const GemmTraffic once = traffic_of(GemmKernel{}, call);
  BOOST_TEST(once.operations == 2 * 2 * 3 * 4);
  BOOST_TEST(once.accesses == 8 + 12 + 6);
  BOOST_TEST(once.bytes == 4 * (8 + 12 + 6));
  call.beta = 1; // C is loaded, too
  BOOST_TEST(traffic_of(GemmKernel{}, call).accesses == 8 + 12 + 2 * 6);
  call.type = DType::BF16;
  BOOST_TEST(traffic_of(GemmKernel{}, call).bytes == 2 * (8 + 12) + 4 * 2 * 6); // C is f32
}

BOOST_AUTO_TEST_CASE(the_count_of_a_kernel_is_its_own) {
  GemmKernel kernel = with_tile(0, 0);
  kernel.traffic = tile_traffic;
  BOOST_TEST(traffic_of(kernel, product(2, 3, 4)).accesses == 2 * 4 * 6 + 6); // 2·k loads for each result
}

BOOST_AUTO_TEST_CASE(tiles_divide_the_loads) {
  const double naive = 2.0 * 64 * 64 * 48, results = 64 * 64;
  for (const int tile : {1, 16, 32, 64})
    BOOST_TEST(tile_traffic(with_tile(tile, tile), product(64, 64, 48)).accesses == naive / tile + results);
  // 20×33 results in tiles of 16×16: two rows of three tiles. A's 100 elements are loaded thrice, B's 165 twice.
  BOOST_TEST(tile_traffic(with_tile(16, 16), product(20, 33, 5)).accesses == 3 * 100 + 2 * 165 + 20 * 33);
  // A tile that is wider than C loads A once.
  BOOST_TEST(tile_traffic(with_tile(1, 256), product(20, 33, 5)).accesses == 100 + 20 * 165 + 20 * 33);
}

BOOST_AUTO_TEST_CASE(packing_loads_and_stores_what_it_copies) {
  const GemmCall call = product(8, 8, 10);
  const double tiles = 80 * 2 + 80 * 2 + 64; // 4×4
  BOOST_TEST(tile_traffic(with_tile(4, 4), call).accesses == tiles);
  BOOST_TEST(packed_b_traffic(with_tile(4, 4), call).accesses == tiles + 2 * 80);
  BOOST_TEST(packed_traffic(with_tile(4, 4), call).accesses == tiles + 2 * 160);
  BOOST_TEST(packed_traffic(with_tile(4, 4), call).bytes == 4 * (tiles + 2 * 160));
}

BOOST_AUTO_TEST_CASE(compensated_sums_take_four_instructions_for_each_product) {
  GemmCall call = product(2, 3, 4);
  call.math = Math::Compensated;
  BOOST_TEST(tile_traffic(with_tile(1, 1), call).operations == 4 * 2 * 24);
}

BOOST_AUTO_TEST_CASE(coalescing_changes_bytes_and_not_loads) {
  const GemmCall call = product(32, 32, 1); // 32 warps, one step each
  const GemmTraffic coalesced = cuda::coalesced_traffic(with_tile(8, 32), call);
  const GemmTraffic strided = cuda::strided_traffic(with_tile(32, 8), call);
  BOOST_TEST(coalesced.accesses == 2 * 1024 + 1024);
  BOOST_TEST(strided.accesses == coalesced.accesses);
  // A warp touches one sector of A, four of B and four of C, which are 32 bytes each.
  BOOST_TEST(coalesced.bytes == 32 * 32 * (1 + 4 + 4));
  // A warp touches 32 sectors of A, one of B and 32 of C.
  BOOST_TEST(strided.bytes == 32 * 32 * (32 + 1 + 32));
}

BOOST_AUTO_TEST_CASE(transposes_decide_what_is_coalesced) {
  GemmCall call = product(32, 32, 1);
  call.op_a = call.op_b = Op::Transpose;
  BOOST_TEST(cuda::coalesced_traffic(with_tile(8, 32), call).bytes == 32 * 32 * (1 + 32 + 4));
  BOOST_TEST(cuda::strided_traffic(with_tile(32, 8), call).bytes == 32 * 32 * (4 + 1 + 32));
  BOOST_TEST(cuda::transposed_b_traffic(with_tile(8, 32), call).bytes == 32 * 32 * (1 + 32 + 4)); // no copy
  call.op_b = Op::None;
  BOOST_TEST(cuda::transposed_b_traffic(with_tile(8, 32), call).bytes == 32 * 32 * (1 + 32 + 4) + 2 * 32 * 4);
}

BOOST_AUTO_TEST_CASE(a_row_in_shared_memory_is_loaded_once_if_it_fits) {
  const GemmCall call = product(3, 600, 100); // 600 columns are three blocks of 256
  BOOST_TEST(cuda::row_traffic(with_tile(1, 256), call, 100).accesses == 300 + 3 * 60000 + 1800);
  BOOST_TEST(cuda::row_traffic(with_tile(1, 256), call, 64).accesses == 3 * 300 + 3 * 60000 + 1800);
}

BOOST_AUTO_TEST_CASE(padding_is_stored_and_loaded) {
  // 33×40×10 becomes 64×64×32: 330 and 400 elements are read, 2·64·32 written, and each is loaded for two tiles.
  const GemmTraffic padded = cuda::padded_traffic(with_tile(32, 32, 32), product(33, 40, 10));
  BOOST_TEST(padded.accesses == 330 + 400 + 2 * 2048 + 2 * 2 * 2048 + 33 * 40);
}

BOOST_AUTO_TEST_CASE(a_segment_stores_and_loads_a_sum_for_each_result) {
  const GemmCall call = product(4, 4, 2050); // three segments
  const double tiles = 2 * 4 * 2050 + 16;
  BOOST_TEST(cuda::segments_traffic(with_tile(4, 4), call).accesses == tiles + 3 * 2 * 16);
}

BOOST_AUTO_TEST_CASE(rungs_of_the_processor) {
  const GemmCall call = product(2, 3, 4);
  const GemmTraffic naive = cpu::naive_traffic(with_tile(0, 0), call);
  BOOST_TEST(naive.accesses == 4 * 24 + 6);
  BOOST_TEST(naive.bytes == 24 * (4 + 64) + 4 * 6); // each element of B is in another cache line
  const GemmTraffic transposed = cpu::transposed_traffic(with_tile(0, 0), call);
  BOOST_TEST(transposed.accesses == 2 * 24 + 6 + 2 * 12);
  const GemmTraffic blocked = cpu::blocked_traffic(with_tile(4, 3), call);
  BOOST_TEST(blocked.accesses == 8 + 12 + 6 + 2 * (8 + 12));
  BOOST_TEST(blocked.bytes == 4 * (8 + 12 + 6 + 8 + 12));
}

BOOST_AUTO_TEST_SUITE_END()
