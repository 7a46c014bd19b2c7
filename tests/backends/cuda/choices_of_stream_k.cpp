/// Checks on the host which tiles and cuts stream_k chooses for a device with 132 multiprocessors.

#include <set>
#include <span>

#include <boost/test/unit_test.hpp>

#include "cuda/gemm/stream_k/tile_model.hpp"
#include "stream_k_products.hpp"

using tessera::Index;

namespace {

namespace stream_k = tessera::cuda::stream_k;

// The tiles in the order in which the kernels list them.
constexpr stream_k::TileModel f32_tiles[]{stream_k::f32_large, stream_k::f32_square, stream_k::f32_medium,
                                          stream_k::f32_small, stream_k::f32_flat,   stream_k::f32_least};
constexpr stream_k::TileModel f64_tiles[]{stream_k::f64_large, stream_k::f64_medium, stream_k::f64_square,
                                          stream_k::f64_small, stream_k::f64_flat,   stream_k::f64_least};

} // namespace

BOOST_AUTO_TEST_SUITE(choices)

/// The choices in f32 with 132 multiprocessors, which follow measurements on an H200.
BOOST_AUTO_TEST_CASE(f32_tiles_of_stream_k) {
  using namespace tessera::cuda::stream_k;
  const auto& tiles = f32_tiles;
  const auto check = [&](Index m, Index n, Index k, const TileModel& tile, Index segments, Index blocks) {
    const TileChoice best = choose_tile(tiles, {{.type = tessera::DType::F32, .m = m, .n = n, .k = k}}, 132);
    BOOST_TEST_CONTEXT(m << "×" << n << "×" << k) {
      BOOST_TEST(tiles[best.tile].m == tile.m);
      BOOST_TEST(tiles[best.tile].n == tile.n);
      BOOST_TEST(best.segments == segments);
      BOOST_TEST(best.blocks == blocks);
    }
  };
  check(256, 256, 256, f32_least, 1, 2);
  check(512, 512, 512, f32_flat, 1, 2);
  // 160 tiles, which are cut: two of them on one multiprocessor would take longer.
  check(300, 1000, 1000, f32_flat, 1, 1);
  check(768, 768, 768, f32_small, 1, 1);
  check(1024, 1024, 1024, f32_small, 1, 2);
  check(1536, 1536, 1536, f32_medium, 1, 2);
  check(2048, 2048, 2048, f32_large, 1, 1);
  check(8192, 8192, 8192, f32_large, 1, 1);
  check(4096, 4096, 4096, f32_large, 1, 1);
  check(4096, 4096, 128, f32_square, 1, 2);  // storing takes long, and the second block multiplies meanwhile
  check(1024, 1024, 4096, f32_square, 4, 2); // 64 tiles, one of which would take 4096 steps
}

/// The choices in f64 with 132 multiprocessors.
BOOST_AUTO_TEST_CASE(f64_tiles_of_stream_k) {
  using namespace tessera::cuda::stream_k;
  const auto& tiles = f64_tiles;
  const auto call = [](Index m, Index n, Index k) {
    return tessera::GemmCall{{.type = tessera::DType::F64, .m = m, .n = n, .k = k}};
  };
  const auto check = [&](const TileModel& tile, Index m, Index n, Index k) {
    const TileChoice best = choose_tile(tiles, call(m, n, k), 132);
    BOOST_TEST_CONTEXT(m << "×" << n << "×" << k) {
      BOOST_TEST(tiles[best.tile].m == tile.m);
      BOOST_TEST(tiles[best.tile].n == tile.n);
      BOOST_TEST(!chain_pays(f64_large, call(m, n, k), best, 132));
    }
  };
  for (const auto& [m, n, k] : tessera::test::products_128x64) check(f64_medium, m, n, k);
  check(f64_large, 2048, 2048, 2048);
  check(f64_large, 8192, 8192, 8192);
  check(f64_least, 256, 256, 256);
  check(f64_small, 512, 512, 512);
  check(f64_square, 768, 768, 768);
  check(f64_square, 4096, 128, 1500);
  for (const auto& [m, n, k] : tessera::test::chained_products)
    BOOST_TEST(chain_pays(f64_large, call(m, n, k), choose_tile(tiles, call(m, n, k), 132), 132),
               m << "×" << n << "×" << k);
  // If several tiles cost the same, the first one is chosen, and there are no cuts where k is one segment.
  const TileChoice least = choose_tile(tiles, call(1, 1, 1), 132);
  BOOST_TEST(tiles[least.tile].m == f64_least.m);
  BOOST_TEST(least.segments == 1);
}

/// The products that tests multiply on a device take these tiles.
BOOST_AUTO_TEST_CASE(middle_sizes_have_tiles_of_all_but_the_largest_size) {
  using namespace tessera::cuda::stream_k;
  const auto tiles_of = [](std::span<const TileModel> tiles, tessera::DType type, bool cut) {
    std::set<std::size_t> seen;
    for (const auto& [m, n, k] : tessera::test::products_of_middle_sizes) {
      const tessera::GemmCall call{{.type = type, .m = m, .n = n, .k = k}};
      const TileChoice best = choose_tile(tiles, call, 132);
      const bool more = tiles[best.tile].count(call) * best.segments > best.blocks * 132;
      if ((more && k >= least_cut) == cut) seen.insert(best.tile);
    }
    seen.erase(0);
    return seen.size();
  };
  for (const bool cut : {false, true}) {
    BOOST_TEST(tiles_of(f32_tiles, tessera::DType::F32, cut) == 5);
    BOOST_TEST(tiles_of(f64_tiles, tessera::DType::F64, cut) == (cut ? 4 : 5));
  }
}

BOOST_AUTO_TEST_SUITE_END()
