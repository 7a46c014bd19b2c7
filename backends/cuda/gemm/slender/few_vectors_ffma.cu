#include "few_vectors_ffma.cuh"

#include <cuda_pipeline.h>

#include "few_vectors_lines.cuh"
#include "few_vectors_strict.cuh"

namespace tessera::cuda {
namespace {

using namespace few_vectors;

constexpr Index least_small = 5; ///< rows or columns; for fewer, slender's tiles of one to four rows are as fast

/// Describes how few_vectors_ffma shares the work out. A lane computes the chains of 2×4 results. Lanes lie along the
/// Z-curve, so that two of each four neighbours share what they read of an operand, and shared memory answers in half
/// the time. A team is two warps, each with half of the small operand's vectors. There are two such warps for each
/// scheduler, because one warp of 4×4 results a lane would spend a third of its time waiting for its own instructions.
struct FfmaShape {
  using Element = float;
  static constexpr int strip = 32, results = 8, team = team_size, most_teams = 4, stages = 4, blocks = 2;
  static_assert(stages > 2); // one is read, one is copied into, and one is full when the first of them ends
  struct alignas(128) Stage {
    /// The large operand's lines, then the small operand's lines.
    unsigned char at[(strip + few) * stage_k * sizeof(float)];
  };
};

/// The operations of a team. `width` and `small_width`: elements of the large and of the small operand that one
/// instruction copies.
template <bool large_along_k, bool small_along_k, int width, int small_width>
struct FfmaUnits : FfmaShape {
#if __CUDA_ARCH__ >= 900
  static constexpr int own_small = few / (team / 32); ///< vectors of the small operand for a warp
  using LargeLines = F32Lines<large_along_k, strip>;
  using Large = VectorFragment<large_along_k, strip, 4, 8>;
  using Small = VectorFragment<small_along_k, few, 2, 4>;

  /// Computes the sums of one segment. A group is four k. The operands of a group are read while the group before is
  /// multiplied, also from one stage to the next.
  static __device__ void multiply(const StrictParams<float>& x, int segment, int vector, int first_small,
                                  const Stage* ring, float (&sum)[results]) {
    constexpr int length = static_cast<int>(canonical_segment), groups = stage_k / 4, parts = 2;
    constexpr unsigned stage_bytes = sizeof(Stage), small_at = sizeof(LargeLines);
    const int thread = static_cast<int>(threadIdx.x % team);
    const Place own = z_curve(thread % 32);
    const unsigned at_large = Large::begin(0, own.across);
    const unsigned at_small = small_at + Small::begin(thread / 32 * own_small, own.down);
    const int begin = segment * length, end_k = min(begin + length, x.k);
    int left = end_k - begin, to_copy = left;

    F32Copies<large_along_k, strip, width> of_large(x.large, vector, begin, thread);
    F32Copies<small_along_k, few, small_width> of_small(x.small, first_small, begin, thread);
    const unsigned first = in_shared(ring), end = first + stages * stage_bytes;
    unsigned free = first;
    // Starts one part of a stage's copies. There are few parts, because ptxas puts three idle instructions between
    // reads and copies.
    const auto fetch = [&](int part) {
      const bool whole = to_copy >= stage_k;
      constexpr int of_large_each = of_large.count / parts, of_small_each = of_small.count / parts;
#pragma unroll
      for (int i = 0; i < of_large_each; ++i) of_large.start(part * of_large_each + i, free, whole);
#pragma unroll
      for (int i = 0; i < of_small_each; ++i) of_small.start(part * of_small_each + i, free + small_at, whole);
    };
    // A commit without copies keeps the number of stages under way constant to the end.
    const auto end_fetch = [&] {
      if (to_copy > 0 && to_copy < stage_k) [[unlikely]] { // products beyond k are −0, which change no sum
        start_last<large_along_k, strip>(x.large, vector, end_k - to_copy, to_copy, free, thread, b_padding<float>);
        start_last<small_along_k, few>(x.small, first_small, end_k - to_copy, to_copy, free + small_at, thread,
                                       a_padding<float>);
      }
      __pipeline_commit();
      to_copy -= stage_k;
    };
    wait_for_kernel_before();
#pragma unroll 1 // instructions would miss their cache
    for (int s = 0; s + 1 < stages; ++s) {
#pragma unroll
      for (int part = 0; part < parts; ++part) fetch(part);
      end_fetch();
      free += stage_bytes;
    }
    Large large[2];
    Small small[2];
    const auto read = [&](int to, unsigned stage, int group) {
      large[to].read(stage + at_large, group);
      small[to].read(stage + at_small, group);
    };
    unsigned stage = first;
    __pipeline_wait_prior(stages - 2);
    meet();
    read(0, stage, 0);
#pragma unroll 1
    for (; left > 0; left -= stage_k) {
      const unsigned next = stage + stage_bytes == end ? first : stage + stage_bytes;
#pragma unroll
      for (int g = 0; g < groups; ++g) {
        const bool last = g + 1 == groups;
        if (last) {
          __pipeline_wait_prior(stages - 3); // this stage's copies are not committed yet
          meet(); // the team's copies of the next stage have arrived, and all threads have read this stage
        }
        read((g + 1) % 2, last ? next : stage, (g + 1) % groups);
        if (g % (groups / parts) == 0) fetch(g / (groups / parts));
#pragma unroll
        for (int p = 0; p < 4; ++p)
#pragma unroll
          for (int r = 0; r < 2; ++r)
#pragma unroll
            for (int e = 0; e < 4; ++e) {
              const int c = r % 2 == 0 ? e : 3 - e; // neighbouring FMAs share an element
              sum[r * 4 + c] = fused(small[g % 2].at(r, p), large[g % 2].at(c, p), sum[r * 4 + c]);
            }
      }
      end_fetch();
      free = stage;
      stage = next;
    }
  }

