#include "panel_dmma.cuh"

#include <cuda_pipeline.h>

#include <algorithm>

#include "canonical.cuh"
#include "cluster_send.cuh"
#include "dmma.cuh"
#include "early_launch.cuh"
#include "grid.cuh"
#include "panel_copies.cuh"
#include "panel_sides.hpp"
#include "status.hpp"

/// A warp has 16 vectors along k of the large operand, and a segment of k: a chain of matrix instructions. The segments
/// of the same vectors are other warps', of one block or of a cluster of two; the warp that has the first one is sent
/// the others' sums, and adds them in ascending order. A warp copies what it will read itself, many steps ahead, so
/// that it waits for no other one. The large operand's bytes once.

namespace tessera::cuda {
namespace {

using namespace panels;

constexpr int groups = 2;         ///< of 8 vectors, the instruction's columns, of a warp
constexpr int strip = groups * 8; ///< vectors of a warp
constexpr int most_warps = 8;
constexpr int most_shared = 220 << 10; ///< bytes of a block: rings of up to eight warps, and segments' sums
constexpr int sums_bytes = groups * 4 * 32 * static_cast<int>(sizeof(double)); ///< of a warp

struct Panel {
  Vectors large, small;
  int k, segments;
  int parts;        ///< blocks of a cluster
  int across, down; ///< warps of a block, beside one another and along k
  int first;        ///< segments of a cluster's first block
  bool swapped;     ///< the large operand is A
  double* c;
  Index ldc;
  double alpha, beta;
  Finish<double> finish;
};

struct Stage {
  Lines large, small;
};
constexpr int stages = 6; ///< of a warp's ring

#if __CUDA_ARCH__ >= 900

/// A segment's sums.
template <bool large_along_k, bool small_along_k, int width>
__device__ void multiply(const Panel& x, int segment, int vector, const Stage* ring, double (&sum)[groups][4]) {
  constexpr int length = static_cast<int>(canonical_segment);
  constexpr unsigned stage_bytes = sizeof(Stage), small_at = sizeof(Lines);
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

  Copies<large_along_k, width> of_large(x.large, vector, begin, lane);
  Copies<small_along_k, 1> of_small(x.small, 0, begin, lane);
  const unsigned first = in_shared(ring), end = first + stages * stage_bytes;
  unsigned free = first;
  // A commit without copies keeps the count of stages under way the same to the end.
  const auto fetch = [&] {
    if (to_copy > 0) {
      of_large.start(free, to_copy);
      of_small.start(free + small_at, to_copy);
    }
    __pipeline_commit();
    to_copy -= depth;
    free = free + stage_bytes == end ? first : free + stage_bytes;
  };
#pragma unroll 1 // instructions would miss their cache
  for (int s = 0; s + 1 < stages; ++s) fetch();
#pragma unroll 1
  for (unsigned stage = first; left > 0; left -= depth) {
    __pipeline_wait_prior(stages - 2);
    __syncwarp(); // all lanes' copies are there, and all have read what is in the free stage
    double small[8], large[groups][4];
#pragma unroll
    for (int e = 0; e < 8; ++e) small[e] = read(stage + at_small[e]);
#pragma unroll
    for (int j = 0; j < groups; ++j)
#pragma unroll
      for (int e = 0; e < 4; ++e) large[j][e] = read(stage + at_large[j][e]);
    fetch();
    if (left < depth) // products past k are −0, which change no sum
#pragma unroll
      for (int e = 0; e < 8; ++e)
        if (own_k + e / 2 * 4 >= left) small[e] = a_padding<double>;
#pragma unroll
    for (int j = 0; j < groups; ++j) dmma_tiling::multiply(sum[j][0], sum[j][1], sum[j][2], sum[j][3], small, large[j]);
    stage = stage + stage_bytes == end ? first : stage + stage_bytes;
  }
}

/// The small and the large operand's vectors of a lane's result `i`.
struct Pair {
  int small, large;
  __device__ Pair(int i, int vector, int lane)
      : small(lane / 4 + i % 4 / 2 * 8), large(vector + i / 4 * 8 + lane % 4 * 2 + i % 2) {}
};

/// Vectors before `least` are another warp's to store.
__device__ inline void store(const Panel& x, const double (&sum)[groups][4], int vector, int least, int lane) {
#pragma unroll
  for (int i = 0; i < groups * 4; ++i) {
    const auto [small, large] = Pair(i, vector, lane);
    if (small >= x.small.count || large < least || large >= x.large.count) continue;
    double* const c = x.c + (x.swapped ? large * x.ldc + small : small * x.ldc + large);
    store_result(c, sum[i / 4][i % 4], x.alpha, x.beta);
  }
}
__device__ __noinline__ void store_finished(const Finish<double>& finish, const double* held, bool swapped, int count,
                                            int vector, int least, int lane) {
#pragma unroll 1
  for (int i = 0; i < groups * 4; ++i) {
    const auto [small, large] = Pair(i, vector, lane);
    const ResultPlace at{swapped ? large : small, swapped ? small : large};
    if (small < count && large >= least) finish.store([&](int) { return at; }, {{held[i]}});
  }
}

#endif

/// To be launched in clusters of one or two blocks. `width`: elements of the large operand that are copied at once.
template <bool large_along_k, bool small_along_k, int width>
__global__ void __launch_bounds__(most_warps * 32, 1) panel_dmma(const __grid_constant__ Panel x) {
#if __CUDA_ARCH__ >= 900
  namespace ptx = ::cuda::ptx;
  extern __shared__ Stage rings[]; // of the warps; behind them the sums sent, by segment but for the first one, by warp
  __shared__ Arrivals arrivals;
  constexpr int pairs = groups * 2; // of a lane
  const int rank = static_cast<int>(ptx::get_sreg_cluster_ctarank());
  const int warp = static_cast<int>(threadIdx.x) / 32, lane = static_cast<int>(threadIdx.x) % 32;
  const int along = warp / x.across, beside = warp % x.across;
  const int segment = rank * x.first + along;
  const bool works = rank == 0 ? along < x.first : segment < x.segments;
  launch_dependents();
  if (x.parts > 1) {
    if (threadIdx.x == 0 && rank == 0) arrivals.start((x.segments - 1) * x.across * sums_bytes);
    ptx::barrier_cluster_arrive(ptx::sem_relaxed);
  }
  // The last strip begins earlier where it would pass the end, and stores what the one before does not.
  const int least = (static_cast<int>(ptx::get_sreg_clusterid_x()) * x.across + beside) * strip;
  const int vector = max(min(least, x.large.count - strip), 0);
  double sum[groups][4]{};
  wait_for_kernel_before();
  if (works) multiply<large_along_k, small_along_k, width>(x, segment, vector, rings + warp * stages, sum);
  if (x.parts > 1) ptx::barrier_cluster_wait(); // who adds is ready to be sent to
  if (!works) return;
  auto* const sent = reinterpret_cast<double2*>(rings + x.down * x.across * stages);
  const auto place = [&](int of) { return sent + ((of - 1) * x.across + beside) * pairs * 32 + lane; };
  if (segment > 0) {
#pragma unroll
    for (int p = 0; p < pairs; ++p) {
      const double2 two{sum[p / 2][p % 2 * 2], sum[p / 2][p % 2 * 2 + 1]};
      double2* const to = place(segment) + p * 32;
      if (x.parts == 1)
        *to = two;
      else
        send(place_in(0, to), reinterpret_cast<const float4&>(two), place_in(0, &arrivals.barrier));
    }
  }
  if (x.parts == 1) __syncthreads(); // all warps of such a block work
  if (segment > 0) return;
  if (x.parts > 1) arrivals.wait();
#pragma unroll 1
  for (int next = 1; next < x.segments; ++next)
#pragma unroll
    for (int p = 0; p < pairs; ++p) {
      const double2 more = place(next)[p * 32];
      sum[p / 2][p % 2 * 2] += more.x;
      sum[p / 2][p % 2 * 2 + 1] += more.y;
    }
  if (!x.finish.wanted) [[likely]]
    return store(x, sum, vector, least, lane);
  double held[groups * 4];
#pragma unroll
  for (int i = 0; i < groups * 4; ++i) held[i] = sum[i / 4][i % 4];
  store_finished(x.finish, held, x.swapped, x.small.count, vector, least, lane);
#endif
}

/// Warps of a block: `down` segments, in clusters of `parts`, of `across` times 16 vectors; so that there are some 128
/// blocks, if that is possible. Of two blocks the second one has the last segment, which may be short, and no fewer.
struct Shares {
  int parts, down, across;
};
constexpr Shares shares_of(Index segments, Index vectors) {
  const Index parts = segments > 2 ? 2 : 1, down = ceil_div(segments, parts);
  const Index across =
      std::clamp<Index>(ceil_div<Index>(vectors * parts, 2048), 1, std::min<Index>(4, most_warps / down));
  return {static_cast<int>(parts), static_cast<int>(down), static_cast<int>(across)};
}

} // namespace

bool is_panel_dmma(const GemmCall& call) noexcept {
  if (call.m == 1 && call.op_b == Op::None) return false; // a thread a column reads as fast, and adds in its block
  return call.type == DType::F64 && std::min(call.m, call.n) <= few && std::max(call.m, call.n) < Index{1} << 30 &&
         call.k > 0 && call.k <= 8 * canonical_segment;
}

Status launch_panel_dmma(cudaStream_t stream, const GemmCall& call, const char* name) noexcept {
  const auto [swapped, small, large] = Sides(call);
  const auto vectors = [](const Side& x) {
    return Vectors{static_cast<const double*>(x.data), x.ld, static_cast<int>(x.count)};
  };
  const Index segments = ceil_div(call.k, canonical_segment);
  const Shares shares = shares_of(segments, large.count);
  const int warps = shares.down * shares.across;
  const Panel x{.large = vectors(large),
                .small = vectors(small),
                .k = static_cast<int>(call.k),
                .segments = static_cast<int>(segments),
                .parts = shares.parts,
                .across = shares.across,
                .down = shares.down,
                .first = static_cast<int>(segments) - (shares.parts - 1) * shares.down,
                .swapped = swapped,
                .c = static_cast<double*>(call.c),
                .ldc = call.ldc,
                .alpha = call.alpha,
                .beta = call.beta,
                .finish = Finish<double>(call)};
  const Launch how{.blocks = ceil_div<Index>(large.count, strip * shares.across) * shares.parts,
                   .threads = warps * 32,
                   .shared = warps * stages * sizeof(Stage) + (segments - 1) * shares.across * sums_bytes,
                   .early = true,
                   .cluster = shares.parts};
  // By whether two elements are copied at once, and how the large and the small operand lie.
  using Kernel = void (*)(Panel);
  const Kernel kernels[2][2][2]{
      {{panel_dmma<false, false, 1>, panel_dmma<false, true, 1>},
       {panel_dmma<true, false, 1>, panel_dmma<true, true, 1>}},
      {{panel_dmma<false, false, 2>, panel_dmma<false, true, 2>},
       {panel_dmma<true, false, 2>, panel_dmma<true, true, 2>}},
  };
  const bool chunks =
      large.count >= strip && is_whole(large.data, large.along_k ? 0 : large.count, large.ld, sizeof(double));
  const Kernel kernel = kernels[chunks][large.along_k][small.along_k];
  if (Status status = allow_shared(kernel, most_shared, name); !status.ok()) return status;
  return launch_kernel(stream, how, name, kernel, x);
}

} // namespace tessera::cuda
