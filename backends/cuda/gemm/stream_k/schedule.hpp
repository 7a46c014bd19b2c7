#pragma once

/// The schedule of a stream-k product: which block computes which work tiles. This header holds no device code, so that
/// a test on the host can look at every block's work tiles.
///
/// Tiles are numbered segment by segment of k (there is one segment if k is not cut at the segments), and a tile costs
/// as many steps as its segment has. The tiles that whole waves of blocks leave over, and the tiles of one more wave,
/// are shared out evenly by steps: a block gets a run of steps that may begin and end within a tile. The sums of a tile
/// are chains, so the block that has the tile's later steps continues from the sums that the block before it handed on.
/// A block begins with the work tile that it hands on and ends with the work tile that it continues. So no block waits
/// where a block's run is longer than a tile, and blocks never wait for one another in a circle.
///
/// Where C has few tiles and k has many segments, there is another way: blocks draw work items in the order of their
/// numbers, where an item is one tile of one segment, and the segments of a tile are added one after the other. A block
/// then waits only for lower numbers, which running blocks have drawn: the lowest item that is not done waits for no
/// block, so the product ends however few blocks run.

#include <cuda_runtime_api.h>

#include <algorithm>

#include <tessera/types.hpp>

#include "cuda/gemm/common/divisor.hpp"

namespace tessera::cuda::stream_k {

/// A range of steps of one tile, for one block.
struct WorkTile {
  Index tile, begin, end;
  bool continues; ///< starts from the sums that the block before handed on
  bool hands_on;  ///< hands its sums on to the next block; otherwise the sums are the tile's
};

class Schedule {
 public:
  Schedule() = default;
  /// Each segment has `tiles` tiles of `steps` steps, but the tiles of the last segment have `last_steps`. At most
  /// `slots` blocks run at once. Tiles of fewer than `least` steps are never cut.
  Schedule(Index tiles, Index segments, Index steps, Index last_steps, Index slots, Index least)
      : steps_(steps), last_steps_(last_steps), long_(tiles * (segments - 1)), all_(tiles * segments) {
    const Index blocks = std::min(all_, slots);
    shared_ = all_ % blocks == 0 || std::max(steps, last_steps) < least ? 0 : blocks + all_ % blocks;
    blocks_ = Divisor(blocks);
    share_ = first_step(shared_) / blocks;
    rest_ = first_step(shared_) % blocks;
  }

  Index blocks() const { return blocks_.value(); }
  /// Returns the number of tiles of all segments.
  __host__ __device__ Index all() const { return all_; }
  bool cuts() const { return shared_ > 0; }

  /// Sets `work` to the block's work tile number `index`. Returns false after the last one.
  __host__ __device__ bool work_tile(Index block, Index index, WorkTile& work) const {
    const Index from = first_shared(block);
    const Index to = first_shared(block + 1);
    Index count = 0; // work tiles that come from the shared tiles
    if (to > from) {
      const Index first = tile_of(from);
      const Index last = tile_of(to - 1);
      count = last - first + 1;
      if (index < count) {
        work.tile = index == 0 ? last : index + 1 == count ? first : first + index;
        const Index begin = first_step(work.tile);
        const Index end = first_step(work.tile + 1);
        work.continues = from > begin;
        work.hands_on = to < end;
        work.begin = work.continues ? from - begin : 0;
        work.end = (work.hands_on ? to : end) - begin;
        return true;
      }
    }
    return whole_tile(shared_ + (index - count) * blocks_.value() + block, work);
  }

  /// Sets `work` to all steps of a tile. Returns false if no tile has this number.
  __host__ __device__ bool whole_tile(Index tile, WorkTile& work) const {
    work.tile = tile;
    if (work.tile >= all_) return false;
    work.begin = 0;
    work.end = first_step(work.tile + 1) - first_step(work.tile);
    work.continues = work.hands_on = false;
    return true;
  }

 private:
  __host__ __device__ Index first_step(Index tile) const {
    return tile <= long_ ? tile * steps_.value() : long_ * steps_.value() + (tile - long_) * last_steps_.value();
  }
  __host__ __device__ Index tile_of(Index step) const {
    const Index of_last = step - long_ * steps_.value();
    return of_last < 0 ? steps_.quotient(step) : long_ + last_steps_.quotient(of_last);
  }

  /// The first step of a block's run of the shared tiles' steps: all·block / blocks, rounded down.
  __host__ __device__ Index first_shared(Index block) const { return share_ * block + blocks_.quotient(rest_ * block); }

  Divisor steps_, last_steps_, blocks_;
  Index long_ = 0; ///< tiles of all segments but the last one
  Index all_ = 0;
  Index shared_ = 0; ///< tiles that are shared out by steps; they are the first ones
  /// all steps of the shared tiles, divided by the number of blocks: quotient and remainder
  Index share_ = 0, rest_ = 0;
};

} // namespace tessera::cuda::stream_k
