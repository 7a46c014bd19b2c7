/// Checks on the host how kernels share out work. In a stream_k schedule, blocks compute every step of every tile once
/// and in the order of the tile's chain. Where blocks draw items, all items are done, however few blocks run.

#define BOOST_TEST_MODULE cuda_schedule
#include <deque>
#include <map>
#include <random>
#include <vector>

#include <boost/test/unit_test.hpp>

#include "cuda/gemm/common/raster_order.hpp"
#include "cuda/gemm/stream_k/schedule.hpp"

namespace {

using tessera::Index;
using tessera::cuda::Divisor;
using tessera::cuda::RasterOrder;
using tessera::cuda::stream_k::Schedule;
using tessera::cuda::stream_k::WorkTile;

struct Sizes {
  Index tiles, segments, steps, last_steps, slots;
};

/// Checks what all blocks do, and that a block that continues a tile continues the tile of the block before it.
void check(const Sizes& x) {
  BOOST_TEST_CONTEXT(x.tiles << " tiles, " << x.segments << " segments, " << x.steps << " and " << x.last_steps
                             << " steps, " << x.slots << " slots") {
    const Schedule schedule(x.tiles, x.segments, x.steps, x.last_steps, x.slots, 2);
    BOOST_TEST(schedule.blocks() <= x.slots);
    std::map<Index, std::map<Index, Index>> done; // tile → begin → end
    Index handed_on = -1;                         // tile that the block before hands on
    Index most = 0;
    for (Index block = 0; block < schedule.blocks(); ++block) {
      WorkTile work{};
      Index hands_on = -1;
      Index steps = 0;
      for (Index index = 0; schedule.work_tile(block, index, work); ++index) {
        BOOST_TEST_REQUIRE(work.begin < work.end);
        BOOST_TEST(done[work.tile].emplace(work.begin, work.end).second);
        BOOST_TEST(work.continues == (work.begin > 0));
        if (work.continues) {
          BOOST_TEST(work.tile == handed_on);
          handed_on = -1;
        }
        if (work.hands_on) {
          BOOST_TEST(index == 0); // the block hands it on before it could wait, unless this is its only work tile
          hands_on = work.tile;
          BOOST_TEST(schedule.cuts());
        }
        steps += work.end - work.begin;
      }
      BOOST_TEST(handed_on == -1); // no sums are left over
      handed_on = hands_on;
      most = std::max(most, steps);
    }
    BOOST_TEST(handed_on == -1);
    BOOST_TEST(done.size() == static_cast<std::size_t>(x.tiles * x.segments));
    Index all = 0;
    for (const auto& [tile, ranges] : done) {
      const Index length = tile / x.tiles + 1 == x.segments ? x.last_steps : x.steps;
      Index at = 0;
      for (const auto& [begin, end] : ranges) {
        BOOST_TEST(begin == at);
        at = end;
      }
      BOOST_TEST(at == length);
      all += length;
    }
    if (x.steps == x.last_steps && x.tiles * x.segments >= x.slots) BOOST_TEST(most <= all / x.slots + 1);
  }
}

/// A simulation of blocks that draw items and add a tile's segments one after the other, as chain.cuh does. A block's
/// producer warps draw at most `ahead` items more than its consumer warps have added, because that is what the stages
/// hold.
class Drawing {
 public:
  Drawing(const Sizes& x, std::size_t ahead)
      : x_(x), ahead_(ahead), schedule_(x.tiles, x.segments, x.steps, x.last_steps, x.slots, 1 << 30) {
    BOOST_TEST(!schedule_.cuts());
    added_.resize(static_cast<std::size_t>(x.tiles));
  }

  /// Runs `running` blocks, of which one at a time goes on: it draws an item, or it adds one. The other blocks never
  /// start.
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
        BOOST_TEST_REQUIRE(!able.empty(), "all blocks wait");
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
    std::deque<WorkTile> items; ///< drawn, not yet added
    bool last = false;          ///< there was no item left to draw
  };

  Index segment(const WorkTile& item) const { return item.tile / x_.tiles; }
  Index& added(const WorkTile& item) { return added_[static_cast<std::size_t>(item.tile % x_.tiles)]; }

