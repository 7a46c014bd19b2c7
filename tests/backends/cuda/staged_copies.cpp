/// Tests what staged copies do on the host: cutting a copy into chunks, and the copy threads.

#include <array>
#include <atomic>
#include <vector>

#include <boost/test/unit_test.hpp>

#include "cuda/memory/copy_shape.hpp"
#include "cuda/memory/copy_threads.hpp"

using namespace tessera::cuda;

BOOST_AUTO_TEST_CASE(chunks_cover_every_byte_once) {
  const std::array<CopyShape, 9> shapes{{{1, 1, 1, 1},
                                         {100, 100, 100, 100},
                                         {64, 64, 4, 1000},
                                         {128, 100, 100, 77},
                                         {1100, 1000, 999, 5},
                                         {256, 256, 255, 64},
                                         {2000, 2000, 0, 7},
                                         {2000, 2000, 7, 0},
                                         {257, 257, 257, 3}}};
  for (const std::size_t most : {1u, 64u, 100u, 256u, 1u << 20})
    for (const CopyShape& shape : shapes) {
      std::vector<int> touched(shape.bytes());
      const Chunks chunks(shape, most);
      for (std::size_t c = 0; c < chunks.count(); ++c) {
        const Chunk chunk = chunks[c];
        BOOST_REQUIRE(chunk.width * chunk.rows <= std::max<std::size_t>(most, 1));
        for (std::size_t r = 0; r < chunk.rows; ++r)
          for (std::size_t b = 0; b < chunk.width; ++b) ++touched.at((chunk.row + r) * shape.width + chunk.byte + b);
      }
      BOOST_TEST(std::count(touched.begin(), touched.end(), 1) == static_cast<std::ptrdiff_t>(touched.size()));
    }
}

BOOST_AUTO_TEST_CASE(rows_without_gaps_become_one) {
  const CopyShape merged = CopyShape{100, 100, 100, 30}.merged();
  BOOST_TEST(merged.width == 3000u);
  BOOST_TEST(merged.rows == 1u);
  const CopyShape gaps = CopyShape{128, 100, 100, 30}.merged();
  BOOST_TEST(gaps.width == 100u);
  BOOST_TEST(gaps.rows == 30u);
  BOOST_TEST((CopyShape{128, 256, 100, 1}.merged().bytes()) == 100u);
}

BOOST_AUTO_TEST_CASE(as_many_copy_threads_as_wanted_work_once_a_round) {
  for (const int size : {1, 2, 5}) {
    CopyThreads threads(size);
    BOOST_REQUIRE(threads.size() == size);
    for (int round = 0; round < 200; ++round) {
      const int wanted = 1 + round % (size + 1); // also more than there are
      std::vector<std::atomic<int>> calls(static_cast<std::size_t>(size));
      threads.run(wanted, [&](int thread) { ++calls[static_cast<std::size_t>(thread)]; });
      for (int thread = 0; thread < size; ++thread)
        BOOST_REQUIRE(calls[static_cast<std::size_t>(thread)] == (thread < wanted ? 1 : 0));
    }
  }
}
