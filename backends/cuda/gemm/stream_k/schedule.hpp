#pragma once

/// Who computes what in stream_k. Without CUDA, so that a test on the host can look at every block's parts.
///
/// Tiles are numbered segment by segment of k (one segment: k is not cut) and cost as many steps as their segment has.
/// What whole waves of blocks leave over, and one wave more, is shared out evenly by steps: a block gets a run of them
/// that may begin and end within a tile. A tile's sums are chains, so the block that comes to its later steps continues
/// from what the block before it handed on. Blocks begin with the part that they hand on and end with the one that they
/// continue, so that nobody waits where a block's share is longer than a tile, and nobody waits in a circle anywhere.
///
/// Or, where C has few tiles and k many segments, blocks draw whole tiles of one segment, units, in the order of their
/// numbers, and add a tile's segments one behind the other. Whoever waits then waits for lower numbers, which running
/// blocks have drawn: the lowest unit that is not done waits for nobody, however few blocks run.

#include <cuda_runtime_api.h>

#include <algorithm>

#include <tessera/types.hpp>

#include "cuda/gemm/common/divisor.hpp"

namespace tessera::cuda::stream_k {

/// Steps of one tile, for one block.
struct WorkTile {
  Index tile, begin, end;
  bool continues; ///< the sums that the block before handed on
  bool hands_on;  ///< its sums to the next block; else they are the tile's
};

class Schedule {
 public:
  Schedule() = default;
  /// `tiles` for each segment, which all have `steps` but the last one, which has `last_steps`; at most `slots` blocks
  /// run at once. Tiles of fewer than `least` steps are not worth cutting.
  Schedule(Index tiles, Index segments, Index steps, Index last_steps, Index slots, Index least)
      : steps_(steps), last_steps_(last_steps), long_(tiles * (segments - 1)), all_(tiles * segments) {
    const Index blocks = std::min(all_, slots);
    shared_ = all_ % blocks == 0 || std::max(steps, last_steps) < least ? 0 : blocks + all_ % blocks;
    blocks_ = Divisor(blocks);
    share_ = first_step(shared_) / blocks;
    rest_ = first_step(shared_) % blocks;
  }

  Index blocks() const { return blocks_.value(); }
  bool cuts() const { return shared_ > 0; }

  /// A block's part number `index`; false after the last.
  __host__ __device__ bool work_tile(Index block, Index index, WorkTile& work) const {
    const Index from = first_shared(block);
    const Index to = first_shared(block + 1);
    Index count = 0; // of the parts that come from the shared tiles
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

  /// All steps of a tile; false if there is none of that number.
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

  /// Where a block begins with its share of the steps of shared tiles: all·block / blocks, rounded down.
  __host__ __device__ Index first_shared(Index block) const { return share_ * block + blocks_.quotient(rest_ * block); }

  Divisor steps_, last_steps_, blocks_;
  Index long_ = 0; ///< tiles that are not of the last segment
  Index all_ = 0;
  Index shared_ = 0;           ///< tiles that are shared out by steps: the first ones
  Index share_ = 0, rest_ = 0; ///< steps of shared tiles: for each block, and as many more
};

} // namespace tessera::cuda::stream_k
