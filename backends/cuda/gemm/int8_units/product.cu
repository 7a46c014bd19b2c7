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

#include "cuda/device/shared_memory.hpp"
#include "cuda/device/status.hpp"
#include "cuda/gemm/common/programmatic_launch.cuh"
#include "cuda/gemm/common/raster_order.hpp"
#include "cuda/gemm/common/wgmma_pipeline.cuh"
#include "multiply_s8.cuh"

namespace tessera::cuda::int8_units {
namespace {

using wgmma::consumers;

/// What a launch multiplies.
enum class Work { FirstSizes, AllSizes, Residues };

constexpr unsigned a_bytes = plane_bytes, b_bytes = 2 * plane_bytes, stage_bytes = a_bytes + b_bytes;
constexpr int stages = 4;
constexpr int consumer_threads = consumers * 128;
constexpr int raster_height = 8; ///< rows of clusters' tiles that follow one another, and share op(B) in the L2 cache

/// Reductions of all planes, among the parameters, because a block has planes in turn.
struct PlaneReductions {
  Reduction plane[residues];

  PlaneReductions() {
    for (int l = 0; l < residues; ++l) plane[l] = reduction_of_sums(l);
  }
};

struct PlaneProduct {
  const char *a, *b;
  int first_plane;
  const Facts *a_facts, *b_facts;
  int bits;
  int blocks;           ///< of k, that the operands have
  int blocks_used;      ///< the first ones, which are multiplied
  int tiles_m, tiles_n; ///< of clusters
  int planes;
  Results results;
  PlaneReductions reductions = {};
};

/// The certificate of sums of some sizes: an element is certain if its sum is at least the sum of both lines' needs. It
/// asks for a bit more than int8::is_certain does. Sums are below `capped`.
constexpr int capped = (1 << 28) + 1;
__device__ int need_of(const Facts& facts, int bits, bool of_row) {
  if (!facts.fits()) return 1 << 29; // more than any sum, beside a line of zeros too
  if (facts.largest == 0) return -capped;
  const unsigned long long total = (facts.size_sum + facts.nonzeros + of_row) << (59 - bits);
  return static_cast<int>(min((total + 1021) / 1022, static_cast<unsigned long long>(capped)));
}
constexpr Index first_sizes_most = 16384; ///< steps of k: 127² of each stay below 2²⁸

#if defined(__CUDA_ARCH_FEAT_SM90_ALL)

using Ring = cuda::Ring<stages>;
using Barriers = wgmma::Barriers<stages>;

/// A cluster's unit of work: a plane of one tile. The producer tells it to the consumers with the tile's first stage.
struct alignas(16) WorkTile {
  int plane;    ///< negative: there is no more work
  int row, col; ///< of the cluster's tile

  __device__ static WorkTile of(const PlaneProduct& x, int index) {
    const int tiles = x.tiles_m * x.tiles_n;
    const TilePlace place = raster_place(index % tiles, x.tiles_m, x.tiles_n, raster_height);
    return {index / tiles, static_cast<int>(place.row), static_cast<int>(place.col)};
  }

  /// Says whether the launch has to multiply the tile.
  template <Work work>
  __device__ bool is_needed(const PlaneProduct& x) const {
    if constexpr (work == Work::FirstSizes) return true;
    bool needed = false;
#pragma unroll
    for (int rank = 0; rank < cluster; ++rank) {
      const Index tile_row = Index{row} * cluster + rank;
      const TileState state = x.results.states[x.results.tile_of(tile_row, col)];
      if (tile_row * tile_m < x.results.m)
        needed = needed || (work == Work::AllSizes ? (state.bits & TileState::undecided) != 0 : !state.is_strict());
    }
    return needed;
  }
};

/// What a block has in shared memory beside the stages.
struct Shared {
  Barriers barriers;
  WorkTile tile[stages]; ///< of the stages that are a tile's first ones
};

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

/// The ring as a consumer sees it. All places are addresses in shared memory, kept in registers.
class StageReader {
 public:
  __device__ StageReader(const char* stages_at, Shared& shared)
      : stages_(shared_address(stages_at)),
        full_(shared_address(&shared.barriers.full[0])),
        tiles_(shared.tile),
        a_(stages_ + (threadIdx.x / 128 - 1) * 64 * block_k) {
    const int lane = static_cast<int>(threadIdx.x) % 32;
    releases_ = lane < cluster;
    asm volatile("mapa.shared::cluster.u32 %0, %1, %2;"
                 : "=r"(empty_)
                 : "r"(shared_address(&shared.barriers.empty[0])), "r"(releases_ != 0 ? lane : 0));
    asm volatile("" : "+r"(stages_), "+r"(full_), "+r"(a_.low), "+r"(empty_));
  }

  /// Waits for the next stage, which is a tile's first one, and returns the tile.
  __device__ WorkTile next_tile() const {
    wait_at(full_ + ring_.stage * 8, ring_.phase);
    const auto [plane, row, col] = tiles_[ring_.stage];
    return {__shfl_sync(~0U, plane, 0), __shfl_sync(~0U, row, 0), __shfl_sync(~0U, col, 0)};
  }
  /// Waits for the next stage and starts its products. Returns the stage.
  __device__ int multiply_next(int (&sum)[128], int accumulate) {
    wait_at(full_ + ring_.stage * 8, ring_.phase);
    begin_products();
    const Descriptor b(stages_ + a_bytes);
#pragma unroll
    for (int step = 0; step < block_k / 32; ++step) {
      multiply_s8(sum, a_.at(next_, step * 256), b.at(next_, step * 256), accumulate);
      accumulate = 1;
    }
    commit_products();
    const int stage = ring_.stage;
    ring_.advance();
    next_ = ring_.stage == 0 ? 0 : next_ + stage_bytes / 16;
    return stage;
  }
  /// Tells the producers of the cluster that a warp has read the stage. There is no branch, in which the compiler would
  /// wait for products.
  __device__ void release(int stage) const {
    asm volatile(
        "{ .reg .pred releases; setp.ne.b32 releases, %1, 0; @releases mbarrier.arrive.shared::cluster.b64 _, [%0]; "
        "}" ::"r"(empty_ + stage * 8),
        "r"(releases_)
        : "memory");
  }

