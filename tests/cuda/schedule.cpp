/// How kernels share out work, looked at on the host. stream_k: every step of every tile once, in the order of its
/// chain; where blocks draw units, that all are done however few blocks run; and which tiles are chosen.

#define BOOST_TEST_MODULE cuda_schedule
#include <deque>
#include <map>
#include <random>
#include <vector>

#include <boost/test/unit_test.hpp>

#include "chained_products.hpp"
#include "cuda/gemm/stream_k.hpp"
#include "cuda/gemm/stream_k_choice.hpp"
#include "cuda/gemm/tma_plan.hpp"
#include "tile_widths.hpp"

namespace {

using tessera::Index;
using tessera::cuda::Part;
using tessera::cuda::Schedule;

struct Sizes {
  Index tiles, segments, steps, last_steps, slots;
};

/// What all blocks do, and that whoever continues a tile continues the block before it.
void check(const Sizes& x) {
  BOOST_TEST_CONTEXT(x.tiles << " tiles, " << x.segments << " segments, " << x.steps << " and " << x.last_steps
                             << " steps, " << x.slots << " slots") {
    const Schedule schedule(x.tiles, x.segments, x.steps, x.last_steps, x.slots, 2);
    BOOST_TEST(schedule.blocks() <= x.slots);
    std::map<Index, std::map<Index, Index>> done; // tile → begin → end
    Index handed_on = -1;                         // tile that the block before hands on
    Index most = 0;
    for (Index block = 0; block < schedule.blocks(); ++block) {
      Part part{};
      Index hands_on = -1;
      Index steps = 0;
      for (Index index = 0; schedule.part(block, index, part); ++index) {
        BOOST_TEST_REQUIRE(part.begin < part.end);
        BOOST_TEST(done[part.tile].emplace(part.begin, part.end).second);
        BOOST_TEST(part.continues == (part.begin > 0));
        if (part.continues) {
          BOOST_TEST(part.tile == handed_on);
          handed_on = -1;
        }
        if (part.hands_on) {
          BOOST_TEST(index == 0); // before it could wait for anyone, unless it has this part alone
          hands_on = part.tile;
          BOOST_TEST(schedule.cuts());
        }
        steps += part.end - part.begin;
      }
      BOOST_TEST(handed_on == -1); // nobody's sums are left over
      handed_on = hands_on;
      most = std::max(most, steps);
    }
    BOOST_TEST(handed_on == -1);
    BOOST_TEST(done.size() == static_cast<std::size_t>(x.tiles * x.segments));
    Index all = 0;
    for (const auto& [tile, parts] : done) {
      const Index length = tile / x.tiles + 1 == x.segments ? x.last_steps : x.steps;
      Index at = 0;
      for (const auto& [begin, end] : parts) {
        BOOST_TEST(begin == at);
        at = end;
      }
      BOOST_TEST(at == length);
      all += length;
    }
    if (x.steps == x.last_steps && x.tiles * x.segments >= x.slots) BOOST_TEST(most <= all / x.slots + 1);
  }
}

/// Blocks that draw units, and add a tile's segments one behind the other, as stream_k_chain.cuh has it: those of a
/// block that copy draw at most so many units ahead of those that compute as their stages hold.
class Drawing {
 public:
  Drawing(const Sizes& x, std::size_t ahead)
      : x_(x), ahead_(ahead), schedule_(x.tiles, x.segments, x.steps, x.last_steps, x.slots, 1 << 30) {
    BOOST_TEST(!schedule_.cuts());
    added_.resize(static_cast<std::size_t>(x.tiles));
  }

  /// `running` blocks, of which one at a time comes on: draws a unit, or adds one. The others never start.
  void run(Index running, unsigned seed) {
    BOOST_TEST_CONTEXT(x_.tiles << " tiles, " << x_.segments << " segments, " << running << " blocks, seed " << seed) {
      std::mt19937 random(seed);
      std::vector<Block> blocks(static_cast<std::size_t>(running));
      for (bool all_ended = false; !all_ended;) {
        std::vector<Block*> able;
        all_ended = true;
        for (Block& block : blocks) {
          all_ended = all_ended && ended(block);
          if (can_draw(block) || can_add(block)) able.push_back(&block);
        }
        if (all_ended) break;
        BOOST_TEST_REQUIRE(!able.empty(), "everyone waits");
        Block& block = *able[random() % able.size()];
        if (can_draw(block) && (!can_add(block) || random() % 2 == 0))
          draw(block);
        else
          add(block);
      }
      for (const Index segments : added_) BOOST_TEST(segments == x_.segments);
      BOOST_TEST(steps_ == x_.tiles * ((x_.segments - 1) * x_.steps + x_.last_steps));
    }
  }

 private:
  struct Block {
    std::deque<Part> units; ///< drawn, not yet added
    bool last = false;      ///< there was none left
  };

