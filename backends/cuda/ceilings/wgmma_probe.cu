/// Keeps Hopper's matrix units busy through the warpgroup instruction, which alone reaches their full rate.
///
/// A is in registers. B has 64 columns and is in shared memory, which then has bandwidth to spare. Layouts do not
/// matter here, because all elements of a factor are equal.

#include "ceilings.hpp"
#include "cuda/device/status.hpp"

namespace tessera::cuda {
namespace {

constexpr int threads = 128; // a warpgroup
constexpr int blocks_per_multiprocessor = 4;
constexpr int steps = 16; // Products in a round. They follow one another into the same accumulators.

constexpr double flops_of(Math math) { return 2.0 * 64 * 64 * (math == Math::Tf32 ? 8 : 16) * steps; }

#if defined(__CUDA_ARCH_FEAT_SM90_ALL)

// This is a macro, because the instruction's name must be part of the literal. `immediates`: the scales of A and B and,
// for 16-bit types, whether B is transposed.
#define TESSERA_WGMMA(name, immediates)                                                                             \
  asm volatile(                                                                                                     \
      "{ .reg .pred accumulate; setp.ne.b32 accumulate, 1, 0; wgmma.mma_async.sync.aligned." name                   \
      " {%0, %1, %2, %3, %4, %5, %6, %7, %8, %9, %10, %11, %12, %13, %14, %15, %16, %17, %18, %19, %20, "           \
      "%21, %22, %23, %24, %25, %26, %27, %28, %29, %30, %31}, {%32, %32, %32, %32}, %33, accumulate, " immediates  \
      "; }"                                                                                                         \
      : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3]), "+f"(d[4]), "+f"(d[5]), "+f"(d[6]), "+f"(d[7]), "+f"(d[8]), \
        "+f"(d[9]), "+f"(d[10]), "+f"(d[11]), "+f"(d[12]), "+f"(d[13]), "+f"(d[14]), "+f"(d[15]), "+f"(d[16]),      \
        "+f"(d[17]), "+f"(d[18]), "+f"(d[19]), "+f"(d[20]), "+f"(d[21]), "+f"(d[22]), "+f"(d[23]), "+f"(d[24]),     \
        "+f"(d[25]), "+f"(d[26]), "+f"(d[27]), "+f"(d[28]), "+f"(d[29]), "+f"(d[30]), "+f"(d[31])                   \
      : "r"(half), "l"(descriptor))

template <Math math>
__device__ void multiply(float (&d)[32], unsigned half, unsigned long long descriptor) {
  if constexpr (math == Math::Tf32)
    TESSERA_WGMMA("m64n64k8.f32.tf32.tf32", "1, 1");
  else if constexpr (math == Math::Bf16)
    TESSERA_WGMMA("m64n64k16.f32.bf16.bf16", "1, 1, 0");
  else
    TESSERA_WGMMA("m64n64k16.f32.f16.f16", "1, 1, 0");
}

#undef TESSERA_WGMMA

/// Returns the descriptor of a B that is not swizzled. B consists of blocks of 8 rows of 16 bytes. From a block to the
/// next one are 128 bytes along k and 256 bytes along n.
__device__ unsigned long long describe(const unsigned* b) {
  const unsigned long long address = __cvta_generic_to_shared(b);
  return (address >> 4) | (128ull >> 4) << 16 | (256ull >> 4) << 32;
}

#endif

template <Math math>
__global__ void __launch_bounds__(threads) wgmma_chains([[maybe_unused]] int rounds, [[maybe_unused]] int* ran) {
#if defined(__CUDA_ARCH_FEAT_SM90_ALL)
  // The bits of 0.5 in the input type, twice if two elements fit into a word.
  constexpr unsigned half = math == Math::Tf32 ? 0x3F000000u : math == Math::Bf16 ? 0x3F003F00u : 0x38003800u;
  constexpr int b_words = 64 * 32 / 4; // 64 columns of 32 bytes of k
  __shared__ alignas(128) unsigned b[b_words];
  for (int i = static_cast<int>(threadIdx.x); i < b_words; i += threads) b[i] = half;
  asm volatile("fence.proxy.async.shared::cta;" ::: "memory"); // The matrix units read what the threads wrote.
  __syncthreads();
  const unsigned long long descriptor = describe(b);
  float d[32] = {};
  for (int round = 0; round < rounds; ++round) {
    asm volatile("wgmma.fence.sync.aligned;" ::: "memory");
#pragma unroll
    for (int step = 0; step < steps; ++step) multiply<math>(d, half, descriptor);
    asm volatile("wgmma.commit_group.sync.aligned;" ::: "memory");
    asm volatile("wgmma.wait_group.sync.aligned 0;" ::: "memory");
  }
  float sum = 0;
  for (const float value : d) sum += value;
  if (sum >= 0) *ran = 1;
#endif
}

template <Math math>
Status launch(int blocks, int rounds, int* ran, cudaStream_t stream) noexcept {
  wgmma_chains<math><<<static_cast<unsigned>(blocks), threads, 0, stream>>>(rounds, ran);
  return launched("warpgroup matrix unit probe");
}

template <Math math>
constexpr Probe probe{launch<math>, flops_of(math), blocks_per_multiprocessor};

} // namespace

const Probe wgmma_tf32_probe = probe<Math::Tf32>;
const Probe wgmma_bf16_probe = probe<Math::Bf16>;
const Probe wgmma_fp16_probe = probe<Math::Fp16>;

} // namespace tessera::cuda
