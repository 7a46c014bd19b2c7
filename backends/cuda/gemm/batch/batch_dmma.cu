/// Batches of f64 products on Hopper's matrix units: the grid covers the tiles of all products, and each block computes
/// a tile as in dmma.
///
/// Tiles are 32×32 for two warps, or 64×64 for four. Operands of such products are read once or twice, so that memory
/// decides the time; the matrix units save what DFMA would take beyond that. The bits are the contract's. One result
/// costs 2·k operations and reads 2·k/32 or 2·k/64 elements of 8 bytes. Source: PTX ISA, "mma.m16n8k16 with .f64".

#include <algorithm>

#include "batch_operands.cuh"
#include "cuda/device/shared_memory.hpp"
#include "cuda/device/status.hpp"
#include "cuda/gemm/common/dmma.cuh"

namespace tessera::cuda {
namespace {

using Quarter = dmma_tiling::Shape<2, 2, 1, 2, 16>;
using Middle = dmma_tiling::Shape<2, 4, 2, 2, 16>;
constexpr int stages = 3;

template <class S, Along a_along, Along b_along>
using Stage = typename S::template Stage<a_along, b_along>;
template <class S>
constexpr std::size_t shared_bytes = stages* std::max({sizeof(Stage<S, Along::K, Along::K>),
                                                       sizeof(Stage<S, Along::K, Along::Outer>),
                                                       sizeof(Stage<S, Along::Outer, Along::K>),
                                                       sizeof(Stage<S, Along::Outer, Along::Outer>)});

template <class S, int blocks, bool with_epilogue>
__global__ void __launch_bounds__(S::threads, blocks) batch_dmma(const __grid_constant__ BatchGroups<double> groups) {
  extern __shared__ float4 shared[];
  const BatchGroup<double>& x = groups.group_of(blockIdx.x);
  const unsigned in_group = blockIdx.x - x.first, tile = in_group % x.tiles;
  const VectorOperands<double> y = operands_of(x, in_group / x.tiles);
  const TileOrigin origin{static_cast<Index>(tile / x.across) * S::block_m,
                          static_cast<Index>(tile % x.across) * S::block_n};
  const auto multiply = [&]<Along a, Along b>() {
    dmma_tiling::multiply_tile<S, stages, with_epilogue, a, b>(y, origin, reinterpret_cast<Stage<S, a, b>*>(shared));
  };
  if (x.transpose_a)
    x.transpose_b ? multiply.template operator()<Along::Outer, Along::K>()
                  : multiply.template operator()<Along::Outer, Along::Outer>();
  else
    x.transpose_b ? multiply.template operator()<Along::K, Along::K>()
                  : multiply.template operator()<Along::K, Along::Outer>();
}

template <class S, int blocks>
Status launch(cudaStream_t stream, const BatchGroups<double>& groups) noexcept {
  const auto kernel = groups.any_epilogue ? batch_dmma<S, blocks, true> : batch_dmma<S, blocks, false>;
  if (Status status = allow_most_shared(kernel, "batch_dmma"); !status.ok()) return status;
  kernel<<<groups.tiles, S::threads, shared_bytes<S>, stream>>>(groups);
  return launched("batch_dmma");
}

} // namespace

Status launch_quarter_batch_dmma(cudaStream_t stream, const BatchGroups<double>& groups) noexcept {
  static_assert(quarter_tile<double>.m == Quarter::block_m && quarter_tile<double>.n == Quarter::block_n);
  return launch<Quarter, 7>(stream, groups);
}

Status launch_middle_batch_dmma(cudaStream_t stream, const BatchGroups<double>& groups) noexcept {
  static_assert(middle_tile<double>.m == Middle::block_m && middle_tile<double>.n == Middle::block_n);
  return launch<Middle, 3>(stream, groups);
}

} // namespace tessera::cuda
