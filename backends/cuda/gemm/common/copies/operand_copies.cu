#include "operand_copies.cuh"

#include "cuda/device/status.hpp"
#include "cuda/gemm/common/ceil_div.hpp"
#include "cuda/gemm/common/divisor.hpp"
#include "cuda/gemm/common/programmatic_launch.cuh"
#include "repack_tile.cuh"

namespace tessera::cuda {
namespace {

constexpr int threads = repack_threads;
constexpr int width = 8; ///< elements that a thread copies

/// A copy as its blocks see it.
struct Share {
  OperandCopy copy;
  Divisor across; ///< vectors of a line or, of a transposed copy, tiles
  Index blocks = 0;

  explicit Share(const OperandCopy& x) : copy(x) {
    if (!x.wanted()) return;
    across = Divisor(ceil_div<Index>(x.transposed ? x.lines : x.length, x.transposed ? repack_side : width));
    blocks = x.transposed ? across.value() * ceil_div<Index>(x.length, repack_side)
                          : ceil_div<Index>(x.lines * across.value(), threads);
  }
};

/// Returns the 16 bytes from `from` on, which is an even address, out of the two aligned 16-byte words around them.
__device__ uint4 shifted(const std::uint16_t* from) {
  const auto address = reinterpret_cast<std::uintptr_t>(from);
  const auto* const whole = reinterpret_cast<const uint4*>(address & ~std::uintptr_t{15});
  const uint4 low = whole[0], high = whole[1];
  unsigned w[8]{low.x, low.y, low.z, low.w, high.x, high.y, high.z, high.w};
#pragma unroll
  for (int i = 0; i < 6; ++i) w[i] = address & 8 ? w[i + 2] : w[i];
#pragma unroll
  for (int i = 0; i < 5; ++i) w[i] = address & 4 ? w[i + 1] : w[i];
#pragma unroll
  for (int i = 0; i < 4; ++i) w[i] = address & 2 ? __funnelshift_r(w[i], w[i + 1], 16) : w[i];
  return {w[0], w[1], w[2], w[3]};
}

/// Copies eight elements, vector `index` of the copy.
__device__ void copy_vector(const Share& share, Index index) {
  const OperandCopy& x = share.copy;
  const Index row = share.across.quotient(index), col = (index - row * share.across.value()) * width;
  if (row >= x.lines) return;
  const auto* const data = static_cast<const std::uint16_t*>(x.data);
  const std::uint16_t* const from = data + row * x.ld + col;
  uint4* const to = reinterpret_cast<uint4*>(static_cast<std::uint16_t*>(x.to) + row * x.pitch + col);
  // An aligned 16-byte word may be read if all of it belongs to the operand.
  const auto first = reinterpret_cast<std::uintptr_t>(data);
  const auto last = reinterpret_cast<std::uintptr_t>(data + (x.lines - 1) * x.ld + x.length);
  const auto low = reinterpret_cast<std::uintptr_t>(from) & ~std::uintptr_t{15};
  if (low >= first && low + 32 <= last) {
    *to = shifted(from);
    return;
  }
  unsigned w[width / 2]{};
#pragma unroll
  for (int e = 0; e < width; ++e)
    if (col + e < x.length) w[e / 2] |= static_cast<unsigned>(from[e]) << e % 2 * 16;
  *to = {w[0], w[1], w[2], w[3]};
}

/// Copies a tile of a transposed copy.
__device__ void copy_tile(const Share& share, Index tile, RepackTile<float>& shared) {
  const OperandCopy& x = share.copy;
  const Index tile_row = share.across.quotient(tile);
  repack_tile<float>({static_cast<const float*>(x.data), 1, x.ld, x.length, x.lines}, static_cast<float*>(x.to),
                     x.pitch, x.length, x.lines, 0.0f, tile_row, tile - tile_row * share.across.value(),
                     threadIdx.x % repack_side, threadIdx.x / repack_side, shared);
}

/// The first blocks make the first copy, and the others the second one.
__global__ void __launch_bounds__(threads)
    copy(const __grid_constant__ Share first, const __grid_constant__ Share second) {
  __shared__ RepackTile<float> shared;
  launch_dependents();
  wait_for_kernel_before(); // which may still read what this kernel overwrites
  const bool is_first = blockIdx.x < first.blocks;
  const Share& share = is_first ? first : second;
  const Index block = is_first ? blockIdx.x : blockIdx.x - first.blocks;
  if (share.copy.transposed)
    copy_tile(share, block, shared);
  else
    copy_vector(share, block * threads + static_cast<Index>(threadIdx.x));
}

} // namespace

Status copy_operands(cudaStream_t stream, const std::array<OperandCopy, 2>& copies, const char* name,
                     bool programmatic) noexcept {
  const Share first(copies[0]), second(copies[1]);
  const Index blocks = first.blocks + second.blocks;
  if (blocks == 0) return {};
  const Launch how{.blocks = blocks, .threads = threads, .programmatic = programmatic};
  return launch_kernel(stream, how, name, copy, first, second);
}

} // namespace tessera::cuda
