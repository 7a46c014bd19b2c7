#pragma once

/// Rows of a panel of QR on their way to shared memory.

#include "reflection_shared.cuh"

namespace tessera::cuda {

inline constexpr int tile_warps = 6; ///< that fetch together

/// The rows of one of these warps, a lane a column: V up to the group, and the columns after it. Loads are one tile
/// ahead of what is written to shared memory.
template <class T, class Shared>
class TileRows {
 public:
  /// `of_group` is the lane's column, counted from the group's first one, of which there are `here`. Others are read
  /// from `from` on, `count` rows of them.
  __device__ TileRows(Shared& shared, int warp, int of_group, int here, const T* from, Index ld, int count)
      : shared_(shared),
        warp_(warp),
        of_group_(of_group),
        is_in_group_(of_group >= 0 && of_group < here),
        from_(from),
        ld_(ld),
        count_(count) {}
  __device__ void read(int tile) {
#pragma unroll
    for (int u = 0; u < each; ++u)
      if (const int row = row_of(tile, u); row < count_)
        ahead_[u] = is_in_group_ ? shared_.v[of_group_][row] : from_[row * ld_];
  }
  /// Writes the tile that was read last.
  __device__ void write(int tile) const {
#pragma unroll
    for (int u = 0; u < each; ++u)
      if (const int row = row_of(tile, u); row < count_)
        shared_.tile[tile % 2][row % height][threadIdx.x % 32] = ahead_[u];
  }

 private:
  static constexpr int height = Shared::tile_rows, each = (height + tile_warps - 1) / tile_warps;

  /// Returns `count_` where the warp has no such row of the tile.
  __device__ int row_of(int tile, int u) const {
    const int row = u * tile_warps + warp_;
    return row < height ? tile * height + row : count_;
  }

  Shared& shared_;
  int warp_, of_group_;
  bool is_in_group_;
  const T* from_;
  Index ld_;
  int count_;
  T ahead_[each];
};

} // namespace tessera::cuda
