#pragma once

/// Which elements of a tile are certain, by sums of sizes: of some k, which may show that all are, or of all k.

#include <climits>

#include "plane_work.cuh"

namespace tessera::cuda::int8_units {

/// The certificate of sums of some sizes: an element is certain if its sum is at least the sum of both lines' needs. It
/// asks for a bit more than int8::is_certain does. Sums are below `capped`.
constexpr int capped = (1 << 28) + 1;
__device__ inline int need_of(const Facts& facts, int bits, bool of_row) {
  if (!facts.fits()) return 1 << 29; // more than any sum, beside a line of zeros too
  if (facts.largest == 0) return -capped;
  const unsigned long long total = (facts.size_sum + facts.nonzeros + of_row) << (59 - bits);
  return static_cast<int>(min((total + 1021) / 1022, static_cast<unsigned long long>(capped)));
}
constexpr Index first_sizes_most = 16384; ///< steps of k: 127² of each stay below 2²⁸

#if defined(__CUDA_ARCH_FEAT_SM90_ALL)

__device__ inline void meet_consumers() { asm volatile("bar.sync 1, %0;" ::"n"(consumer_threads) : "memory"); }

/// The needs of a tile's lines, in shared memory.
struct Needs {
  int row[tile_m], column[tile_n];

  __device__ void fill(const PlaneProduct& x, const WorkTile& work, unsigned rank) {
    meet_consumers(); // all of them have read the needs of the tile before
    const int thread = static_cast<int>(threadIdx.x) - 128;
    static_assert(consumer_threads == tile_n);
    column[thread] = need_of(x.b_facts[Index{work.col} * tile_n + thread], x.bits, false);
    if (thread < tile_m)
      row[thread] = need_of(x.a_facts[(Index{work.row} * cluster + rank) * tile_m + thread], x.bits, true);
    meet_consumers();
  }
};

/// Marks the tile where sums of some sizes do not show that all elements are certain.
__device__ inline void decide_early(const PlaneProduct& x, const Place& place, const Needs& needs,
                                    const int (&sum)[128]) {
  int least[2] = {INT_MAX, INT_MAX};
#pragma unroll
  for (int e = 0; e < 128; e += 4) {
    const int2 need = *reinterpret_cast<const int2*>(&needs.column[e / 4 * 8 + place.lane % 4 * 2]);
#pragma unroll
    for (int i = 0; i < 4; ++i) least[i / 2] = min(least[i / 2], sum[e + i] - (i % 2 == 0 ? need.x : need.y));
  }
  const int row = place.piece * piece_rows + place.lane / 4;
  const bool shown = least[0] >= needs.row[row] && least[1] >= needs.row[row + 8];
  if (!__all_sync(~0U, shown) && place.lane == 0) atomicOr(&x.results.states[place.tile].bits, TileState::undecided);
}

/// Flags elements that are not certain, and says in the tile's state whether there are any.
__device__ inline void decide(const PlaneProduct& x, const Place& place, const int (&sum)[128], bool is_first,
                              bool is_last) {
  int held[128]; // in local memory, because the loops are not unrolled
#pragma unroll
  for (int e = 0; e < 128; ++e) held[e] = sum[e];
  long long* const totals = x.results.size_sums;
  const Index thread = place.tile * tile_bytes + place.piece * piece_bytes + place.lane;
  unsigned found = 0;
#pragma unroll 1
  for (int vector = 0; vector < 8; ++vector) {
    const int half = vector / 4, quarter = vector % 4;
    const Index row = place.row + 8 * half;
    const int8::Line of_row = x.a_facts[row].line();
    unsigned word[4] = {};
#pragma unroll 1
    for (int i = 0; i < 16; ++i) {
      const int e = (quarter * 8 + i / 2) * 4 + half * 2 + i % 2;
      const Index col = place.col + quarter * quarter_n + i / 2 * 8 + i % 2;
      long long sizes = held[e];
      if (!is_first) sizes += totals[thread + 32 * e];
      if (!is_last) {
        totals[thread + 32 * e] = sizes;
        continue;
      }
      if (row >= x.results.m || col >= x.results.n) continue;
      if (int8::is_certain(of_row, x.b_facts[col].line(), sizes, x.bits)) {
        found |= TileState::has_certain(quarter);
      } else {
        found |= TileState::has_uncertain(quarter);
        word[i / 4] |= 1u << i % 4 * 8;
      }
    }
    if (is_last)
      *reinterpret_cast<uint4*>(x.results.data + sizes_plane * tile_bytes +
                                Results::offset_of(place.tile, place.piece, vector, place.lane)) =
          make_uint4(word[0], word[1], word[2], word[3]);
  }
  found = __reduce_or_sync(~0U, found);
  if (place.lane == 0 && found != 0) atomicOr(&x.results.states[place.tile].bits, found);
}

#endif

} // namespace tessera::cuda::int8_units
