/// Checks on the host which tiles and cuts the kernels of matrix units, of few results and for any alignment choose,
/// for a device with 132 multiprocessors. choices_of_stream_k.cpp has the others.

#define BOOST_TEST_MODULE cuda_choices
#include <set>
#include <tuple>
#include <utility>

#include <boost/test/unit_test.hpp>

#include "cuda/gemm/common/any_alignment/plan.hpp"
#include "cuda/gemm/common/emulated_fp16x3/plan.hpp"
#include "cuda/gemm/common/wgmma_tma/plan.hpp"
#include "cuda/gemm/warp_fma/plan.hpp"
#include "cuda/gemm/warp_mma/plan.hpp"
#include "few_results.hpp"
#include "tile_widths.hpp"

using tessera::Index;

namespace cuda = tessera::cuda;

BOOST_AUTO_TEST_SUITE(choices)

/// The kernels by tensor maps: tile and what blocks share.
using TmaKernel = std::tuple<int, int, cuda::tma::Sharing>;
const std::set<TmaKernel> tma_kernels{{128, 256, cuda::tma::Sharing::B},       {128, 224, cuda::tma::Sharing::B},
                                      {128, 256, cuda::tma::Sharing::Nothing}, {128, 192, cuda::tma::Sharing::Nothing},
                                      {128, 192, cuda::tma::Sharing::B},       {128, 128, cuda::tma::Sharing::B},
                                      {64, 128, cuda::tma::Sharing::B},        {128, 128, cuda::tma::Sharing::Nothing},
                                      {128, 64, cuda::tma::Sharing::Nothing},  {64, 128, cuda::tma::Sharing::Nothing},
                                      {64, 64, cuda::tma::Sharing::Nothing},   {64, 32, cuda::tma::Sharing::Nothing},
                                      {128, 128, cuda::tma::Sharing::Results}, {64, 64, cuda::tma::Sharing::Results}};

/// A block has all segments of k or one of them, so that no plan changes a bit.
BOOST_AUTO_TEST_CASE(plans_cut_k_as_the_contract_says) {
  using namespace tessera::cuda::tma;
  for (const Index m : {1, 256, 257, 1000, 4096, 32768})
    for (const Index n : {1, 64, 65, 1536, 4097})
      for (const Index k : {1, 400, 2048, 2049, 6144, 6145, 32769, 65536})
        for (const bool tf32 : {false, true}) {
          const ProductSize size = ProductSize::of(m, n, k, tf32 ? 4 : 2);
          const TilingPlan plan = choose_plan(size, 132, tf32 ? Tiles::Tf32 : Tiles::All);
          BOOST_TEST_CONTEXT(m << "×" << n << "×" << k << (tf32 ? " in tf32" : "") << ": " << plan.slices
                               << " slices of tiles " << plan.tile_m << "×" << plan.tile_n << " in " << plan.k_parts
                               << " parts") {
            BOOST_TEST(size.segments() == tessera::detail::matrix_unit_segments(k));
            BOOST_TEST(tma_kernels.contains({plan.tile_m, plan.tile_n, plan.sharing}));
            if (tf32) BOOST_TEST((plan.tile_n != 224 && plan.tile_n != 192));
            if (tf32) BOOST_TEST((plan.sharing != Sharing::Results || plan.tile_n == 64));
            if (n <= 64) BOOST_TEST(plan.tile_n <= 128); // wider tiles would be mostly empty
            BOOST_TEST((plan.slices == 1 || plan.slices == size.segments()));
            BOOST_TEST((plan.k_parts == 1 || plan.k_parts == size.segments()));
            BOOST_TEST((plan.k_parts == 1 || plan.slices == 1));
            BOOST_TEST((plan.sharing == Sharing::Results) == (plan.k_parts > 1));
            BOOST_TEST((plan.k_parts == 1 || plan.k_parts == 2 || plan.k_parts == 4));
          }
        }
  for (const Index n : {4096, 8192})
    BOOST_TEST(choose_plan(ProductSize::of(n, n, n, 2), 132, Tiles::All).tile_n >= 192); // few bytes an operation
  const TilingPlan one_tile = choose_plan(ProductSize::of(64, 64, 32768, 2), 132, Tiles::All);
  BOOST_TEST(one_tile.k_parts * one_tile.slices == 4);
}

