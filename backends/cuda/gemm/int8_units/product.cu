/// The products of planes. Persistent blocks have a producer warp and two consumer warpgroups, as in wgmma_packed: bulk
/// copies bring whole blocks of the planes through a ring of stages, and each consumer multiplies 64 rows by 256
/// columns. The two blocks of a cluster, one below the other, share the panel of op(B).
///
/// Three launches do this. The first one multiplies the sizes of a part of k, which nearly always shows that all
/// elements of a tile are certain, because sums of sizes only grow. The second one multiplies all sizes of the other
/// tiles, and flags elements that are not certain. The third one multiplies the residues, except of tiles without an
/// element that is certain. Source: NVIDIA CUTLASS for warp specialisation.

#include "product.cuh"

#include <algorithm>

#include "certificates.cuh"
#include "cuda/device/shared_memory.hpp"
#include "cuda/gemm/common/programmatic_launch.cuh"
#include "stage_reader.cuh"

namespace tessera::cuda::int8_units {
namespace {

#if defined(__CUDA_ARCH_FEAT_SM90_ALL)

template <Work work>
__device__ void produce(const PlaneProduct& x, char* stages_at, Shared& shared, unsigned rank) {
  Ring ring;
  Barriers& barriers = shared.barriers;
  const int clusters = static_cast<int>(gridDim.x) / cluster, all = x.tiles_m * x.tiles_n * x.planes;
  constexpr unsigned block_bytes = planes * plane_bytes;
  constexpr std::uint16_t all_blocks = (1u << cluster) - 1;
  for (int index = static_cast<int>(blockIdx.x) / cluster; index < all; index += clusters) {
    const auto tile = WorkTile::of(x, index);
    if (!tile.is_needed<work>(x)) continue;
    // Each block of the cluster brings the panel of its rows, and one of the two panels of columns for both.
    const Index first = x.blocks * Index{block_bytes}, plane = (x.first_plane + tile.plane) * Index{plane_bytes};
    const char* a = x.a + (Index{tile.row} * cluster + rank) * first + plane;
    const char* b = x.b + (Index{tile.col} * cluster + rank) * first + plane;
    for (int k = 0; k < x.blocks_used; ++k, ring.advance(), a += block_bytes, b += block_bytes) {
      wait(barriers.empty[ring.stage], ring.phase ^ 1);
      if (k == 0) shared.tile[ring.stage] = tile;
      std::uint64_t* full = &barriers.full[ring.stage];
      wgmma::expect(full, stage_bytes);
      char* stage = stages_at + ring.stage * stage_bytes;
      wgmma::fetch(stage, a, a_bytes, full);
      wgmma::fetch(stage + a_bytes + rank * plane_bytes, b, plane_bytes, full, all_blocks);
    }
  }
  wait(barriers.empty[ring.stage], ring.phase ^ 1);
  shared.tile[ring.stage] = {-1, 0, 0};
  wgmma::expect(&barriers.full[ring.stage], 0);
}

/// Keeps a byte of each sum: the residue times its factor. Sums of later segments are added to what is there.
template <bool is_first>
__device__ void store_residues(const PlaneProduct& x, const Place& place, int plane, const int (&sum)[128]) {
  const Reduction r = x.reductions.plane[plane];
  char* const to = x.results.data + plane * tile_bytes + Results::offset_of(place.tile, place.piece, 0, place.lane);
#pragma unroll
  for (int vector = 0; vector < 8; ++vector) {
    unsigned word[4] = {};
    if constexpr (!is_first) {
      const uint4 before = *reinterpret_cast<const uint4*>(to + vector * 512);
      word[0] = before.x;
      word[1] = before.y;
      word[2] = before.z;
      word[3] = before.w;
    }
#pragma unroll
    for (int w = 0; w < 4; ++w) {
      unsigned byte[4];
#pragma unroll
      for (int i = 0; i < 4; ++i) {
        const int e = (vector % 4 * 8 + 2 * w + i / 2) * 4 + vector / 4 * 2 + i % 2;
        int base = r.base;
        if constexpr (!is_first) base += static_cast<signed char>(word[w] >> 8 * i & 255);
        const int weighted = add_bytes(static_cast<unsigned>(sum[e]) ^ 0x80000000u, r.weights[0], base);
        byte[i] = static_cast<unsigned>(remainder_of(weighted, r.inverse, r.shift, r.modulus));
      }
      word[w] = low_bytes(byte[0], byte[1], byte[2], byte[3]);
    }
    *reinterpret_cast<uint4*>(to + vector * 512) = make_uint4(word[0], word[1], word[2], word[3]);
  }
}

template <Work work>
__device__ void consume(const PlaneProduct& x, const char* stages_at, Shared& shared, Needs& needs, unsigned rank) {
  StageReader reader(stages_at, shared);
  while (true) {
    const WorkTile tile = reader.next_tile();
    if (tile.plane < 0) return;
    for (int begin = 0; begin < x.blocks_used; begin += segment_blocks) {
      const int end = min(x.blocks_used, begin + static_cast<int>(segment_blocks));
      int sum[128];
      int before = reader.multiply_next(sum, 0);
      for (int k = begin + 1; k < end; ++k) {
        const int stage = reader.multiply_next(sum, 1);
        wait_for_products<1>();
        reader.release(before);
        before = stage;
      }
      wait_for_products<0>();
      reader.release(before);
      const Place place(x, tile, rank);
      if constexpr (work == Work::FirstSizes) {
        needs.fill(x, tile, rank);
        decide_early(x, place, needs, sum);
      } else if constexpr (work == Work::AllSizes) {
        decide(x, place, sum, begin == 0, end == x.blocks_used);
      } else if (begin == 0) {
        store_residues<true>(x, place, tile.plane, sum);
      } else {
        store_residues<false>(x, place, tile.plane, sum);
      }
    }
  }
}

#endif

/// The kernel. It is launched in clusters of two blocks.
template <Work work>
__global__ void __launch_bounds__(wgmma::threads, 1) multiply_planes_of_8_bits(const __grid_constant__ PlaneProduct x) {
#if defined(__CUDA_ARCH_FEAT_SM90_ALL)
  namespace ptx = ::cuda::ptx;
  extern __shared__ __align__(1024) char stages_at[];
  __shared__ Shared shared;
  __shared__ Needs needs;
  const unsigned rank = ptx::get_sreg_cluster_ctarank();
  launch_dependents();
  if (threadIdx.x == 0) shared.barriers.start();
  ptx::barrier_cluster_arrive();
  ptx::barrier_cluster_wait();
  wait_for_kernel_before();
  if (threadIdx.x < 128) {
    asm volatile("setmaxnreg.dec.sync.aligned.u32 40;");
    if (threadIdx.x == 0) produce<work>(x, stages_at, shared, rank);
  } else {
    asm volatile("setmaxnreg.inc.sync.aligned.u32 232;");
    consume<work>(x, stages_at, shared, needs, rank);
  }
  __syncwarp();
  // A block must not end while the other block may still write into its shared memory.
  ptx::barrier_cluster_arrive();
  ptx::barrier_cluster_wait();
#endif
}

template <Work work>
Status launch_products(cudaStream_t stream, const PlaneProduct& x, Index clusters) {
  constexpr const char* name = "int8_units";
  const auto kernel = multiply_planes_of_8_bits<work>;
  if (Status status = allow_most_shared(kernel, name); !status.ok()) return status;
  const Launch how{.blocks = std::min(Index{x.tiles_m} * x.tiles_n * x.planes, clusters) * cluster,
                   .threads = wgmma::threads,
                   .shared = stages * stage_bytes,
                   .programmatic = true,
                   .cluster = cluster};
  return launch_kernel(stream, how, name, kernel, x);
}

/// Returns how many blocks of k the first launch multiplies: an eighth of them, but at least 256 steps.
Index blocks_of_first_sizes(Index blocks) {
  return std::min(std::max<Index>(2, blocks / 8), first_sizes_most / block_k);
}

} // namespace

Status multiply_planes(cudaStream_t stream, const Lines& a, const Lines& b, int bits, const Results& results,
                       Index clusters) {
  PlaneProduct x{.a = a.data,
                 .b = b.data,
                 .first_plane = sizes_plane,
                 .a_facts = a.facts,
                 .b_facts = b.facts,
                 .bits = bits,
                 .blocks = static_cast<int>(a.blocks),
                 .blocks_used = static_cast<int>(blocks_of_first_sizes(a.blocks)),
                 .tiles_m = static_cast<int>(results.tiles_m / cluster),
                 .tiles_n = static_cast<int>(results.tiles_n),
                 .planes = 1,
                 .results = results};
  if (Status status = launch_products<Work::FirstSizes>(stream, x, clusters); !status.ok()) return status;
  x.blocks_used = x.blocks;
  if (Status status = launch_products<Work::AllSizes>(stream, x, clusters); !status.ok()) return status;
  x.first_plane = 0;
  x.planes = residues;
  return launch_products<Work::Residues>(stream, x, clusters);
}

} // namespace tessera::cuda::int8_units
