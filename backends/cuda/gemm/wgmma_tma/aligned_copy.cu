#include "aligned_copy.cuh"

#include "cuda/device/status.hpp"
#include "cuda/gemm/common/grid.cuh"

namespace tessera::cuda {
namespace {

constexpr int threads = 256;

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

/// Copies eight elements a thread.
__global__ void __launch_bounds__(threads)
    copy(const std::uint16_t* data, Index rows, Index cols, Index ld, uint4* out, Index pitch) {
  const Index chunk = static_cast<Index>(blockIdx.x) * threads + threadIdx.x;
  const Index across = (cols + 7) / 8;
  if (chunk >= rows * across) return;
  const Index col = chunk % across * 8;
  const Index row = chunk / across;
  const std::uint16_t* from = data + row * ld + col;
  uint4* const to = out + row * (pitch / 8) + col / 8;
  // An aligned 16-byte word may be read if all of it belongs to the operand.
  const auto first = reinterpret_cast<std::uintptr_t>(data);
  const auto last = reinterpret_cast<std::uintptr_t>(data + (rows - 1) * ld + cols);
  const auto low = reinterpret_cast<std::uintptr_t>(from) & ~std::uintptr_t{15};
  if (low >= first && low + 32 <= last) {
    *to = shifted(from);
    return;
  }
  unsigned w[4]{};
#pragma unroll
  for (int e = 0; e < 8; ++e)
    if (col + e < cols) w[e / 2] |= static_cast<unsigned>(from[e]) << e % 2 * 16;
  *to = {w[0], w[1], w[2], w[3]};
}

} // namespace

Status copy_aligned(cudaStream_t stream, const void* data, Index rows, Index cols, Index ld, void* out, Index pitch,
                    const char* name) noexcept {
  const Index blocks = ceil_div<Index>(rows * ((cols + 7) / 8), threads);
  copy<<<static_cast<unsigned>(blocks), threads, 0, stream>>>(static_cast<const std::uint16_t*>(data), rows, cols, ld,
                                                              static_cast<uint4*>(out), pitch);
  return launched(name);
}

} // namespace tessera::cuda