/// Where memory is fast, few rows are cut into slices if the chosen plan leaves multiprocessors idle, and only then.
BOOST_AUTO_TEST_CASE(few_rows_are_shared_out_where_memory_is_fast) {
  using namespace tessera::cuda::tma;
  const auto plans = [](Index m, Index n, Index k) {
    const ProductSize size = ProductSize::of(m, n, k, 2);
    const OrientedPlan chosen = choose_oriented_plan(size, 132);
    return std::pair{chosen, in_sliced_rounds(chosen, size, 132)};
  };
  for (const Index m : {1, 16, 32, 64}) {
    const auto [chosen, sliced] = plans(m, 10240, 8192);
    BOOST_TEST_CONTEXT(m << " rows") {
      BOOST_TEST(chosen.plan.slices == 1);
      BOOST_TEST(sliced.plan.slices == tessera::detail::matrix_unit_segments(8192));
      BOOST_TEST(sliced.swapped); // the rows of such a plan are columns of C
      BOOST_TEST((10240 + sliced.plan.tile_m - 1) / sliced.plan.tile_m * sliced.plan.slices > 4 * 132);
    }
  }
  // Too many rows; one segment; no multiprocessor idle; a plan that divides k already.
  for (const auto& [m, n, k] :
       {std::tuple<Index, Index, Index>{65, 10240, 8192}, {16, 10240, 2048}, {16, 8448, 8192}, {16, 4096, 14336}}) {
    const auto [chosen, same] = plans(m, n, k);
    BOOST_TEST_CONTEXT(m << "×" << n << "×" << k) {
      BOOST_TEST(same.swapped == chosen.swapped);
      BOOST_TEST(same.plan.slices == chosen.plan.slices);
      BOOST_TEST(same.plan.tile_m == chosen.plan.tile_m);
      BOOST_TEST(same.plan.tile_n == chosen.plan.tile_n);
    }
  }
}

/// The products that tests compare on a device take every kernel by tensor maps, and every way to add segments.
BOOST_AUTO_TEST_CASE(products_of_tests_take_every_tile) {
  using namespace tessera::cuda::tma;
  std::set<TmaKernel> seen, seen_swapped, adding, sliced;
  const auto look = [&](const auto& products) {
    for (const auto& [m, n, k] : products) {
      // The products run with operands that are copied, and with operands that lie along k.
      for (const bool copied : {true, false}) {
        ProductSize size = ProductSize::of(m, n, k, 2);
        size.split_a = size.split_b = !copied && k % 8 == 0 && k % 64 != 0;
        const auto [plan, swapped] = choose_oriented_plan(size, 132);
        const TmaKernel kernel{plan.tile_m, plan.tile_n, plan.sharing};
        seen.insert(kernel);
        if (swapped) seen_swapped.insert(kernel);
        if (!plan.divides_k() && size.segments() > 1) adding.insert(kernel);
        if (plan.slices > 1) sliced.insert(kernel);
      }
    }
  };
  look(tessera::test::products_in_large_tiles);
  look(tessera::test::products_in_small_tiles);
  look(tessera::test::products_in_rounds);
  look(tessera::test::products_of_the_contract);
  for (const TmaKernel& kernel : tma_kernels)
    BOOST_TEST(seen.contains(kernel),
               std::get<0>(kernel) << "×" << std::get<1>(kernel) << ", " << static_cast<int>(std::get<2>(kernel)));
  BOOST_TEST(seen_swapped.size() >= 4U);
  for (const TmaKernel& kernel : tma_kernels)
    if (std::get<2>(kernel) != Sharing::Results)
      BOOST_TEST(adding.contains(kernel), std::get<0>(kernel) << "×" << std::get<1>(kernel) << " adds segments");
  BOOST_TEST(sliced.size() >= 2U);
  for (const auto& [m, n, k] : tessera::test::products_in_rounds_tf32)
    for (const auto& [rows, cols] : {std::pair{m, n}, std::pair{n, m}}) {
      const TilingPlan plan = choose_plan(ProductSize::of(rows, cols, k, 4), 132, Tiles::Tf32);
      BOOST_TEST_CONTEXT(rows << "×" << cols << "×" << k << " in tf32") {
        BOOST_TEST((plan.sends_boxes() && plan.slices == 1));
        BOOST_TEST((rows + 255) / 256 * ((cols + 255) / 256) > 66);
      }
    }
}

