/// The strict product of elements that are not certain, by the tiles of the kernel dmma: a block with a quarter of a
/// product's tile ends at once where all elements are certain, and stores only elements that are not.

#include "cuda/device/shared_memory.hpp"
#include "cuda/gemm/common/dmma.cuh"
#include "cuda/gemm/common/grid.cuh"
#include "cuda/gemm/common/programmatic_launch.cuh"
#include "finish.cuh"

namespace tessera::cuda::int8_units {
namespace {

using Tile = dmma_tiling::Shape<4, 4, 2, 2, 16>;
constexpr int uncertain_stages = 3;
static_assert(Tile::block_m == tile_m && Tile::block_n == quarter_n);

struct UncertainOperands : VectorOperands<double> {
  Results results;

  UncertainOperands(const GemmCall& call, const Results& flags) : VectorOperands<double>(call), results(flags) {}
};

/// dmma's tile, whose store looks at the flags.
struct UncertainTile : Tile {
  template <bool>
  __device__ static void store(const VectorOperands<double>& operands, Index row, Index col, const Place& place,
                               const Sums& sums, Sums::Totals& totals) {
    const auto& x = static_cast<const UncertainOperands&>(operands);
    const double* const held = held_in(totals, sums);
    const Index i = row + place.row, j = col + place.col / warp_n * warp_n + place.t * 2;
#pragma unroll 1
    for (int e = 0; e < Sums::count; ++e) {
      const ResultPlace at = place_of(e / 2);
      const Index r = i + at.row, c = j + at.col + e % 2;
      if (r >= x.m || c >= x.n) continue;
      if (x.results.data[sizes_plane * x.results.plane_bytes() + x.results.offset_of(r, c)] == 0) continue;
      const double one[1][1]{{held[e]}};
      x.epilogue.store([&](int) -> ResultPlace { return {r, c}; }, one);
    }
  }
};

template <Along a_along, Along b_along>
__global__ void __launch_bounds__(Tile::threads, 2) dmma_of_uncertain(const __grid_constant__ UncertainOperands x) {
  extern __shared__ float4 shared[];
  launch_dependents();
  wait_for_kernel_before();
  const TileOrigin origin = tile_origin(x, Tile::block_m, Tile::block_n);
  const TileState state = x.results.states[x.results.tile_of(origin.row / tile_m, origin.col / tile_n)];
  if (!state.is_mixed(static_cast<int>(origin.col % tile_n) / quarter_n)) return;
  auto* const stage = reinterpret_cast<Tile::Stage<a_along, b_along>*>(shared);
  dmma_tiling::multiply_tile<UncertainTile, uncertain_stages, true, a_along, b_along>(x, origin, stage);
}

} // namespace

Status multiply_uncertain(cudaStream_t stream, const GemmCall& call, const Results& results) {
  return with_layouts(call, [&](auto a, auto b) -> Status {
    constexpr const char* name = "int8_units, strict elements";
    const auto kernel = dmma_of_uncertain<a.value, b.value>;
    if (Status status = allow_most_shared(kernel, name); !status.ok()) return status;
    const Launch how{.blocks = tile_count(call, Tile::block_m, Tile::block_n),
                     .threads = Tile::threads,
                     .shared = uncertain_stages * sizeof(Tile::Stage<a.value, b.value>),
                     .programmatic = true};
    return launch_kernel(stream, how, name, kernel, UncertainOperands(call, results));
  });
}

} // namespace tessera::cuda::int8_units