 private:
  using Descriptor = PackedDescriptor<8 * block_k>;

  unsigned stages_, full_;
  const WorkTile* tiles_;
  Descriptor a_;
  unsigned empty_;
  int releases_;
  Ring ring_;
  unsigned next_ = 0; ///< the next stage's distance from the first, in vectors of 16 bytes
};

/// The place of a consumer's results: its tile, and its piece of it.
struct Place {
  Index tile, row, col; ///< row and column of the thread's first result
  int piece, lane;

  __device__ Place(const PlaneProduct& x, const WorkTile& work, unsigned rank) {
    const int thread = static_cast<int>(threadIdx.x) - 128;
    const Index tile_row = Index{work.row} * cluster + rank;
    piece = thread / 32;
    lane = thread % 32;
    tile = x.results.tile_of(tile_row, work.col);
    row = tile_row * tile_m + piece * piece_rows + lane / 4;
    col = Index{work.col} * tile_n + lane % 4 * 2;
  }
};

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

__device__ void meet_consumers() { asm volatile("bar.sync 1, %0;" ::"n"(consumer_threads) : "memory"); }

/// The needs of a tile's lines, in shared memory.
struct Needs {
  int row[tile_m], column[tile_n];

  __device__ void fill(const PlaneProduct& x, const WorkTile& work, unsigned rank) {
    meet_consumers(); // all of them have read the needs of the tile before
    const int thread = static_cast<int>(threadIdx.x) - 128;
    static_assert(consumer_threads == tile_n);
    column[thread] = need_of(x.b_facts[Index{work.col} * tile_n + thread], x.bits, false);
    if (thread < tile_m)
      row[thread] = need_of(x.a_facts[(Index{work.row} * cluster + rank) * tile_m + thread], x.bits, true);
    meet_consumers();
  }
};

/// Marks the tile where sums of some sizes do not show that all elements are certain.
__device__ void decide_early(const PlaneProduct& x, const Place& place, const Needs& needs, const int (&sum)[128]) {
  int least[2] = {INT_MAX, INT_MAX};
#pragma unroll
  for (int e = 0; e < 128; e += 4) {
    const int2 need = *reinterpret_cast<const int2*>(&needs.column[e / 4 * 8 + place.lane % 4 * 2]);
#pragma unroll
    for (int i = 0; i < 4; ++i) least[i / 2] = min(least[i / 2], sum[e + i] - (i % 2 == 0 ? need.x : need.y));
  }
  const int row = place.piece * piece_rows + place.lane / 4;
  const bool shown = least[0] >= needs.row[row] && least[1] >= needs.row[row + 8];
  if (!__all_sync(~0U, shown) && place.lane == 0) atomicOr(&x.results.states[place.tile].bits, TileState::undecided);
}

/// Flags elements that are not certain, and says in the tile's state whether there are any.
__device__ void decide(const PlaneProduct& x, const Place& place, const int (&sum)[128], bool is_first, bool is_last) {
  int held[128]; // in local memory, because the loops are not unrolled
#pragma unroll
  for (int e = 0; e < 128; ++e) held[e] = sum[e];
  long long* const totals = x.results.size_sums;
  const Index thread = place.tile * tile_bytes + place.piece * piece_bytes + place.lane;
  unsigned found = 0;
#pragma unroll 1
  for (int vector = 0; vector < 8; ++vector) {
    const int half = vector / 4, quarter = vector % 4;
    const Index row = place.row + 8 * half;
    const int8::Line of_row = x.a_facts[row].line();
    unsigned word[4] = {};
#pragma unroll 1
    for (int i = 0; i < 16; ++i) {
      const int e = (quarter * 8 + i / 2) * 4 + half * 2 + i % 2;
      const Index col = place.col + quarter * quarter_n + i / 2 * 8 + i % 2;
      long long sizes = held[e];
      if (!is_first) sizes += totals[thread + 32 * e];
      if (!is_last) {
        totals[thread + 32 * e] = sizes;
        continue;
      }
      if (row >= x.results.m || col >= x.results.n) continue;
      if (int8::is_certain(of_row, x.b_facts[col].line(), sizes, x.bits)) {
        found |= TileState::has_certain(quarter);
      } else {
        found |= TileState::has_uncertain(quarter);
        word[i / 4] |= 1u << i % 4 * 8;
      }
    }
    if (is_last)
      *reinterpret_cast<uint4*>(x.results.data + sizes_plane * tile_bytes +
                                Results::offset_of(place.tile, place.piece, vector, place.lane)) =
          make_uint4(word[0], word[1], word[2], word[3]);
  }
  found = __reduce_or_sync(~0U, found);
  if (place.lane == 0 && found != 0) atomicOr(&x.results.states[place.tile].bits, found);
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