/// The products that tests compare on a device take every tile of a warp's instructions, and every way to add segments.
BOOST_AUTO_TEST_CASE(products_of_tests_take_every_tile_of_warps) {
  using namespace tessera::cuda::warp_mma;
  const auto call = [](Index m, Index n, Index k, Index more) {
    return tessera::GemmCall{{.m = m, .n = n, .k = k, .lda = k + more, .ldb = n + more, .ldc = n}};
  };
  tessera::Capabilities hopper, ampere;
  hopper.multiprocessors = 132;
  hopper.compute_major = 9;
  ampere.multiprocessors = 108;
  ampere.compute_major = 8;
  std::set<std::pair<int, int>> seen;
  for (const auto& [m, n, k] : tessera::test::products_of_warps)
    for (const Index more : {0, 1})
      for (const Index element : {2, 4}) {
        const WarpMmaPlan plan = plan_of(call(m, n, k, more), element, hopper);
        seen.insert({plan.side, plan.parts});
        BOOST_TEST((plan.parts == 1 || plan.parts == tessera::detail::matrix_unit_segments(k)));
        BOOST_TEST(plan_of(call(m, n, k, more), element, ampere).parts == 1);
      }
  for (const TileModel& tile : tiles)
    for (const int parts : {1, 2, 4})
      if (tile.side < 64 || parts == 1)
        BOOST_TEST(seen.contains({tile.side, parts}), tile.side << " in " << parts << " parts");
  // Few results, and operands that wgmma_tf32 would copy, are what these kernels are for.
  for (const auto& [m, n, k] : {std::tuple<Index, Index, Index>{64, 64, 5312}, {61, 45, 333}, {24, 192, 4776}})
    for (const Index more : {0, 1}) BOOST_TEST(is_small(call(m, n, k, more), 4, hopper), m << "×" << n << "×" << k);
  for (const Index n : {1024, 4096})
    for (const Index element : {2, 4}) BOOST_TEST(!is_small(call(n, n, n, 0), element, hopper), n << "³");
  // In 16 bits, these kernels take few results, and short products that wgmma_* would copy operands for; but not where
  // the kernel for any address takes less time.
  BOOST_TEST(is_small(call(64, 64, 5312, 0), 2, hopper));
  BOOST_TEST(is_small(call(100, 70, 200, 1), 2, hopper));
  BOOST_TEST(!is_small(call(64, 3000, 5312, 1), 2, hopper));
  BOOST_TEST(!is_small(call(440, 1300, 40, 1), 2, hopper));
}

/// Products of few results in f32 and f64: the tests on a device take every tile, and every number of blocks that share
/// k, whatever is transposed.
BOOST_AUTO_TEST_CASE(products_of_tests_take_every_tile_of_few_results) {
  using namespace tessera::cuda::warp_fma;
  tessera::Capabilities hopper, ampere;
  hopper.multiprocessors = 132;
  hopper.compute_major = 9;
  ampere.multiprocessors = 108;
  ampere.compute_major = 8;
  using tessera::Op;
  for (const tessera::DType type : {tessera::DType::F32, tessera::DType::F64}) {
    std::set<std::pair<int, int>> seen;
    std::set<int> parts;
    std::size_t taken = 0;
    for (const auto& sizes : tessera::test::products_of_few_results)
      for (const Op op_a : {Op::None, Op::Transpose})
        for (const Op op_b : {Op::None, Op::Transpose}) {
          const tessera::GemmCall product = tessera::test::packed_call(type, sizes, op_a, op_b);
          const WarpFmaPlan plan = plan_of(product, hopper);
          BOOST_TEST(plan_of(product, ampere).parts == 1);
          if (!is_small(product, hopper)) continue; // the test on a device leaves it out, too
          seen.insert({plan.m, plan.n});
          parts.insert(plan.parts);
          BOOST_TEST((plan.parts == 1 || plan.parts == (sizes.k + 1023) / 1024));
          ++taken;
        }
    // Two thirds of them at least: each has four transposes.
    BOOST_TEST(taken * 3 >= std::size(tessera::test::products_of_few_results) * 4 * 2);
    for (const TileModel& tile : tiles)
      BOOST_TEST(seen.contains({tile.m, tile.n}) == (tile.cycles(type)[0] < never), tile.m << "×" << tile.n);
    for (int part = 1; part <= 8; ++part) BOOST_TEST(parts.contains(part), part << " parts");
    for (const auto& sizes : {tessera::GemmShape{1024, 1024, 1024},
                              {4096, 4096, 64},
                              {12, 716, 16},
                              {16, 4096, 4096},
                              {64, 64, 66000},
                              {0, 8, 8},
                              {8, 8, 0}})
      BOOST_TEST(!is_small(tessera::test::packed_call(type, sizes, Op::None, Op::None), hopper),
                 sizes.m << "×" << sizes.n << "×" << sizes.k);
  }
}

