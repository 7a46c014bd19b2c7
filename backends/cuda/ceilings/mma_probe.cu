/// Keeps the matrix units busy through mma.sync: each warp has eight independent products under way.
///
/// This reaches the full rate on Ampere and Ada, but not on Hopper (wgmma_probe.cu). Fragment layouts do not matter
/// here, because all elements of a factor are equal.

#include "ceilings.hpp"
#include "cuda/device/status.hpp"

namespace tessera::cuda {
namespace {

constexpr int threads = 256;
constexpr int warps = threads / 32;
constexpr int blocks_per_multiprocessor = 2;
constexpr int products = 8; // Independent products of a warp.
constexpr int steps = 16;   // Steps of each product in a round.

/// Computes d := a·b + d with 16×8×k tiles. Each lane has four words of a and two of b, whatever the type.
template <Math math>
struct Tile {
  using Element = float;
  static constexpr int accumulators = 4;
  static constexpr double flops = 2.0 * 16 * 8 * (math == Math::Tf32 ? 8 : 16);
  static __device__ void multiply([[maybe_unused]] float (&d)[accumulators]) {
#if __CUDA_ARCH__ >= 800
    // The bits of 0.5 in the input type, twice if two elements fit into a word.
    constexpr unsigned half = math == Math::Tf32 ? 0x3F000000u : math == Math::Bf16 ? 0x3F003F00u : 0x38003800u;
    if constexpr (math == Math::Tf32)
      asm volatile(
          "mma.sync.aligned.m16n8k8.row.col.f32.tf32.tf32.f32 {%0,%1,%2,%3}, {%4,%4,%4,%4}, {%4,%4}, {%0,%1,%2,%3};"
          : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3])
          : "r"(half));
    else if constexpr (math == Math::Bf16)
      asm volatile(
          "mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32 {%0,%1,%2,%3}, {%4,%4,%4,%4}, {%4,%4}, {%0,%1,%2,%3};"
          : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3])
          : "r"(half));
    else
      asm volatile(
          "mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%0,%1,%2,%3}, {%4,%4,%4,%4}, {%4,%4}, {%0,%1,%2,%3};"
          : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3])
          : "r"(half));
#endif
  }
};

/// The f64 tile. Strict names it, because the matrix units round each step as an FMA does. Hopper reaches its full rate
/// only with the larger tile that it has.
template <>
struct Tile<Math::Strict> {
  using Element = double;
  static constexpr int accumulators = 4;
  static constexpr double flops = 2.0 * 16 * 8 * 4;

  static __device__ void multiply([[maybe_unused]] double (&d)[accumulators]) {
#if __CUDA_ARCH__ >= 900
    asm volatile("mma.sync.aligned.m16n8k4.row.col.f64.f64.f64.f64 {%0,%1,%2,%3}, {%4,%4}, {%4}, {%0,%1,%2,%3};"
                 : "+d"(d[0]), "+d"(d[1]), "+d"(d[2]), "+d"(d[3])
                 : "d"(0.5));
#elif __CUDA_ARCH__ >= 800
    for (int upper = 0; upper < 4; upper += 2)
      asm volatile("mma.sync.aligned.m8n8k4.row.col.f64.f64.f64.f64 {%0,%1}, {%2}, {%2}, {%0,%1};"
                   : "+d"(d[upper]), "+d"(d[upper + 1])
                   : "d"(0.5));
#endif
  }
};

template <Math math>
__global__ void __launch_bounds__(threads) mma_chains([[maybe_unused]] int rounds, [[maybe_unused]] int* ran) {
#if __CUDA_ARCH__ >= 800
  typename Tile<math>::Element d[products][Tile<math>::accumulators] = {};
  for (int round = 0; round < rounds; ++round) {
#pragma unroll
    for (int step = 0; step < steps; ++step) {
#pragma unroll
      for (int p = 0; p < products; ++p) Tile<math>::multiply(d[p]);
    }
  }
  typename Tile<math>::Element sum{0};
#pragma unroll
  for (int p = 0; p < products; ++p) sum += d[p][0] + d[p][1] + d[p][2] + d[p][3];
  if (sum >= 0) *ran = 1;
#endif
}

template <Math math>
Status launch(int blocks, int rounds, int* ran, cudaStream_t stream) noexcept {
  mma_chains<math><<<static_cast<unsigned>(blocks), threads, 0, stream>>>(rounds, ran);
  return launched("matrix unit probe");
}

template <Math math>
constexpr Probe probe{launch<math>, Tile<math>::flops* warps* products* steps, blocks_per_multiprocessor};

} // namespace

const Probe mma_tf32_probe = probe<Math::Tf32>;
const Probe mma_bf16_probe = probe<Math::Bf16>;
const Probe mma_fp16_probe = probe<Math::Fp16>;
const Probe mma_f64_probe = probe<Math::Strict>;

} // namespace tessera::cuda
