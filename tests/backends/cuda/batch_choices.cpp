/// Checks on the host which batches tensor maps can bring, and that batches_at_strides and batches_by_ends take each
/// tile, for a device with 132 multiprocessors.

#define BOOST_TEST_MODULE cuda_batch_choices
#include <set>
#include <span>
#include <tuple>

#include <boost/test/unit_test.hpp>

#include "batch_tiles.hpp"
#include "cuda/gemm/common/wgmma_tma/batch.hpp"

using namespace tessera;
namespace tma = tessera::cuda::tma;

BOOST_AUTO_TEST_SUITE(batch_choices)

/// Rows, columns, and what blocks share.
using Tile = std::tuple<int, int, tma::Sharing>;

/// Returns the tiles that batches take.
std::set<Tile> tiles_of_batches(std::span<const test::BatchInTiles> batches, bool by_ends) {
  std::set<Tile> tiles;
  for (const test::BatchInTiles& x : batches) {
    const GemmBatch group = packed_batch(DType::BF16, x, by_ends, Op::None, Op::None);
    BOOST_TEST(tma::takes_batch(group));
    const tma::TilingPlan plan = tma::choose_batch_plan(group, 132);
    tiles.insert({plan.tile_m, plan.tile_n, plan.sharing});
  }
  return tiles;
}

BOOST_AUTO_TEST_CASE(batches_take_each_tile) {
  std::set<Tile> all;
  for (const tma::BatchTileModel& tile : tma::batch_tiles) all.insert({tile.m, tile.n, tile.sharing});
  BOOST_TEST((tiles_of_batches(test::batches_at_strides, false) == all));
  BOOST_TEST((tiles_of_batches(test::batches_by_ends, true) == all));
}

BOOST_AUTO_TEST_CASE(batches_that_tensor_maps_cannot_bring) {
  const test::BatchInTiles shape{4, 64, 64, 64};
  const auto group = [&] { return packed_batch(DType::BF16, shape, false, Op::None, Op::None); };
  GemmBatch odd_lines = group(), odd_stride = group(), backwards = group(), address = group(), f32 = group();
  odd_lines.call.lda = 65;
  odd_stride.stride_b = 64 * 64 + 4;
  backwards.stride_a = -64 * 64;
  address.call.b = reinterpret_cast<const void*>(8);
  f32.call.type = DType::F32;
  // Rows of Aᵀ that end anywhere begin at any element of its lines.
  const GemmBatch ends = packed_batch(DType::BF16, shape, true, Op::Transpose, Op::None);
  for (const GemmBatch& one : {odd_lines, odd_stride, backwards, address, f32, ends})
    BOOST_TEST(!tma::takes_batch(one));
}

BOOST_AUTO_TEST_SUITE_END()
