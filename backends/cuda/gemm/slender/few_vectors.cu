#include "cuda/gemm/common/few_vectors.cuh"

#include <algorithm>
#include <cstdint>

#include "cuda/device/status.hpp"
#include "cuda/gemm/common/cluster_send.cuh"
#include "cuda/gemm/common/few_vectors_operands.hpp"
#include "cuda/gemm/common/grid.cuh"
#include "cuda/gemm/common/operands.cuh"
#include "cuda/gemm/common/programmatic_launch.cuh"
#include "few_vectors_reads.cuh"

/// A block has a strip of the large operand's vectors and one part of k, which its warps share. The warps, then the
/// blocks of a cluster, add their sums in an order that depends on the sizes alone. The large operand's bytes are read
/// once.

namespace tessera::cuda {
namespace {

using namespace few_vectors;

constexpr int max_k_parts = 4; ///< parts of k, which are the blocks of a cluster

#if __CUDA_ARCH__ >= 900

/// Stores a lane's four sums of one group. Vectors before `least` belong to another block.
template <class T, class R, bool along_k, Reads reads>
__device__ void store(const MmaParams& x, const float (&sum)[4], int vector, int least, int group, int lane) {
  const auto place = [&](int e) -> ResultPlace {
    const int column = OperandBatch<T, along_k, reads>::vector_of(lane % 4 * 2 + e % 2);
    const int small = SmallChunks<T, reads>::number(lane, e / 2);
    const int large = vector + (along_k ? group * 8 + column : column * chunk<T> + group);
    if (small >= x.small_count || large < least) return {-1, -1};
    return {x.swapped ? large : small, x.swapped ? small : large};
  };
  if (x.epilogue.wanted) [[unlikely]] {
#pragma unroll 1
    for (int e = 0; e < 4; ++e)
      if (const ResultPlace at = place(e); at.row >= 0) x.epilogue.store([&](int) { return at; }, {{sum[e]}});
    return;
  }
#pragma unroll
  for (int e = 0; e < 4; ++e) {
    const ResultPlace at = place(e);
    if (at.row < 0) continue;
    store_rounded(static_cast<R*>(x.c) + at.row * x.ldc + at.col, sum[e], x.alpha, x.beta);
  }
}

#endif

/// The kernel. It is launched in clusters of x.k_parts blocks, one or two blocks on a multiprocessor.
template <class T, bool along_k, Reads reads, int warps>
__global__ void __launch_bounds__(warps * 32, 16 / warps) few_vectors_kernel(const __grid_constant__ MmaParams x) {
#if __CUDA_ARCH__ >= 900
  namespace ptx = ::cuda::ptx;
  using B = OperandBatch<T, along_k, reads>;
  constexpr int depth = B::depth, groups = B::groups, places = groups * 32; // a place holds four sums
  extern __shared__ float4 sums[]; // the warps' sums, then what the other blocks send
  __shared__ Arrivals arrivals;
  float4* const sent = sums + warps * places;
  const int rank = static_cast<int>(ptx::get_sreg_cluster_ctarank());
  const int warp = static_cast<int>(threadIdx.x) / 32, lane = static_cast<int>(threadIdx.x) % 32;
  launch_dependents();
  if (x.k_parts > 1) {
    if (threadIdx.x == 0 && rank == 0) arrivals.start((x.k_parts - 1) * static_cast<int>(sums_bytes<T, along_k>));
    ptx::barrier_cluster_arrive(ptx::sem_relaxed);
  }
  // The last strip begins earlier where it would pass the end, and does not store what the strip before it stores.
  const int least = static_cast<int>(ptx::get_sreg_clusterid_x()) * strip<T, along_k>;
  const int vector = min(least, x.large_count - strip<T, along_k>);
  const int begin = rank * x.k_per_part, end = min(begin + x.k_per_part, x.k);
  float sum[groups][4]{};
  wait_for_kernel_before();
  int k = begin + warp * depth;
  for (; k + depth <= end; k += warps * depth) {
    B batch;
    batch.template fetch<true>(x, vector, k, lane);
    batch.add_to(sum, lane);
  }
  if (k < end) {
    B batch;
    batch.template fetch<false>(x, vector, k, lane);
    batch.add_to(sum, lane);
  }
#pragma unroll
  for (int i = 0; i < groups; ++i) sums[warp * places + i * 32 + lane] = {sum[i][0], sum[i][1], sum[i][2], sum[i][3]};
  __syncthreads();
  if (x.k_parts > 1) ptx::barrier_cluster_wait(); // the block that adds is ready to receive
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
  if (x.k_parts > 1) {
    arrivals.wait();
    for (int p = 1; p < x.k_parts; ++p) add(sent[(p - 1) * places + own]);
  }
  const float results[4]{all.x, all.y, all.z, all.w};
  if (sizeof(T) == 2 && x.narrow)
    store<T, T, along_k, reads>(x, results, vector, least, own / 32, lane);
  else
    store<T, float, along_k, reads>(x, results, vector, least, own / 32, lane);
#endif
}

/// Describes how k is shared out. A block of 16 warps has a multiprocessor to itself, a block of 8 warps has half of
/// one.
struct SplitK {
  int k_parts, warps;
};

/// Chooses the parts so that most multiprocessors have work in the clusters that run at once: an H100 has 132
/// multiprocessors and runs 66, 39 and 30 clusters of 2, 3 and 4 large blocks; there are never fewer than 16 strips
/// (is_few_vectors). If there are more strips than that, blocks share multiprocessors, so that one starts or ends while
/// another one reads; but lines along k are read in longer pieces by more warps. The numbers are an H100's and not the
/// device's, because the order of the additions must depend on the sizes alone.
constexpr SplitK split_k_of(Index strips, Index k, bool along_k) {
  if (strips > 132) return {1, along_k ? 16 : 8};
  if (k < 512) return {1, 16};
  if (strips > 66) return {2, 8};
  return {strips > 39 ? 2 : strips > 30 ? 3 : max_k_parts, 16};
}

template <class T, bool along_k, Reads reads, int warps>
Status launch(cudaStream_t stream, const MmaParams& x, Index strips, const char* name) noexcept {
  constexpr std::size_t third = 76 << 10; // a third of a multiprocessor's shared memory; compare more_than_half
  const Launch how{
      .blocks = strips * x.k_parts,
      .threads = warps * 32,
      .shared = std::max(warps == 16 ? more_than_half : third, (warps + max_k_parts - 1) * sums_bytes<T, along_k>),
      .programmatic = true,
      .cluster = x.k_parts};
  const auto kernel = few_vectors_kernel<T, along_k, reads, warps>;
  if (Status status = allow_shared(kernel, how.shared, name); !status.ok()) return status;
  return launch_kernel(stream, how, name, kernel, x);
}

template <class T, bool along_k, Reads reads>
Status launch(cudaStream_t stream, MmaParams& x, const char* name) noexcept {
  const Index strips = ceil_div<Index>(x.large_count, strip<T, along_k>);
  const SplitK split = split_k_of(strips, x.k, along_k);
  x.k_parts = split.k_parts;
  constexpr int depth = steps<T, along_k> * step<T>; // parts end where batches end
  x.k_per_part = ceil_div(ceil_div(x.k, x.k_parts), depth) * depth;
  return split.warps == 8 ? launch<T, along_k, reads, 8>(stream, x, strips, name)
                          : launch<T, along_k, reads, 16>(stream, x, strips, name);
}

template <class T>
Status launch(cudaStream_t stream, const GemmCall& call, const char* name) noexcept {
  const auto [swapped, small, large] = Operands(call);
  const bool pairs = !small.along_k && small.count % 2 == 0 && small.ld % 2 == 0 &&
                     reinterpret_cast<std::uintptr_t>(small.data) % (2 * sizeof(T)) == 0;
  const bool chunks = small.along_k && is_whole(small.data, call.k, small.ld, sizeof(T));
  MmaParams x{.large = large.data,
              .large_ld = large.ld,
              .small = small.data,
              .small_step = small.along_k ? 1 : small.ld,
              .small_apart = small.along_k ? small.ld : 1,
              .small_count = static_cast<int>(small.count),
              .large_count = static_cast<int>(large.count),
              .k = static_cast<int>(call.k),
              .k_parts = 1,
              .k_per_part = 0,
              .swapped = swapped,
              .narrow = call.result != DType::F32,
              .c = call.c,
              .ldc = call.ldc,
              .alpha = static_cast<float>(call.alpha),
              .beta = static_cast<float>(call.beta),
              .epilogue = EpilogueStore<float>(call)};
  const auto launch_with = [&, along_k = large.along_k]<Reads reads>() {
    return along_k ? launch<T, true, reads>(stream, x, name) : launch<T, false, reads>(stream, x, name);
  };
  return chunks  ? launch_with.template operator()<Reads::Chunks>()
         : pairs ? launch_with.template operator()<Reads::Pairs>()
                 : launch_with.template operator()<Reads::Single>();
}

} // namespace

bool is_few_vectors(const GemmCall& call) noexcept {
  constexpr Index least_bytes = 2048; // bytes of the vectors' elements for one k, which are at least 16 strips
  const Index bytes = static_cast<Index>(size_of(call.type));
  const auto [swapped, small, large] = Operands(call);
  return small.count <= few && large.count * bytes >= least_bytes &&
         is_whole(large.data, large.along_k ? call.k : large.count, large.ld, size_of(call.type));
}

Status launch_few_vectors(cudaStream_t stream, const GemmCall& call, const char* name) noexcept {
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
