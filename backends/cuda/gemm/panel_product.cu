#include "panel_product.cuh"

#include <algorithm>
#include <cstdint>

#include "cluster_launch.cuh"
#include "cluster_send.cuh"
#include "early_launch.cuh"
#include "finish.cuh"
#include "grid.cuh"
#include "rounding.cuh"
#include "status.hpp"
#include "warp_mma.cuh"

/// A block has a strip of vectors along k of the large operand, and its own part of k, which its warps share.
/// Which of the instruction's k and columns are which of ours is free, as long as both operands agree: lanes read 16
/// bytes as they are stored, along k or across, and what lies across is paired by a permutation of bytes. Warps and
/// then a cluster's blocks add their sums, in an order that depends on the sizes alone. The large operand's bytes once.

namespace tessera::cuda {
namespace {

constexpr int most_parts = 8; ///< of k: blocks of a cluster
constexpr int few = 16;       ///< rows of the instruction, vectors of the small operand

/// How the small operand is read.
enum class Reads {
  Chunks, ///< 16 bytes along k
  Pairs,  ///< two vectors' elements that are neighbours
  Single
};

struct Panel {
  const void* large;
  Index large_ld; ///< elements from one line to the next
  const void* small;
  Index small_step, small_apart; ///< elements from one k, from one vector to the next
  int small_count, large_count, k;
  int parts, each; ///< of k, and how many each of them has
  bool swapped;    ///< the large operand is A
  bool narrow;     ///< C is of the operands' type, not f32
  void* c;
  Index ldc;
  float alpha, beta;
  Finish<float> finish;
};

template <class T>
constexpr int chunk = 16 / static_cast<int>(sizeof(T)); ///< elements
template <class T>
constexpr int step = 4 * chunk<T>; ///< k of four lanes' chunks
/// Of 8 vectors each, the instruction's columns: a chunk's, or those of which a warp has 128 bytes along k at once.
template <class T, bool along_k>
constexpr int groups = along_k ? 4 : chunk<T>;
template <class T, bool along_k>
constexpr int steps = along_k || sizeof(T) == 4 ? 2 : 1; ///< at once: 8 reads are under way of a lane
template <class T, bool along_k>
constexpr int strip = 8 * groups<T, along_k>; ///< vectors of a block
template <class T, bool along_k>
constexpr std::size_t sums_bytes = groups<T, along_k> * 32 * sizeof(float4); ///< of a warp, or a block

#if __CUDA_ARCH__ >= 900

/// Column `i` of a chunk of rows: four registers along k.
template <int i>
__device__ void column_of(const uint4 (&rows)[8], unsigned (&to)[4]) {
  constexpr unsigned halves = i % 2 == 0 ? 0x5410 : 0x7632;
#pragma unroll
  for (int pair = 0; pair < 4; ++pair) {
    const auto word = [&](const uint4& x) { return i / 2 == 0 ? x.x : i / 2 == 1 ? x.y : i / 2 == 2 ? x.z : x.w; };
    to[pair] = __byte_perm(word(rows[pair * 2]), word(rows[pair * 2 + 1]), halves);
  }
}
template <int i>
__device__ void column_of(const uint4 (&rows)[4], unsigned (&to)[4]) {
#pragma unroll
  for (int k = 0; k < 4; ++k) to[k] = i == 0 ? rows[k].x : i == 1 ? rows[k].y : i == 2 ? rows[k].z : rows[k].w;
}

/// As the matrix units take it.
template <class T>
__device__ unsigned rounded(unsigned x) {
  if constexpr (sizeof(T) == 2) return x;
  unsigned bits;
  asm("cvt.rna.tf32.f32 %0, %1;" : "=r"(bits) : "f"(__uint_as_float(x)));
  return bits;
}

/// A lane's two vectors of the small operand in one step: 16 bytes along k each.
template <class T, Reads reads>
struct SmallChunks {
  uint4 vector[2];

  /// Which two a lane has.
  static __device__ int number(int lane, int which) {
    return reads == Reads::Pairs ? lane / 4 * 2 + which : lane / 4 + which * 8;
  }
  /// From k on, zeros from x.k on unless the step is `whole`. Vectors past the last one are others once more: nobody
  /// stores their results.
  template <bool whole>
  __device__ void fetch(const Panel& x, int k, int lane) {
    const T* const from = static_cast<const T*>(x.small) + k * x.small_step;
    if constexpr (reads == Reads::Chunks) {
#pragma unroll
      for (int v = 0; v < 2; ++v)
        vector[v] = whole || k < x.k ? *reinterpret_cast<const uint4*>(from + place(x, lane, v)) : uint4{};
    } else {
      Neighbours<T, chunk<T>> along[2];
#pragma unroll
      for (int i = 0; i < chunk<T>; ++i) {
        const auto two = whole || k + i < x.k ? one_k(x, from + i * x.small_step, lane) : Neighbours<T, 2>{};
        along[0].element[i] = two.element[0];
        along[1].element[i] = two.element[1];
      }
#pragma unroll
      for (int v = 0; v < 2; ++v) vector[v] = reinterpret_cast<const uint4&>(along[v]);
    }
  }

