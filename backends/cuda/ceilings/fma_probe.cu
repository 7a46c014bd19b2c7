/// Keeps the FMA units busy with chains of fused multiply-adds in registers. Each thread computes eight independent
/// chains, and there are enough threads to fill the device.

#include "ceilings.hpp"
#include "cuda/device/status.hpp"
#include "cuda/gemm/common/operands.cuh"

namespace tessera::cuda {
namespace {

constexpr int threads = 256;
constexpr int blocks_per_multiprocessor = 8;
constexpr int chains = 8;
constexpr int steps = 64; // Steps of each chain in a round.

/// x := a·x + b converges to b / (1 − a) = 1 for every start, so that all values stay ordinary numbers.
template <class T>
__global__ void __launch_bounds__(threads) fma_chains(T a, T b, int rounds, int* ran) {
  T x[chains];
#pragma unroll
  for (int c = 0; c < chains; ++c) x[c] = static_cast<T>(threadIdx.x + c);
  for (int round = 0; round < rounds; ++round) {
#pragma unroll
    for (int step = 0; step < steps; ++step) {
#pragma unroll
      for (int c = 0; c < chains; ++c) x[c] = fused(x[c], a, b);
    }
  }
  T sum{0};
#pragma unroll
  for (int c = 0; c < chains; ++c) sum += x[c];
  if (sum != T{-1}) *ran = 1; // The compiler must keep the chains to know this.
}

template <class T>
Status launch(int blocks, int rounds, int* ran, cudaStream_t stream) noexcept {
  fma_chains<<<static_cast<unsigned>(blocks), threads, 0, stream>>>(T(0.75), T(0.25), rounds, ran);
  return launched("FMA probe");
}

constexpr double flops = 2.0 * threads * chains * steps;

} // namespace

const Probe fma_f32_probe{launch<float>, flops, blocks_per_multiprocessor};
const Probe fma_f64_probe{launch<double>, flops, blocks_per_multiprocessor};

} // namespace tessera::cuda
