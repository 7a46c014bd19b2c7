#pragma once

/// The kernel of few_vectors_dmma and few_vectors_ffma: products of few rows or columns with strict sums.
///
/// A team of one warp or a few has a strip of the large operand's vectors and one segment of k, so that its sums are
/// chains. Other teams, of this block or of the other block of a cluster, have the other segments of these vectors. The
/// team with the first segment receives their sums and adds them in ascending order. A team copies its own operands,
/// many steps ahead, so that it waits for no other team. The small operand's vectors are taken in groups of 16. Teams
/// that have one strip and different groups run beside each other, so that the large operand comes from memory once,
/// and for all groups but the first one from the L2 cache.
///
/// A Shape, and Units that are derived from it for operands that lie along k or across, say how a team multiplies:
///
/// - Element: the type of the elements.
/// - strip: vectors of a team.
/// - team: threads of a team.
/// - results: results of a thread; result i belongs to the vectors Units::Pair(i, first vector, thread), of which the
///   small one is counted within the group.
/// - most_teams: the most teams of a block.
/// - Stage, stages: the stages of a team's ring in shared memory, and their number.
/// - blocks: blocks for which a multiprocessor has registers.
/// - Units::multiply(params, segment, first vector, first small vector, ring, sums): waits for the kernel before and
///   computes the sums.

#include <algorithm>

#include "cuda/device/shared_memory.hpp"
#include "cuda/gemm/common/canonical.cuh"
#include "cuda/gemm/common/cluster_send.cuh"
#include "cuda/gemm/common/few_vectors_operands.hpp"
#include "cuda/gemm/common/grid.cuh"
#include "cuda/gemm/common/programmatic_launch.cuh"
#include "cuda/gemm/common/shared_layout.hpp"
#include "cuda/gemm/common/stores/results.cuh"