  Index segment(const Part& unit) const { return unit.tile / x_.tiles; }
  Index& added(const Part& unit) { return added_[static_cast<std::size_t>(unit.tile % x_.tiles)]; }

  static bool ended(const Block& block) { return block.last && block.units.empty(); }
  bool can_draw(const Block& block) const { return !block.last && block.units.size() <= ahead_; }
  bool can_add(const Block& block) {
    return !block.units.empty() && added(block.units.front()) >= segment(block.units.front());
  }
  void draw(Block& block) {
    Part unit{};
    block.last = !schedule_.whole(drawn_++, unit);
    if (block.last) return;
    BOOST_TEST((unit.begin == 0 && !unit.continues && !unit.hands_on));
    steps_ += unit.end;
    block.units.push_back(unit);
  }
  void add(Block& block) {
    BOOST_TEST(added(block.units.front()) == segment(block.units.front())); // once, and in order
    ++added(block.units.front());
    block.units.pop_front();
  }

  Sizes x_;
  const std::size_t ahead_;
  Schedule schedule_;
  Index drawn_ = 0, steps_ = 0;
  std::vector<Index> added_; ///< segments of each tile
};

} // namespace

BOOST_AUTO_TEST_SUITE(schedule)

BOOST_AUTO_TEST_CASE(every_step_once_and_evenly) {
  for (const Index tiles : {1, 3, 7, 8, 9, 16, 23, 24, 100})
    for (const Index segments : {1, 2, 5})
      for (const Index last : {1, 3, 8})
        for (const Index slots : {1, 4, 8}) check({tiles, segments, segments == 1 ? last : 8, last, slots});
  check({1024, 1, 128, 128, 264});
  check({400, 1, 80, 80, 264});
  check({144, 2, 32, 16, 264});
}

/// Any number of blocks that run, and any order in which they come on.
BOOST_AUTO_TEST_CASE(drawn_units_are_added_in_order_however_few_blocks_run) {
  for (const Index tiles : {1, 3, 16, 23})
    for (const Index segments : {2, 5, 64})
      for (const Index last : {1, 8})
        for (const Index slots : {1, 8, 132})
          for (const Index running : {Index{1}, Index{2}, slots / 2, slots})
            for (const std::size_t ahead : {1, 6})
              for (unsigned seed = 0; seed < 2; ++seed)
                if (running > 0) Drawing({tiles, segments, 8, last, slots}, ahead).run(running, seed);
}

BOOST_AUTO_TEST_CASE(plans_give_every_slice_work_and_no_cluster_too_much) {
  using namespace tessera::cuda::tma;
  for (const Index m : {1, 256, 257, 1000, 4096, 32768})
    for (const Index n : {1, 64, 65, 1536, 4097})
      for (const Index blocks : {1, 7, 64, 1024})
        for (const bool all_widths : {false, true}) {
          const Plan plan = choose_plan(m, n, blocks, 132, all_widths);
          BOOST_TEST_CONTEXT(m << "×" << n << ", " << blocks << " blocks: " << plan.slices << " slices of tiles "
                               << plan.tile_n << " wide in " << plan.parts << " parts") {
            BOOST_TEST(plan.tile_n % 32 == 0); // whole chunks on their way to C
            BOOST_TEST((all_widths || plan.tile_n == 256 || plan.tile_n == 128 || plan.tile_n == 64));
            BOOST_TEST(plan.tile_n <= 256);
            BOOST_TEST((plan.tile_n <= 128 || plan.sharing == Sharing::B));
            BOOST_TEST((plan.tile_n != 64 || plan.sharing != Sharing::B));
            BOOST_TEST((!plan.multicast || (plan.tile_n >= 224 && plan.sharing == Sharing::B)));
            BOOST_TEST((plan.tile_n != 224 || plan.multicast));
            BOOST_TEST((n <= 64) == (plan.sharing == Sharing::Results && plan.tile_n == 64));
            BOOST_TEST(plan.slices >= 1);
            BOOST_TEST(plan.parts >= 1);
            BOOST_TEST(plan.parts <= 8);
            BOOST_TEST(plan.slices * plan.parts <= blocks);
            if (plan.sharing != Sharing::Results) BOOST_TEST(plan.parts == 1);
            const Index tile_m = plan.sharing == Sharing::B ? 256 : n <= 64 ? 64 : 128;
            const Index tile_n = plan.sharing == Sharing::A ? 2 * plan.tile_n : plan.tile_n;
            const Index units = (m + tile_m - 1) / tile_m * ((n + tile_n - 1) / tile_n) * plan.slices;
            if (plan.slices > 1 || plan.parts > 1)
              BOOST_TEST(units * (plan.sharing == Sharing::Results ? plan.parts : 2) <= 132);
          }
        }
  BOOST_TEST(choose_plan(8192, 8192, 128, 132, true).tile_n == 256); // fewest bytes an operation
  const Plan one_tile = choose_plan(64, 64, 512, 132, true);
  BOOST_TEST(one_tile.parts * one_tile.slices > 100);
  const Plan slender = choose_plan(4096, 16, 32, 132, true);
  BOOST_TEST(slender.parts == 2);
  BOOST_TEST(slender.slices == 1); // no sums in memory
  const Plan low = choose_plan(128, 32768, 16, 132, true);
  BOOST_TEST((low.tile_n == 128 && low.sharing == Sharing::A)); // below one another half of them would be empty
}