/// How emulated_fp16x3 is computed, with 132 multiprocessors, which follows measurements on an H100.
BOOST_AUTO_TEST_CASE(ways_of_emulated_fp16x3) {
  using namespace tessera::cuda::fp16x3;
  const auto layer = [](Index m, Index n, Index k) {
    return tessera::GemmCall{{.op_b = tessera::Op::Transpose, .m = m, .n = n, .k = k, .lda = k, .ldb = k, .ldc = n}};
  };
  const auto way = [&](Index m, Index n, Index k) { return choose(layer(m, n, k), 132).way; };
  for (const Index m : {48, 64, 128, 256})
    for (const auto& [n, k] : {std::pair<Index, Index>{4096, 4096}, {14336, 4096}, {8192, 8192}, {8192, 28672}}) {
      BOOST_TEST((way(m, n, k) == Way::Unpacked), m << "x" << n << "x" << k);
      BOOST_TEST((way(n, m, k) == Way::Unpacked), n << "x" << m << "x" << k);
    }
  for (const Index n : {2048, 4096, 8192}) BOOST_TEST((way(n, n, n) == Way::Packed));
  // Warps split the operands of small products, and of those with a few rows, which wait for memory.
  for (const auto& [m, n, k] : {std::tuple<Index, Index, Index>{1, 4096, 4096},
                                {8, 4096, 4096},
                                {64, 64, 16384},
                                {16, 1024, 4096},
                                {256, 256, 512},
                                {300, 300, 300}})
    BOOST_TEST((way(m, n, k) == Way::Split), m << "x" << n << "x" << k);
  // Which products are strict depends on k alone.
  for (const Index m : {1, 100, 8192})
    for (const Index n : {1, 4096}) {
      BOOST_TEST((way(m, n, tessera::detail::emulated_strict_k(tessera::Math::EmulatedFp16x3)) == Way::Strict));
      BOOST_TEST((way(m, n, tessera::detail::emulated_strict_k(tessera::Math::EmulatedFp16x3) + 1) != Way::Strict));
    }
  for (const auto& [m, n, k] : {std::tuple<Index, Index, Index>{0, 8, 800}, {8, 0, 800}, {8, 8, 0}})
    BOOST_TEST((way(m, n, k) == Way::Strict));
  // Blocks split the operands of more results that are still too few for packing.
  for (const auto& [m, n, k] : {std::tuple<Index, Index, Index>{88, 1872, 704}, {497, 104, 8320}, {512, 512, 512}})
    BOOST_TEST((way(m, n, k) == Way::Blocks), m << "x" << n << "x" << k);
  // Lines of weights that begin anywhere are packed.
  tessera::GemmCall odd = layer(256, 4097, 4097);
  BOOST_TEST(!LargeOperand(odd).can_be_read(odd));
  BOOST_TEST((choose(odd, 132).way == Way::Packed));

  for (const Index m : {1, 33, 65, 200, 1000})
    for (const Index k : {1, 128, 1025, 5000, 28672, 100000}) {
      const tessera::GemmCall call = layer(m, 4096, k);
      const UnpackedPlan plan = unpacked_time(call, 132).plan;
      BOOST_TEST_CONTEXT(m << "x4096x" << k) {
        BOOST_TEST(plan.shares_large == (m > plan.tile_n));
        BOOST_TEST(plan.slices >= 1);
        BOOST_TEST(plan.slices <= segments_of(call));
      }
    }
}