  static bool ended(const Block& block) { return block.last && block.items.empty(); }
  bool can_draw(const Block& block) const { return !block.last && block.items.size() <= ahead_; }
  bool can_add(const Block& block) {
    return !block.items.empty() && added(block.items.front()) >= segment(block.items.front());
  }
  void draw(Block& block) {
    WorkTile item{};
    block.last = !schedule_.whole_tile(drawn_++, item);
    if (block.last) return;
    BOOST_TEST((item.begin == 0 && !item.continues && !item.hands_on));
    steps_ += item.end;
    block.items.push_back(item);
  }
  void add(Block& block) {
    BOOST_TEST(added(block.items.front()) == segment(block.items.front())); // once, and in order
    ++added(block.items.front());
    block.items.pop_front();
  }

  Sizes x_;
  const std::size_t ahead_;
  Schedule schedule_;
  Index drawn_ = 0, steps_ = 0;
  std::vector<Index> added_; ///< segments that are added, for each tile
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

/// Tries several numbers of running blocks, and several orders in which they go on.
BOOST_AUTO_TEST_CASE(drawn_items_are_added_in_order_however_few_blocks_run) {
  for (const Index tiles : {1, 3, 16, 23})
    for (const Index segments : {2, 5, 64})
      for (const Index last : {1, 8})
        for (const Index slots : {1, 8, 132})
          for (const Index running : {Index{1}, Index{2}, slots / 2, slots})
            for (const std::size_t ahead : {1, 6})
              for (unsigned seed = 0; seed < 2; ++seed)
                if (running > 0) Drawing({tiles, segments, 8, last, slots}, ahead).run(running, seed);
}

BOOST_AUTO_TEST_CASE(divisors_divide) {
  const Index limit = Index{1} << 31;
  const Index values[]{1,     2,          3,         7,         128,   1000,      1023,          65537,
                       98765, limit - 65, limit - 2, limit - 1, limit, limit + 1, 5 * limit + 3, limit * limit};
  std::mt19937_64 random(1);
  const auto check = [](const Divisor& divisor, Index x) {
    if (divisor.quotient(x) != x / divisor.value()) BOOST_TEST(false, x << " / " << divisor.value());
  };
  for (const Index value : values) {
    const Divisor divisor(value);
    BOOST_TEST(divisor.value() == value);
    for (const Index x : values)
      for (const Index around : {-1, 0, 1}) check(divisor, x + around);
    for (Index times = 1; times < limit / value; times += 1 + times / 3)
      for (const Index around : {-1, 0, 1}) check(divisor, times * value + around);
    for (int i = 0; i < 10'000; ++i) check(divisor, static_cast<Index>(random() >> (1 + i % 63)));
  }
  BOOST_TEST(Divisor().quotient(5) == 5);
}

/// In each layer every tile has one place, and the tiles of a group of rows follow one another.
BOOST_AUTO_TEST_CASE(raster_order_has_every_tile_once) {
  for (const Index tiles_m : {1, 15, 16, 17, 33, 64})
    for (const Index tiles_n : {1, 3, 40}) {
      const RasterOrder raster(tiles_m, tiles_n, 16);
      BOOST_TEST(raster.tiles() == tiles_m * tiles_n);
      std::map<std::pair<Index, Index>, int> seen;
      for (Index tile = 0; tile < raster.tiles(); ++tile) {
        const tessera::cuda::TilePlace place = raster.place(tile);
        BOOST_TEST((place.row >= 0 && place.row < tiles_m && place.col >= 0 && place.col < tiles_n));
        BOOST_TEST(place.row / 16 == tile / (16 * tiles_n));
        BOOST_TEST((++seen[{place.row, place.col}] == 1));
        const auto divided = tessera::cuda::raster_place(tile, tiles_m, tiles_n, 16);
        BOOST_TEST((divided.row == place.row && divided.col == place.col));
        BOOST_TEST(raster.layer(tile) == 0);
        BOOST_TEST(raster.layer(tile + 3 * raster.tiles()) == 3);
      }
    }
}

BOOST_AUTO_TEST_CASE(short_tiles_are_not_cut) { BOOST_TEST(!Schedule(300, 1, 3, 3, 264, 4).cuts()); }

BOOST_AUTO_TEST_SUITE_END()