BOOST_AUTO_TEST_CASE(tiles_are_as_wide_as_fills_the_multiprocessors) {
  using tessera::cuda::tma::choose_plan;
  int sliced = 0;
  for (const auto& [m, n, k] : tessera::test::products_224_wide) {
    const tessera::cuda::tma::Plan plan = choose_plan(m, n, (k + 63) / 64, 132, true);
    BOOST_TEST(plan.tile_n == 224, m << "×" << n << "×" << k);
    sliced += plan.slices > 1;
  }
  BOOST_TEST(sliced == 3);
  for (const auto& [m, n, k, tile_n] : tessera::test::products_in_rounds) {
    const tessera::cuda::tma::Plan plan = choose_plan(m, n, (k + 63) / 64, 132, true);
    BOOST_TEST_CONTEXT(m << "×" << n << "×" << k) {
      BOOST_TEST(plan.tile_n == tile_n);
      BOOST_TEST((plan.sharing == tessera::cuda::tma::Sharing::B && plan.slices == 1));
      BOOST_TEST((m + 255) / 256 * ((n + tile_n - 1) / tile_n) > 132 / 2); // clusters at once
    }
  }
  for (const auto& [m, n, k, parts] : tessera::test::products_in_parts) {
    const tessera::cuda::tma::Plan plan = choose_plan(m, n, (k + 63) / 64, 132, true);
    BOOST_TEST_CONTEXT(m << "×" << n << "×" << k) {
      BOOST_TEST((plan.sharing == tessera::cuda::tma::Sharing::Results && plan.tile_n == 128));
      BOOST_TEST(plan.parts == parts);
    }
  }
  for (const Index n : {2048, 4096, 8192}) BOOST_TEST(choose_plan(n, n, n / 64, 132, true).tile_n == 256);
}

/// With 132 multiprocessors, in f32: measured on an H200.
BOOST_AUTO_TEST_CASE(f32_tiles_of_stream_k) {
  using namespace tessera::cuda::stream_k;
  const TileCost tiles[]{f32_large, f32_medium, f32_small, f32_least};
  const auto check = [&](Index m, Index n, Index k, const TileCost& tile, Index segments, Index blocks) {
    const Choice best = choose(tiles, {.type = tessera::DType::F32, .m = m, .n = n, .k = k}, 132);
    BOOST_TEST_CONTEXT(m << "×" << n << "×" << k) {
      BOOST_TEST(tiles[best.tile].m == tile.m);
      BOOST_TEST(tiles[best.tile].n == tile.n);
      BOOST_TEST(best.segments == segments);
      BOOST_TEST(best.blocks == blocks);
    }
  };
  check(512, 512, 512, f32_least, 1, 2);
  check(300, 1000, 1000, f32_least, 1, 1); // 160 tiles, cut: two of them on one multiprocessor would take longer
  check(768, 768, 768, f32_small, 1, 1);
  check(1024, 1024, 1024, f32_small, 1, 2);
  check(1536, 1536, 1536, f32_medium, 1, 2);
  check(2048, 2048, 2048, f32_large, 1, 1);
  check(8192, 8192, 8192, f32_large, 1, 1);
  check(1024, 1024, 4096, f32_large, 4, 1); // 32 tiles, one of which would take 4096 steps
}

/// The same in f64.
BOOST_AUTO_TEST_CASE(f64_tiles_of_stream_k) {
  using namespace tessera::cuda::stream_k;
  const TileCost tiles[]{f64_large, f64_medium, f64_small, f64_flat, f64_least};
  const auto call = [](Index m, Index n, Index k) {
    return tessera::GemmCall{.type = tessera::DType::F64, .m = m, .n = n, .k = k};
  };
  const auto check = [&](const TileCost& tile, Index m, Index n, Index k) {
    const Choice best = choose(tiles, call(m, n, k), 132);
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
  for (const auto& [m, n, k] : tessera::test::chained_products)
    BOOST_TEST(chain_pays(f64_large, call(m, n, k), choose(tiles, call(m, n, k), 132), 132), m << "×" << n << "×" << k);
  // The first of those that cost the same, and no cuts where k is one segment.
  const Choice least = choose(tiles, call(1, 1, 1), 132);
  BOOST_TEST(tiles[least.tile].m == f64_least.m);
  BOOST_TEST(least.segments == 1);
}

BOOST_AUTO_TEST_CASE(short_tiles_are_not_cut) { BOOST_TEST(!Schedule(300, 1, 3, 3, 264, 4).cuts()); }

BOOST_AUTO_TEST_SUITE_END()