 private:
  static __device__ Index place(const Panel& x, int lane, int which) {
    return min(number(lane, which), x.small_count - 1) * x.small_apart;
  }
  static __device__ Neighbours<T, 2> one_k(const Panel& x, const T* from, int lane) {
    if constexpr (reads == Reads::Pairs)
      return *reinterpret_cast<const Neighbours<T, 2>*>(from + min(number(lane, 0), x.small_count - 2));
    else
      return {from[place(x, lane, 0)], from[place(x, lane, 1)]};
  }
};

/// What a warp has under way: a lane's parts of both operands for some steps.
template <class T, bool along_k, Reads reads, int steps>
struct Batch {
  static constexpr int groups = cuda::groups<T, along_k>;
  uint4 large[steps][groups];
  SmallChunks<T, reads> small[steps];

  /// From k `first` on, zeros from x.k on unless all are there; `vector` is the block's first one.
  template <bool whole>
  __device__ void fetch(const Panel& x, int vector, int first, int lane) {
    const int k = first + lane % 4 * chunk<T>;
    const int line = along_k ? vector + lane / 4 : k;
    const int place = along_k ? k : vector + lane / 4 * chunk<T>;
    const T* const from = static_cast<const T*>(x.large) + line * x.large_ld + place;
#pragma unroll
    for (int r = 0; r < steps * groups; ++r) { // line by line
      const int s = along_k ? r % steps : r / groups, i = along_k ? r / steps : r % groups;
      const int lines = along_k ? i * 8 : s * step<T> + i, on = along_k ? s * step<T> : 0;
      if (!whole) large[s][i] = {};
      if (whole || k + (along_k ? on : lines) < x.k)
        large[s][i] = __ldcs(reinterpret_cast<const uint4*>(from + lines * x.large_ld + on));
    }
#pragma unroll
    for (int s = 0; s < steps; ++s) small[s].template fetch<whole>(x, k + s * step<T>, lane);
  }