/// How scaled_fp16 is computed: large products are packed, and the operands of small ones are read once, in one launch.
BOOST_AUTO_TEST_CASE(ways_of_scaled_fp16) {
  using namespace tessera::cuda::fp16x3;
  const auto way = [](Index m, Index n, Index k) {
    return choose({{.math = tessera::Math::ScaledFp16,
                    .op_b = tessera::Op::Transpose,
                    .m = m,
                    .n = n,
                    .k = k,
                    .lda = k,
                    .ldb = k,
                    .ldc = n}},
                  132)
        .way;
  };
  for (const Index n : {2048, 4096, 8192}) BOOST_TEST((way(n, n, n) == Way::Packed));
  for (const Index m : {48, 64, 128}) BOOST_TEST((way(m, 14336, 4096) == Way::Unpacked));
  int width = 64;
  for (const auto& x : tessera::test::products_of_tile_widths) {
    BOOST_TEST((way(x.m, x.n, x.k) == Way::Packed), x.m << "x" << x.n << "x" << x.k);
    const tessera::GemmCall call =
        tessera::test::packed_call(tessera::DType::F32, x, tessera::Op::None, tessera::Op::None);
    BOOST_TEST(choose_tile_n(call, 66, {64, 128, 192}) == width);
    width += 64;
  }
  for (const Index m : {1, 8}) BOOST_TEST((way(m, 4096, 4096) == Way::Split));
  for (const Index m : {1, 100, 8192})
    for (const Index n : {1, 4096}) {
      BOOST_TEST((way(m, n, tessera::detail::emulated_strict_k(tessera::Math::ScaledFp16)) == Way::Strict));
      BOOST_TEST((way(m, n, tessera::detail::emulated_strict_k(tessera::Math::ScaledFp16) + 1) != Way::Strict));
    }
}

/// The plans of products whose warps split the operands: each tile is taken, alone and with shared k.
BOOST_AUTO_TEST_CASE(plans_of_warp_split) {
  using namespace tessera::cuda::warp_split;
  for (const tessera::Math math : {tessera::Math::EmulatedFp16x3, tessera::Math::ScaledFp16}) {
    std::set<std::tuple<int, int, int>> seen;
    for (const auto& sizes : tessera::test::products_of_split_warps)
      for (const tessera::Op op_a : {tessera::Op::None, tessera::Op::Transpose})
        for (const tessera::Op op_b : {tessera::Op::None, tessera::Op::Transpose}) {
          tessera::GemmCall product = tessera::test::packed_call(tessera::DType::F32, sizes, op_a, op_b);
          product.math = math;
          if (tessera::cuda::fp16x3::choose(product, 132).way != tessera::cuda::fp16x3::Way::Split) continue;
          const WarpSplitPlan plan = best_of(product, 132).plan;
          seen.insert({plan.down, plan.across, plan.parts > 1});
        }
    for (const WarpSplitPlan& tile : tiles)
      for (const int shared : {0, 1})
        BOOST_TEST(seen.contains({tile.down, tile.across, shared}),
                   to_string(math) << ": " << tile.down << "×" << tile.across << (shared ? ", shared k" : ""));
  }
  BOOST_TEST(best_of({{.m = Index{1} << 30, .n = 1, .k = 300, .lda = 300, .ldb = 1, .ldc = 1}}, 132).microseconds ==
             std::numeric_limits<double>::infinity());
}

