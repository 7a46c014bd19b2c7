#include "few_vectors_dmma.cuh"

#include <cuda_pipeline.h>

#include "cuda/gemm/common/dmma.cuh"
#include "few_vectors_copies.cuh"
#include "few_vectors_strict.cuh"

namespace tessera::cuda {
namespace {

using namespace few_vectors;

/// Describes how few_vectors_dmma shares the work out. A warp's matrix instructions form one chain for each result.
struct DmmaShape {
  using Element = double;
  static constexpr int groups = 2; ///< groups of 8 vectors for a warp; 8 are the instruction's columns
  static constexpr int strip = groups * 8, results = groups * 4, team = 32, most_teams = 8, stages = 6, blocks = 1;
  struct Stage {
    F64Lines large, small;
  };
};

/// The operations of a warp. `width`: elements of the large operand that one instruction copies.
template <bool large_along_k, bool small_along_k, int width>
struct DmmaUnits : DmmaShape {
#if __CUDA_ARCH__ >= 900
  /// Computes the sums of one segment.
  static __device__ void multiply(const StrictParams<double>& x, int segment, int vector, int first_small,
                                  const Stage* ring, double (&sum)[results]) {
    constexpr int length = static_cast<int>(canonical_segment);
    constexpr unsigned stage_bytes = sizeof(Stage), small_at = sizeof(F64Lines);
    const int lane = static_cast<int>(threadIdx.x) % 32, own = lane / 4, own_k = lane % 4;
    const int begin = segment * length;
    int left = min(length, x.k - begin), to_copy = left;
    unsigned at_small[8], at_large[groups][4];
#pragma unroll
    for (int e = 0; e < 8; ++e) at_small[e] = small_at + place_of<small_along_k>(own + e % 2 * 8, own_k + e / 2 * 4);
#pragma unroll
    for (int j = 0; j < groups; ++j)
#pragma unroll
      for (int e = 0; e < 4; ++e) at_large[j][e] = place_of<large_along_k>(own + j * 8, own_k + e * 4);

    F64Copies<large_along_k, width> of_large(x.large, vector, begin, lane);
    F64Copies<small_along_k, 1> of_small(x.small, first_small, begin, lane);
    const unsigned first = in_shared(ring), end = first + stages * stage_bytes;
    unsigned free = first;
    // A commit without copies keeps the number of stages under way constant to the end.
    const auto fetch = [&] {
      if (to_copy > 0) {
        of_large.start(free, to_copy);
        of_small.start(free + small_at, to_copy);
      }
      __pipeline_commit();
      to_copy -= depth;
      free = free + stage_bytes == end ? first : free + stage_bytes;
    };
    wait_for_kernel_before();
#pragma unroll 1 // instructions would miss their cache
    for (int s = 0; s + 1 < stages; ++s) fetch();
#pragma unroll 1
    for (unsigned stage = first; left > 0; left -= depth) {
      __pipeline_wait_prior(stages - 2);
      __syncwarp(); // all lanes' copies have arrived, and all lanes have read the free stage
      double small[8], large[groups][4];
#pragma unroll
      for (int e = 0; e < 8; ++e) small[e] = read(stage + at_small[e]);
#pragma unroll
      for (int j = 0; j < groups; ++j)
#pragma unroll
        for (int e = 0; e < 4; ++e) large[j][e] = read(stage + at_large[j][e]);
      fetch();
      if (left < depth) // products beyond k are −0, which change no sum
#pragma unroll
        for (int e = 0; e < 8; ++e)
          if (own_k + e / 2 * 4 >= left) small[e] = a_padding<double>;
#pragma unroll
      for (int j = 0; j < groups; ++j)
        dmma_tiling::multiply(sum[j * 4], sum[j * 4 + 1], sum[j * 4 + 2], sum[j * 4 + 3], small, large[j]);
      stage = stage + stage_bytes == end ? first : stage + stage_bytes;
    }
  }
#endif

  /// The vectors of the small and of the large operand that belong to a lane's result `i`.
  struct Pair {
    int small, large;
    __device__ Pair(int i, int vector, int lane)
        : small(lane / 4 + i % 4 / 2 * 8), large(vector + i / 4 * 8 + lane % 4 * 2 + i % 2) {}
  };
};

template <bool large_along_k, bool small_along_k, int width>
constexpr auto kernel_of = few_vectors_strict_kernel<DmmaUnits<large_along_k, small_along_k, width>>;

} // namespace

bool is_few_vectors_dmma(const GemmCall& call) noexcept {
  if (call.m == 1 && call.op_b == Op::None) return false; // slender's tiles read as fast, and add in the block
  return call.type == DType::F64 && std::min(call.m, call.n) <= few && std::max(call.m, call.n) < Index{1} << 30 &&
         call.k > 0 && call.k <= 8 * canonical_segment;
}

Status launch_few_vectors_dmma(cudaStream_t stream, const GemmCall& call, const char* name) noexcept {
  const auto [swapped, small, large] = Operands(call);
  // The kernels, by whether two elements are copied at once, and by how the large and the small operand are stored.
  using Kernel = void (*)(StrictParams<double>);
  const Kernel kernels[2][2][2]{
      {{kernel_of<false, false, 1>, kernel_of<false, true, 1>}, {kernel_of<true, false, 1>, kernel_of<true, true, 1>}},
      {{kernel_of<false, false, 2>, kernel_of<false, true, 2>}, {kernel_of<true, false, 2>, kernel_of<true, true, 2>}},
  };
  const bool chunks = large.count >= DmmaShape::strip &&
                      is_whole(large.data, large.along_k ? 0 : large.count, large.ld, sizeof(double));
  return launch_few_vectors_strict<DmmaShape>(stream, call, 0, name, kernels[chunks][large.along_k][small.along_k]);
}

} // namespace tessera::cuda