  template <int i>
  __device__ static void multiply(float (&sum)[4], const uint4& low, const uint4& high, const uint4 (&large)[groups]) {
    unsigned b[4];
    if constexpr (along_k) {
      b[0] = large[i].x, b[1] = large[i].y, b[2] = large[i].z, b[3] = large[i].w;
    } else {
      column_of<i>(large, b);
    }
    const auto r = [](unsigned bits) { return rounded<T>(bits); };
    multiply_in_warp<T>(sum, r(low.x), r(high.x), r(low.y), r(high.y), r(b[0]), r(b[1]));
    multiply_in_warp<T>(sum, r(low.z), r(high.z), r(low.w), r(high.w), r(b[2]), r(b[3]));
  }
  template <int... i>
  __device__ void add_to(float (&sum)[groups][4], std::integer_sequence<int, i...>) const {
#pragma unroll
    for (int s = 0; s < steps; ++s) (multiply<i>(sum[i], small[s].vector[0], small[s].vector[1], large[s]), ...);
  }
  __device__ void add_to(float (&sum)[groups][4]) const { add_to(sum, std::make_integer_sequence<int, groups>()); }
};

/// A lane's four sums of a group to their results, of vectors from `least` on.
template <class T, class R, bool along_k, Reads reads>
__device__ void store(const Panel& x, const float (&sum)[4], int vector, int least, int group, int lane) {
  const auto place = [&](int e) -> ResultPlace {
    const int column = lane % 4 * 2 + e % 2;
    const int small = SmallChunks<T, reads>::number(lane, e / 2);
    const int large = vector + (along_k ? group * 8 + column : column * chunk<T> + group);
    if (small >= x.small_count || large < least) return {-1, -1};
    return {x.swapped ? large : small, x.swapped ? small : large};
  };
  if (x.finish.wanted) [[unlikely]] {
#pragma unroll 1
    for (int e = 0; e < 4; ++e)
      if (const ResultPlace at = place(e); at.row >= 0) x.finish.store([&](int) { return at; }, {{sum[e]}});
    return;
  }
#pragma unroll
  for (int e = 0; e < 4; ++e) {
    const ResultPlace at = place(e);
    if (at.row < 0) continue;
    R* const c = static_cast<R*>(x.c) + at.row * x.ldc + at.col;
    const float r = x.alpha * sum[e];
    *c = Rounding<R>::round(x.beta == 0 ? r : fused(x.beta, Rounding<R>::value(*c), r));
  }
}

#endif

/// To be launched in clusters of x.parts blocks, one or two to a multiprocessor.
template <class T, bool along_k, Reads reads, int warps>
__global__ void __launch_bounds__(warps * 32, 16 / warps) panel_product(const __grid_constant__ Panel x) {
#if __CUDA_ARCH__ >= 900
  namespace ptx = ::cuda::ptx;
  using B = Batch<T, along_k, reads, steps<T, along_k>>;
  constexpr int depth = steps<T, along_k> * step<T>;
  constexpr int groups = B::groups, places = groups * 32; // of four sums
  extern __shared__ float4 sums[];                        // of the warps, then what the other blocks send
  __shared__ Arrivals arrivals;
  float4* const sent = sums + warps * places;
  const int rank = static_cast<int>(ptx::get_sreg_cluster_ctarank());
  const int warp = static_cast<int>(threadIdx.x) / 32, lane = static_cast<int>(threadIdx.x) % 32;
  launch_dependents();
  if (x.parts > 1) {
    if (threadIdx.x == 0 && rank == 0) arrivals.start((x.parts - 1) * static_cast<int>(sums_bytes<T, along_k>));
    ptx::barrier_cluster_arrive(ptx::sem_relaxed);
  }
  // The last strip begins earlier where it would pass the end, and stores what the one before does not.
  const int least = static_cast<int>(ptx::get_sreg_clusterid_x()) * strip<T, along_k>;
  const int vector = min(least, x.large_count - strip<T, along_k>);
  const int begin = rank * x.each, end = min(begin + x.each, x.k);
  float sum[groups][4]{};
  wait_for_kernel_before();
  int k = begin + warp * depth;
  for (; k + depth <= end; k += warps * depth) {
    B batch;
    batch.template fetch<true>(x, vector, k, lane);
    batch.add_to(sum);
  }
  for (const int last = min(k + depth, end); k < last; k += step<T>) {
    Batch<T, along_k, reads, 1> batch;
    batch.template fetch<false>(x, vector, k, lane);
    batch.add_to(sum);
  }
#pragma unroll
  for (int i = 0; i < groups; ++i) sums[warp * places + i * 32 + lane] = {sum[i][0], sum[i][1], sum[i][2], sum[i][3]};
  __syncthreads();
  if (x.parts > 1) ptx::barrier_cluster_wait(); // who adds is ready to be sent to
  const int own = static_cast<int>(threadIdx.x);
  if (own >= places) return;
  float4 all = sums[own];
  const auto add = [&](const float4& more) {
    all.x += more.x;
    all.y += more.y;
    all.z += more.z;
    all.w += more.w;
  };
#pragma unroll
  for (int w = 1; w < warps; ++w) add(sums[w * places + own]);
  if (rank > 0) return send(place_in(0, sent + (rank - 1) * places + own), all, place_in(0, &arrivals.barrier));
  if (x.parts > 1) {
    arrivals.wait();
    for (int p = 1; p < x.parts; ++p) add(sent[(p - 1) * places + own]);
  }
  const float results[4]{all.x, all.y, all.z, all.w};
  if (sizeof(T) == 2 && x.narrow)
    store<T, T, along_k, reads>(x, results, vector, least, own / 32, lane);
  else
    store<T, float, along_k, reads>(x, results, vector, least, own / 32, lane);
#endif
}

/// How k is shared out. Blocks of 16 warps have a multiprocessor each, of 8 warps half of one.
struct Shares {
  int parts, warps;
};

/// So that most multiprocessors have work in so many clusters as run at once: an H100 has 132, and runs 66, 39, 30 and
/// 15 clusters of 2, 3, 4 and 8 large blocks. More strips share multiprocessors, where one starts or ends while another
/// one reads; but lines along k are read in longer pieces by more warps. Not this device's numbers: the order of the
/// additions depends on the sizes alone.
constexpr Shares shares_of(Index strips, Index k, bool along_k) {
  if (strips > 132) return {1, along_k ? 16 : 8};
  if (k < 512) return {1, 16};
  if (strips > 66) return {2, 8};
  return {strips > 39 ? 2 : strips > 30 ? 3 : strips > 15 ? 4 : most_parts, 16};
}

template <class T, bool along_k, Reads reads, int warps>
Status launch(cudaStream_t stream, const Panel& x, Index strips, const char* name) noexcept {
  constexpr std::size_t third = 76 << 10; // of a multiprocessor's shared memory: see more_than_half
  const ClusterLaunch how{
      .blocks = strips * x.parts,
      .size = x.parts,
      .threads = warps * 32,
      .shared = std::max(warps == 16 ? more_than_half : third, (warps + most_parts - 1) * sums_bytes<T, along_k>),
      .early = true};
  const auto kernel = panel_product<T, along_k, reads, warps>;
  if (Status status = allow_shared(kernel, how.shared, name); !status.ok()) return status;
  return launch_clusters(stream, how, name, kernel, x);
}

template <class T, bool along_k, Reads reads>
Status launch(cudaStream_t stream, Panel& x, const char* name) noexcept {
  const Index strips = ceil_div<Index>(x.large_count, strip<T, along_k>);
  const Shares shares = shares_of(strips, x.k, along_k);
  x.parts = shares.parts;
  x.each = static_cast<int>(ceil_div<Index>(ceil_div<Index>(x.k, x.parts), step<T>)) * step<T>;
  return shares.warps == 8 ? launch<T, along_k, reads, 8>(stream, x, strips, name)
                           : launch<T, along_k, reads, 16>(stream, x, strips, name);
}

bool is_whole(const void* data, Index length, Index ld, Index bytes) noexcept {
  return reinterpret_cast<std::uintptr_t>(data) % 16 == 0 && length * bytes % 16 == 0 && ld * bytes % 16 == 0;
}

/// How an operand is stored: vectors along k.
struct Side {
  const void* data;
  Index ld;
  bool along_k;
  Index count;
};
Side a_of(const GemmCall& call) { return {call.a, call.lda, call.op_a == Op::None, call.m}; }
Side b_of(const GemmCall& call) { return {call.b, call.ldb, call.op_b == Op::Transpose, call.n}; }

template <class T>
Status launch(cudaStream_t stream, const GemmCall& call, const char* name) noexcept {
  const bool swapped = call.n < call.m;
  const Side small = swapped ? b_of(call) : a_of(call), large = swapped ? a_of(call) : b_of(call);
  const bool pairs = !small.along_k && small.count % 2 == 0 && small.ld % 2 == 0 &&
                     reinterpret_cast<std::uintptr_t>(small.data) % (2 * sizeof(T)) == 0;
  const bool chunks = small.along_k && is_whole(small.data, call.k, small.ld, sizeof(T));
  Panel x{.large = large.data,
          .large_ld = large.ld,
          .small = small.data,
          .small_step = small.along_k ? 1 : small.ld,
          .small_apart = small.along_k ? small.ld : 1,
          .small_count = static_cast<int>(small.count),
          .large_count = static_cast<int>(large.count),
          .k = static_cast<int>(call.k),
          .parts = 1,
          .each = 0,
          .swapped = swapped,
          .narrow = call.result != DType::F32,
          .c = call.c,
          .ldc = call.ldc,
          .alpha = static_cast<float>(call.alpha),
          .beta = static_cast<float>(call.beta),
          .finish = Finish<float>(call)};
  const auto launch_with = [&]<Reads reads>() {
    return large.along_k ? launch<T, true, reads>(stream, x, name) : launch<T, false, reads>(stream, x, name);
  };
  return chunks  ? launch_with.template operator()<Reads::Chunks>()
         : pairs ? launch_with.template operator()<Reads::Pairs>()
                 : launch_with.template operator()<Reads::Single>();
}

} // namespace

bool is_panel_product(const GemmCall& call) noexcept {
  constexpr Index least_bytes = 2048; // of the vectors' elements for one k: 16 strips and more
  const Index bytes = static_cast<Index>(size_of(call.type));
  const Side large = call.n < call.m ? a_of(call) : b_of(call);
  return std::min(call.m, call.n) <= few && large.count * bytes >= least_bytes &&
         is_whole(large.data, large.along_k ? call.k : large.count, large.ld, bytes);
}

Status launch_panel_product(cudaStream_t stream, const GemmCall& call, const char* name) noexcept {
  switch (call.type) {
    case DType::BF16:
      return launch<__nv_bfloat16>(stream, call, name);
    case DType::F16:
      return launch<__half>(stream, call, name);
    default:
      return launch<float>(stream, call, name);
  }
}

} // namespace tessera::cuda