/// The plans of products whose blocks split the operands: k in one segment and in several, each in one piece and in
/// several. All chunks are in a piece.
BOOST_AUTO_TEST_CASE(plans_of_block_split) {
  using namespace tessera::cuda::block_split;
  for (const tessera::Math math : {tessera::Math::EmulatedFp16x3, tessera::Math::ScaledFp16}) {
    std::set<std::pair<bool, bool>> seen;
    for (const auto& sizes : tessera::test::products_of_split_blocks) {
      tessera::GemmCall product =
          tessera::test::packed_call(tessera::DType::F32, sizes, tessera::Op::None, tessera::Op::None);
      product.math = math;
      const auto plan = tessera::cuda::fp16x3::choose(product, 132);
      if (plan.way != tessera::cuda::fp16x3::Way::Blocks) continue;
      const Pieces pieces = pieces_of(product, plan.blocks.piece_chunks);
      seen.insert({pieces.segments() > 1, pieces.count() > pieces.segments()});
    }
    for (const bool segments : {false, true})
      for (const bool more : {false, true})
        BOOST_TEST(seen.contains({segments, more}), to_string(math)
                                                        << (segments ? ", segments" : "") << (more ? ", pieces" : ""));
  }
  for (const int chunks : {1, 3, 8, 9, 17, 40, 65, 400})
    for (int piece = 1; piece <= 8; ++piece) {
      const Pieces pieces{chunks, static_cast<int>(tessera::detail::emulated_segment_chunks(chunks * 128)), piece};
      int count = 0, planes = 0;
      for (int begin = 0; begin < chunks; begin += pieces.segment_chunks)
        for (int at = begin; at < std::min(chunks, begin + pieces.segment_chunks); at += piece) {
          ++count;
          planes += at == begin ? 1 : std::min({chunks, begin + pieces.segment_chunks, at + piece}) - at;
        }
      BOOST_TEST(pieces.count() == count, chunks << " chunks, " << piece);
      BOOST_TEST(pieces.planes() == planes, chunks << " chunks, " << piece);
    }
  BOOST_TEST(best_of({{.m = 1, .n = 8, .k = 300, .lda = Index{1} << 30, .ldb = 8, .ldc = 8}}, 132).microseconds ==
             std::numeric_limits<double>::infinity());
}

/// Segments of k depend on k alone, and each slice has some of them.
BOOST_AUTO_TEST_CASE(segments_of_emulated_fp16x3) {
  using namespace tessera::cuda::wgmma;
  for (const Index k : {1, 128, 1024, 1025, 4096, 28672, 1 << 20}) {
    const Index chunks = (k + chunk_k - 1) / chunk_k;
    const Index of_segment = tessera::detail::emulated_segment_chunks(k);
    const Index segments = (chunks + of_segment - 1) / of_segment;
    BOOST_TEST(segments <= tessera::cuda::warp_split::most_parts);
    for (int slices = 1; slices <= segments; ++slices) {
      const SegmentSlices cut{segments, slices};
      for (int slice = 0; slice < slices; ++slice) BOOST_TEST(cut.first(slice) < cut.first(slice + 1));
      BOOST_TEST(cut.first(slices) == segments);
      BOOST_TEST(cut.planes() == 1 + segments - cut.first(1));
    }
  }
}

BOOST_AUTO_TEST_CASE(operands_at_any_address_are_read_in_place_by_small_products) {
  using namespace tessera::cuda::any_alignment;
  using tessera::cuda::lines_are_aligned;
  BOOST_TEST(plan_of(65, 64, 129).tiles == 2);
  BOOST_TEST(plan_of(65, 64, 129).stages == 3);
  BOOST_TEST(cycles_of(177, 44, 128, 132) < cycles_of(177, 44, 129, 132));       // three stages, one after the other
  BOOST_TEST(cycles_of(2048, 4912, 63, 132) > 3 * cycles_of(512, 614, 63, 132)); // rounds of blocks, and results

  alignas(16) static const char memory[32]{};
  BOOST_TEST(lines_are_aligned(memory, 5, 8, 2));
  BOOST_TEST(!lines_are_aligned(memory, 5, 9, 2));
  BOOST_TEST(lines_are_aligned(memory, 1, 9, 2)); // a single line has no pitch
  BOOST_TEST(!lines_are_aligned(memory + 2, 1, 8, 2));
}

BOOST_AUTO_TEST_SUITE_END()
