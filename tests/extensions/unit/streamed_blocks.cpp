/// Tests how products that go through a device's memory are cut: the blocks of C and the depth of slices.

#include <numeric>
#include <vector>

#include <boost/test/unit_test.hpp>

#include "extensions/beyond_memory/streamed/streamed_gemm.hpp"

using namespace tessera;
using namespace tessera::detail;

namespace {

constexpr std::size_t gibi = std::size_t{1} << 30;
constexpr int multiprocessors = 132;

GemmCall product(DType type, Index n, double beta = 0) {
  return {{.type = type, .m = n, .n = n, .k = n, .lda = n, .ldb = n, .beta = beta, .ldc = n}, type};
}

/// The blocks of a device that has `bytes` bytes for them and for its kernels.
StreamedBlocks share(const GemmCall& call, std::size_t bytes, Index executors) {
  const StreamedBlocks largest = choose_blocks(call, bytes);
  return deepened(call,
                  largest.cut(share_out(call, largest.grid(call), Sharing{.devices = executors}, canonical_segment)),
                  bytes, multiprocessors);
}

} // namespace

BOOST_AUTO_TEST_SUITE(streamed_blocks)

BOOST_AUTO_TEST_CASE(blocks_and_what_kernels_take_fit) {
  for (const DType type : {DType::F32, DType::F64, DType::F16})
    for (const Index n : {64, 1000, 4096, 6144, 16384, 32768})
      for (const std::size_t bytes : {96 * gibi / 1024, gibi, 30 * gibi})
        for (const double beta : {0.0, 0.5}) {
          const GemmCall call = product(type, n, beta);
          const StreamedBlocks blocks = share(call, bytes, 2);
          BOOST_TEST_CONTEXT(to_string(type) << " " << n << ", " << bytes << " bytes, beta " << beta) {
            BOOST_TEST(blocks.bytes(call) <= bytes);
            BOOST_TEST((blocks.k == n || blocks.k % canonical_segment == 0));
            if (blocks.k > canonical_segment)
              BOOST_TEST(blocks.bytes(call) + blocks.kernels_bytes(call, multiprocessors) <= bytes);
          }
        }
}

BOOST_AUTO_TEST_CASE(much_memory_makes_slices_deep_and_little_memory_does_not) {
  const GemmCall call = product(DType::F32, 16384);
  BOOST_TEST(share(call, 30 * gibi, 1).k == 8192);
  BOOST_TEST(share(call, 96 * gibi / 1024, 1).k == canonical_segment);
}

BOOST_AUTO_TEST_CASE(each_executor_has_blocks_that_are_not_small) {
  for (const Index executors : {1, 2, 4})
    for (const Index n : {8192, 16384, 32768}) {
      const BlockGrid grid = share(product(DType::F32, n), 30 * gibi, executors).grid(product(DType::F32, n));
      BOOST_TEST_CONTEXT(executors << " executors, " << n) {
        BOOST_TEST(grid.count() >= executors);
        BOOST_TEST(grid.count() % executors == 0); // none waits for another one's last block
        BOOST_TEST(grid.block_m * grid.block_n >= 2048 * 2048);
      }
    }
}

BOOST_AUTO_TEST_CASE(an_empty_c_has_no_blocks) {
  for (const auto& [m, n] : {std::pair<Index, Index>{0, 5}, {5, 0}}) {
    GemmCall call = product(DType::F32, 100);
    call.m = m;
    call.n = n;
    BOOST_TEST(share_out(call, StreamedBlocks{m, n, 100}.grid(call), Sharing{.devices = 2}, 100).count() == 0);
  }
}

/// While a slice is multiplied the next one is copied: the first are shallow, and each may be somewhat deeper.
BOOST_AUTO_TEST_CASE(slices_become_deeper) {
  const GemmCall call = product(DType::F32, 65536);
  const SliceDepths alone = depths_of(call, {8192, 8192, 65536}, {});
  BOOST_TEST(alone.first == canonical_segment);
  BOOST_TEST(alone.most == 65536);
  BOOST_TEST(alone.growth > 1.0);
  BOOST_TEST(alone.growth < 2.0);
  BOOST_TEST(depths_of(call, {64, 64, 1024}, {}).growth == 1.0); // copies take longer than products
  BOOST_TEST(depths_of(call, {64, 64, 1024}, {}).first == 1024);
  const Sharing apart{.devices = 4}, exchanged{.devices = 4, .exchanged = true};
  const StreamedBlocks part{8192, 32768, 32768};
  BOOST_TEST(depths_of(call, part, exchanged).growth > 2 * depths_of(call, part, apart).growth);
}

/// The depths of the slices of one block.
std::vector<Index> depths_of_slices(Index k, const SliceDepths& depths) {
  const GemmCall call{{.type = DType::F32, .m = 8, .n = 8, .k = k, .lda = k, .ldb = 8, .ldc = 8}};
  SharedBlocks blocks({8, 8, 8, 8});
  HostSource source(call, blocks, depths);
  std::vector<Index> all;
  bool given = true;
  for (SliceStep step; source.next(step, given).ok() && given; all.push_back(step.k)) {
    BOOST_TEST(step.first == std::accumulate(all.begin(), all.end(), Index{0}));
    BOOST_TEST(step.last == (step.first + step.k == k));
    BOOST_TEST(step.ends);
  }
  return all;
}

BOOST_AUTO_TEST_CASE(the_slices_of_a_block) {
  using Depths = std::vector<Index>;
  const auto check = [](Index k, const SliceDepths& depths, const Depths& expected) {
    const Depths all = depths_of_slices(k, depths);
    BOOST_TEST(all == expected, boost::test_tools::per_element());
  };
  check(16384, {1024, 2048, 8192, 4000, 2.5}, {1024, 2048, 5120, 8192});
  check(16384, {1024, 2048, 6144, 4000, 2.5}, {1024, 2048, 5120, 4096, 4096});
  check(8192, {1024, 2048, 8192, 4000, 1.0}, {1024, 2048, 2048, 1024, 2048});
  check(5000, {1024, 2048, 4096, 100000, 1.0}, {1024, 1024, 1024, 1928});
  check(1000, {1000, 1000, 1000, 4000, 1.5}, {1000});
  check(3000, {3000, 3000, 3000, 3000, 1.0}, {3000}); // in a mode that keeps k whole
  check(0, {0, 0, 0, 0, 1.0}, {0});
}

/// Products in modes of matrix units keep k whole, so that their blocks are smaller along m and n.
BOOST_AUTO_TEST_CASE(k_that_stays_whole_is_one_slice) {
  for (const Index n : {64, 3000, 32768})
    for (const std::size_t bytes : {gibi, 30 * gibi}) {
      const GemmCall call = product(DType::BF16, n);
      const StreamedBlocks blocks = choose_blocks(call, bytes, call.k);
      BOOST_TEST(blocks.k == n);
      BOOST_TEST(blocks.m > 0);
      BOOST_TEST(blocks.bytes(call) <= bytes);
    }
  const GemmCall deep{{.type = DType::F32, .m = 64, .n = 64, .k = Index{1} << 24}};
  BOOST_TEST(choose_blocks(deep, gibi, deep.k).m == 0); // not even the smallest block fits
  BOOST_TEST(choose_blocks(deep, gibi).m == 64);
}

BOOST_AUTO_TEST_SUITE_END()