  /// The vectors of the small and of the large operand that belong to a thread's result `i`.
  struct Pair {
    int small, large;
    __device__ Pair(int i, int vector, int thread)
        : small(Small::vector(i / 4, thread / 32 * own_small, z_curve(thread % 32).down)),
          large(Large::vector(i % 4, vector, z_curve(thread % 32).across)) {}
  };

 private:
  /// Waits at the barrier of the team.
  static __device__ void meet() {
    asm volatile("barrier.sync %0, %1;" ::"r"(threadIdx.x / team + 1), "n"(team) : "memory");
  }
#endif
};

template <bool large_along_k, bool small_along_k, int width, int small_width>
constexpr auto kernel_of = few_vectors_strict_kernel<FfmaUnits<large_along_k, small_along_k, width, small_width>>;

} // namespace

bool is_few_vectors_ffma(const GemmCall& call) noexcept {
  const auto [small, large] = std::minmax(call.m, call.n);
  return call.type == DType::F32 && small >= least_small && small <= most_small && large >= FfmaShape::strip &&
         large < Index{1} << 30 && call.k > canonical_segment && call.k <= 8 * canonical_segment;
}

/// Estimates cycles: a team's step of k takes eight cycles of its multiprocessor, and a step takes at least 18 cycles.
/// Where there are more blocks than multiprocessors, the teams' steps are shared out as evenly as blocks are. Each
/// group after the second one reads the large operand from the L2 cache while the others do.
Index few_vectors_ffma_cost(const GemmCall& call, Index multiprocessors) noexcept {
  constexpr Index team_step = 8, least_step = 18;
  const TeamGrid grid = team_grid_of<FfmaShape>(call);
  const Index alone =
      std::min(call.k, canonical_segment) * std::max<Index>(least_step, grid.down * grid.across * team_step);
  const Index rounds = ceil_div(grid.blocks, multiprocessors);
  if (rounds == 1) return alone;
  const Index strips = ceil_div<Index>(std::max(call.m, call.n), FfmaShape::strip) * grid.groups;
  const Index shared = strips * call.k * team_step * rounds / grid.blocks;
  return std::max(alone, shared * (23 + std::max(grid.groups, 2)) / 25);
}

Status launch_few_vectors_ffma(cudaStream_t stream, const GemmCall& call, Index multiprocessors,
                               const char* name) noexcept {
  const auto [swapped, small, large] = Operands(call);
  // The kernels, by whether the large and the small operand are copied in vectors, and by how the two are stored.
  using Kernel = void (*)(StrictParams<float>);
  const Kernel kernels[3][2][2]{
      {{kernel_of<false, false, 1, 1>, kernel_of<false, true, 1, 1>},
       {kernel_of<true, false, 1, 1>, kernel_of<true, true, 1, 1>}},
      {{kernel_of<false, false, 4, 1>, kernel_of<false, true, 4, 1>},
       {kernel_of<true, false, 4, 1>, kernel_of<true, true, 4, 1>}},
      {{kernel_of<false, false, 4, 4>, kernel_of<false, true, 4, 4>},
       {kernel_of<true, false, 4, 4>, kernel_of<true, true, 4, 4>}},
  };
  const auto chunks = [](const Operand& x) { return is_whole(x.data, x.along_k ? 0 : x.count, x.ld, sizeof(float)); };
  const int widths = !chunks(large) ? 0 : !chunks(small) ? 1 : 2;
  // Two blocks share a multiprocessor only if there are fewer multiprocessors than blocks.
  const std::size_t least_shared = team_grid_of<FfmaShape>(call).blocks <= multiprocessors ? more_than_half : 0;
  return launch_few_vectors_strict<FfmaShape>(stream, call, least_shared, name,
                                              kernels[widths][large.along_k][small.along_k]);
}

} // namespace tessera::cuda