namespace tessera::cuda::few_vectors {

constexpr int most_shared = 220 << 10; ///< bytes of a block: the rings of its teams, and the sums of segments

/// An operand: vectors along k.
template <class T>
struct Vectors {
  const T* data;
  Index ld;
  int count;
};

template <class T>
struct StrictParams {
  Vectors<T> large, small;
  int k, segments;
  int k_parts;      ///< blocks of a cluster, which share the segments
  int across, down; ///< teams of a block: strips beside one another, and segments
  int first;        ///< segments of a cluster's first block
  int groups;       ///< groups of the small operand's vectors
  bool swapped;     ///< the large operand is A
  ScaledResult<T> to;
  EpilogueStore<T> epilogue;
};

template <class Shape>
constexpr int sums_bytes = Shape::results* Shape::team* static_cast<int>(sizeof(typename Shape::Element));

#if __CUDA_ARCH__ >= 900

// Places in shared memory are numbers: with pointers ptxas would compute the block's window at each access.
__device__ inline unsigned in_shared(const void* place) {
  return static_cast<unsigned>(__cvta_generic_to_shared(place));
}

/// Stores results. Vectors before `least` belong to another team; the team's group begins at vector `first_small`.
template <class Units, class T>
__device__ void store(const StrictParams<T>& x, const T (&sum)[Units::results], int vector, int first_small, int least,
                      int thread) {
  /// Calls f(the number of a result, its place in C) for the results that are this team's.
  const auto each = [&](auto f) {
#pragma unroll
    for (int i = 0; i < Units::results; ++i) {
      const auto [in_group, large] = typename Units::Pair(i, vector, thread);
      const int small = first_small + in_group;
      if (small >= x.small.count || large < least || large >= x.large.count) continue;
      f(i, x.to.c + (x.swapped ? large * x.to.ldc + small : small * x.to.ldc + large));
    }
  };
  // All old results are read before the first is used, because a thread would wait for each read.
  T old[Units::results];
  if (x.to.beta != T{0}) each([&](int i, const T* from) { old[i] = *from; });
  each([&](int i, T* to) { *to = strict_result(sum[i], x.to.alpha, x.to.beta, old[i]); });
}
template <class Units, class T>
__device__ __noinline__ void store_with_epilogue(const EpilogueStore<T>& epilogue, const T* held, bool swapped,
                                                 int count, int vector, int first_small, int least, int thread) {
#pragma unroll 1
  for (int i = 0; i < Units::results; ++i) {
    const auto [in_group, large] = typename Units::Pair(i, vector, thread);
    const int small = first_small + in_group;
    const ResultPlace at{swapped ? large : small, swapped ? small : large};
    if (small < count && large >= least) epilogue.store([&](int) { return at; }, {{held[i]}});
  }
}

#endif

/// The kernel. It is launched in clusters of one or two blocks.
template <class Units, class T = typename Units::Element>
__global__ void __launch_bounds__(Units::most_teams* Units::team, Units::blocks)
    few_vectors_strict_kernel(const __grid_constant__ StrictParams<T> x) {
#if __CUDA_ARCH__ >= 900
  namespace ptx = ::cuda::ptx;
  // The rings of the teams, and after them the sums that are sent: by segment, without the first one, and by team.
  extern __shared__ typename Units::Stage rings[];
  __shared__ Arrivals arrivals;
  constexpr int width = Vector<T>::width, chunks = Units::results / width; // vectors of a thread's sums
  const int rank = static_cast<int>(ptx::get_sreg_cluster_ctarank());
  constexpr int threads = Units::team;
  const int team = static_cast<int>(threadIdx.x) / threads, thread = static_cast<int>(threadIdx.x) % threads;
  const int along = team / x.across, beside = team % x.across;
  const int segment = rank * x.first + along;
  const bool works = rank == 0 ? along < x.first : segment < x.segments;
  launch_dependents();
  if (x.k_parts > 1) {
    if (threadIdx.x == 0 && rank == 0) arrivals.start((x.segments - 1) * x.across * sums_bytes<Units>);
    ptx::barrier_cluster_arrive(ptx::sem_relaxed);
  }
  const int cluster = static_cast<int>(ptx::get_sreg_clusterid_x()), strips = cluster / x.groups;
  const int first_small = (cluster - strips * x.groups) * few;
  // The last strip begins earlier where it would pass the end, and does not store what the strip before it stores.
  const int least = (strips * x.across + beside) * Units::strip;
  const int vector = max(min(least, x.large.count - Units::strip), 0);
  T sum[Units::results]{};
  if (works) Units::multiply(x, segment, vector, first_small, rings + team * Units::stages, sum);
  if (x.k_parts > 1) ptx::barrier_cluster_wait(); // the block that adds is ready to receive
  if (!works) return;
  auto* const sent = reinterpret_cast<Vector<T>*>(rings + x.down * x.across * Units::stages);
  const auto place = [&](int of) { return sent + ((of - 1) * x.across + beside) * chunks * threads + thread; };
  if (segment > 0) {
#pragma unroll
    for (int p = 0; p < chunks; ++p) {
      Vector<T> chunk;
#pragma unroll
      for (int e = 0; e < width; ++e) chunk.lane[e] = sum[p * width + e];
      Vector<T>* const to = place(segment) + p * threads;
      if (x.k_parts == 1)
        *to = chunk;
      else
        send(place_in(0, to), reinterpret_cast<const float4&>(chunk), place_in(0, &arrivals.barrier));
    }
  }
  if (x.k_parts == 1) __syncthreads(); // all teams of such a block have work
  if (segment > 0) return;
  if (x.k_parts > 1) arrivals.wait();
#pragma unroll 1
  for (int next = 1; next < x.segments; ++next)
#pragma unroll
    for (int p = 0; p < chunks; ++p) {
      const Vector<T> more = place(next)[p * threads];
#pragma unroll
      for (int e = 0; e < width; ++e) sum[p * width + e] += more.lane[e];
    }
  if (!x.epilogue.wanted) [[likely]]
    return store<Units>(x, sum, vector, first_small, least, thread);
  T held[Units::results];
#pragma unroll
  for (int i = 0; i < Units::results; ++i) held[i] = sum[i];
  store_with_epilogue<Units>(x.epilogue, held, x.swapped, x.small.count, vector, first_small, least, thread);
#endif
}

/// Says how many teams a block has: `down` segments by `across` strips, in clusters of `k_parts` blocks, for each of
/// the `groups` of the small operand. It aims at some 128 blocks. In a cluster of two blocks, the second one has the
/// last segment, which may be short, and no fewer segments than the first one.
struct TeamGrid {
  int k_parts, down, across, groups;
  Index blocks;
};
template <class Shape>
constexpr TeamGrid team_grid_of(Index segments, Index vectors, Index groups) {
  const Index k_parts = segments > 2 ? 2 : 1, down = ceil_div(segments, k_parts);
  const Index across = std::clamp<Index>(ceil_div<Index>(vectors * k_parts * groups, 128 * Shape::strip), 1,
                                         std::min<Index>(4, Shape::most_teams / down));
  return {static_cast<int>(k_parts), static_cast<int>(down), static_cast<int>(across), static_cast<int>(groups),
          ceil_div<Index>(vectors, Shape::strip * across) * k_parts * groups};
}
template <class Shape>
TeamGrid team_grid_of(const GemmCall& call) {
  const auto [small, large] = std::minmax(call.m, call.n);
  return team_grid_of<Shape>(ceil_div(call.k, canonical_segment), large, ceil_div<Index>(small, few));
}

/// Returns the bytes of a block: the rings of its teams, and the sums of all segments but the first one.
template <class Shape>
constexpr std::size_t shared_of(Index segments, const TeamGrid& grid) {
  return grid.down * grid.across * Shape::stages * sizeof(typename Shape::Stage) +
         static_cast<std::size_t>(segments - 1) * grid.across * sums_bytes<Shape>;
}
template <class Shape>
constexpr std::size_t largest_shared() {
  std::size_t largest = 0;
  for (Index segments = 1; segments <= 8; ++segments)
    for (Index vectors = Shape::strip; vectors <= Index{1} << 20; vectors *= 2)
      largest = std::max(largest, shared_of<Shape>(segments, team_grid_of<Shape>(segments, vectors, 1)));
  return largest;
}

/// Launches the product. `least_shared`: the fewest bytes of shared memory that a block asks for.
template <class Shape, class T = typename Shape::Element>
Status launch_few_vectors_strict(cudaStream_t stream, const GemmCall& call, std::size_t least_shared, const char* name,
                                 void (*kernel)(StrictParams<T>)) noexcept {
  const auto [swapped, small, large] = Operands(call);
  const auto vectors = [](const Operand& x) {
    return Vectors<T>{static_cast<const T*>(x.data), x.ld, static_cast<int>(x.count)};
  };
  const Index segments = ceil_div(call.k, canonical_segment);
  const TeamGrid grid = team_grid_of<Shape>(call);
  const int teams = grid.down * grid.across;
  const StrictParams<T> x{.large = vectors(large),
                          .small = vectors(small),
                          .k = static_cast<int>(call.k),
                          .segments = static_cast<int>(segments),
                          .k_parts = grid.k_parts,
                          .across = grid.across,
                          .down = grid.down,
                          .first = static_cast<int>(segments) - (grid.k_parts - 1) * grid.down,
                          .groups = grid.groups,
                          .swapped = swapped,
                          .to = ScaledResult<T>::of(call),
                          .epilogue = EpilogueStore<T>(call)};
  const std::size_t shared = shared_of<Shape>(segments, grid);
  const Launch how{.blocks = grid.blocks,
                   .threads = teams * Shape::team,
                   .shared = std::max(shared, least_shared),
                   .programmatic = true,
                   .cluster = grid.k_parts};
  static_assert(largest_shared<Shape>() <= most_shared);
  if (Status status = allow_most_shared(kernel, name); !status.ok()) return status;
  return launch_kernel(stream, how, name, kernel, x);
}

} // namespace tessera::cuda::few_vectors
