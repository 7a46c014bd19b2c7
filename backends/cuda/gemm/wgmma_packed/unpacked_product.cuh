#pragma once

/// The kernel of emulated_fp16x3 for an operand that is read once, or a few times, from where it is, while the other
/// one is small: weights and the activations of a batch.
///
/// Persistent blocks have two producer warps and two consumer warpgroups with 64 rows each. Tensor maps bring f32 boxes
/// of the large operand, and bulk copies the packed panel of the small one. A consumer reads a chunk of 128 k twice: to
/// find the scales of its rows, while the chunk before is multiplied, and to split them into fragments, which the
/// matrix units take from registers. The two blocks of a cluster share either the panel or the tile of the large
/// operand: each fetches half of it for both.
///
/// Lines may be marked as unfit after other blocks have stored results. So results go to C only if the strict product,
/// which then computes those lines again, does not read C; otherwise they go to planes of sums. Sources: NVIDIA CUTLASS
/// for products of mixed types by way of registers; Ootomo and Yokota (2022).

#include "cuda/gemm/common/programmatic_launch.cuh"
#include "unpacked_fragments.cuh"
#include "unpacked_work.cuh"

namespace tessera::cuda::wgmma::unpacked {

#if defined(__CUDA_ARCH_FEAT_SM90_ALL)

/// Starts the copies of one block's rows of the large operand, for itself or for the whole cluster.
template <Major major>
__device__ void fetch_large(const UnpackedProduct& x, const Work& work, unsigned rank, int k, char* large,
                            std::uint64_t* full) {
  constexpr int rows = major == Major::K ? box_rows : 32, boxes = tile_m / rows;
  constexpr std::uint16_t all_blocks = (1u << cluster) - 1;
#pragma unroll
  for (int box = 0; box < boxes; ++box) {
    const int there = work.there - box * rows;
    if (there <= 0 || (x.shares_large && box * cluster / boxes != static_cast<int>(rank))) continue;
    const CUtensorMap* map = major == Major::K && there < rows ? &x.edge : &x.map;
    const int row = work.row + box * rows;
    const int place[3]{major == Major::K ? k * block_k : row, major == Major::K ? row : k * block_k, 0};
    char* const to = large + box * rows * 128;
    if (x.shares_large)
      ptx::cp_async_bulk_tensor(ptx::space_cluster, ptx::space_global, to, map, place, full, all_blocks);
    else
      ptx::cp_async_bulk_tensor(ptx::space_cluster, ptx::space_global, to, map, place, full);
  }
}

template <class S>
__device__ void fetch_small(const UnpackedProduct& x, const Work& work, unsigned rank, int k, char* small,
                            std::uint64_t* full) {
  const char* const from = x.small + (static_cast<Index>(work.panel) * x.blocks + k) * S::small_bytes;
  constexpr unsigned half = S::small_bytes / cluster;
  constexpr std::uint16_t all_blocks = (1u << cluster) - 1;
  if (x.shares_large)
    fetch(small, from, S::small_bytes, full);
  else
    fetch(small + rank * half, from + rank * half, half, full, all_blocks);
}

/// Calls f(work) for each unit of this cluster.
template <class F>
__device__ void for_work(const UnpackedProduct& x, unsigned rank, F f) {
  const int clusters = static_cast<int>(gridDim.x) / cluster, all = Work::count(x);
  for (int index = static_cast<int>(blockIdx.x) / cluster; index < all; index += clusters) f(Work(x, index, rank));
}

/// Fetches the large operand. It was complete before the kernel that packs the small one began; so it is fetched while
/// that kernel still runs.
template <class S, Major major>
__device__ void produce_large(const UnpackedProduct& x, char* shared, RingBarriers<S::large_count>& barriers,
                              unsigned rank) {
  Ring<S::large_count> ring;
  for_work(x, rank, [&](const Work& work) {
    const int there = max(work.there, 0);
    const int lines = major == Major::K ? there : ceil_div(there, 32) * 32;
    for (int k = work.begin; k < work.end; ++k, ring.advance()) {
      wait(barriers.empty[ring.stage], ring.phase ^ 1);
      std::uint64_t* const full = &barriers.full[ring.stage];
      expect(full, static_cast<unsigned>(lines) * 128);
      fetch_large<major>(x, work, rank, k, S::large(shared, ring.stage), full);
    }
  });
}

template <class S>
__device__ void produce_small(const UnpackedProduct& x, char* shared, RingBarriers<S::small_count>& barriers,
                              unsigned rank) {
  Ring<S::small_count> ring;
  wait_for_kernel_before();
  for_work(x, rank, [&](const Work& work) {
    for (int k = work.begin; k < work.end; ++k, ring.advance()) {
      wait(barriers.empty[ring.stage], ring.phase ^ 1);
      std::uint64_t* const full = &barriers.full[ring.stage];
      expect(full, S::small_bytes);
      fetch_small<S>(x, work, rank, k, S::small(shared, ring.stage), full);
    }
  });
}

/// Issues the products of one stage, in the order of chunk_scales.cuh. `swapped` says that the large operand is op(B).
template <class S, bool swapped>
__device__ void multiply_stage(float (&sum)[S::tile_n / 2], const Fragments<S::terms>& large, const char* packed) {
  const OperandDescriptor small(packed, 128, 8 * block_k * 2);
#pragma unroll
  for (int step = 0; step < block_k / 16; ++step) {
    const std::uint64_t high = small.at(step * 256);
    const unsigned* const large_high = large.high + step * 4;
    if constexpr (S::terms == 2) {
      const std::uint64_t low = small.at(S::term_bytes + step * 256);
      const unsigned* const large_low = large.low + step * 4;
      multiply_fp16<S::tile_n>(sum, swapped ? large_high : large_low, swapped ? low : high, 1);
      multiply_fp16<S::tile_n>(sum, swapped ? large_low : large_high, swapped ? high : low, 1);
    }
    multiply_fp16<S::tile_n>(sum, large_high, high, 1);
  }
}

template <class S, Major major, bool swapped>
__device__ void consume(const UnpackedProduct& x, char* shared, RingBarriers<S::large_count>& large,
                        RingBarriers<S::small_count>& small, unsigned rank) {
  constexpr int count = S::tile_n / 2;
  const int lane = static_cast<int>(threadIdx.x) % 32, warp = static_cast<int>(threadIdx.x) / 32 - 4;
  const LaneRows<major> rows(warp, lane);
  Ring<S::large_count> ring, search;
  Ring<S::small_count> small_ring;
  wait_for_kernel_before();
  for_work(x, rank, [&](const Work& work) {
    Index plane = work.slice == 0 ? 0 : 1 + x.cut.first(work.slice) - x.cut.first(1);
    VectorTotals<count> totals(x.blocks);
    float largest[2]{}; // of the next chunk
    const auto find_largest = [&] {
      wait(large.full[search.stage], search.phase);
      rows.find_largest(S::large(shared, search.stage), largest);
      search.advance();
    };
    for (int block = work.begin; block < min(work.end, work.begin + S::chunk_blocks); ++block) find_largest();
    for (int k = work.begin; k < work.end;) {
      const int end = min(work.end, k + x.segment_blocks);
      float sum[count];
      float carried[count];
#pragma unroll
      for (float& value : carried) value = 0;
      while (k < end) {
        float scale[2], factor[2];
#pragma unroll
        for (int r = 0; r < 2; ++r) {
          largest[r] = larger(largest[r], __shfl_xor_sync(~0U, largest[r], 1));
          largest[r] = larger(largest[r], __shfl_xor_sync(~0U, largest[r], 2));
          const unsigned bits = __float_as_uint(largest[r]);
          const ChunkScale chunk(bits);
          scale[r] = chunk.scale;
          factor[r] = chunk.factor;
          if (bits >= infinity_bits && rows.row(r) < work.there) [[unlikely]] {
            const int line = work.row + rows.row(r);
            swapped ? x.unfit.mark_column(line) : x.unfit.mark_row(line);
          }
          largest[r] = 0;
        }
        const int stop = min(end, k + S::chunk_blocks);
        begin_chunk(sum);
        int before = -1, small_before = 0; // the stages whose products may still run
        const auto step = [&](Fragments<S::terms>& fragments) {
          wait(small.full[small_ring.stage], small_ring.phase);
          rows.load(S::large(shared, ring.stage), scale, fragments);
          begin_products();
          multiply_stage<S, swapped>(sum, fragments, S::small(shared, small_ring.stage));
          commit_products();
          wait_for_products<1>();
          if (before >= 0) {
            large.release(before, lane, x.shares_large);
            small.release(small_before, lane, !x.shares_large);
          }
          before = ring.stage;
          small_before = small_ring.stage;
          ring.advance();
          small_ring.advance();
          if (k + S::chunk_blocks < work.end) find_largest(); // the block of the next chunk in this place
          ++k;
        };
        // The fragments of the next products are read while the products before run.
        Fragments<S::terms> even, odd;
        while (true) {
          step(even);
          if (k == stop) break;
          step(odd);
          if (k == stop) break;
        }
        wait_for_products<0>();
        large.release(before, lane, x.shares_large);
        const auto* const factors =
            reinterpret_cast<const float*>(S::small(shared, small_before) + S::terms * S::term_bytes);
#pragma unroll
        for (int column = 0; column < S::tile_n; column += 32)
          if (isnan(factors[column + lane])) [[unlikely]] {
            const int line = work.panel * S::tile_n + column + lane;
            swapped ? x.unfit.mark_row(line) : x.unfit.mark_column(line);
          }
        const float* const own = factors + lane % 4 * 2;
        add_chunk(carried, sum, factor, [&](int e) { return *reinterpret_cast<const float2*>(own + e * 2); });
        __syncwarp(); // all lanes have read the factors
        small.release(small_before, lane, !x.shares_large);
      }
      if (!complete_segment(carried, totals, work.slice, k <= x.segment_blocks, k == work.end)) continue;
      store(x, {work.row + rows.row(0), work.row + rows.row(1)}, work.panel * S::tile_n + lane % 4 * 2, plane, swapped,
            carried);
      ++plane;
    }
  });
}

#endif

/// The kernel. It is launched in clusters of two blocks. `swapped`: the large operand is op(B).
template <int tile_n, int terms, Major major, bool swapped>
__global__ void __launch_bounds__(threads, 1) product(const __grid_constant__ UnpackedProduct x) {
#if defined(__CUDA_ARCH_FEAT_SM90_ALL)
  using S = Stages<tile_n, terms>;
  extern __shared__ __align__(1024) char shared[];
  __shared__ RingBarriers<S::large_count> large;
  __shared__ RingBarriers<S::small_count> small;
  const unsigned rank = ptx::get_sreg_cluster_ctarank();
  if (threadIdx.x == 0) {
    large.start(x.shares_large);
    small.start(!x.shares_large);
  }
  ptx::barrier_cluster_arrive();
  ptx::barrier_cluster_wait();
  if (threadIdx.x < 128) {
    asm volatile("setmaxnreg.dec.sync.aligned.u32 40;");
    if (threadIdx.x < 32 && elected()) produce_large<S, major>(x, shared, large, rank);
    if (threadIdx.x / 32 == 1 && elected()) produce_small<S>(x, shared, small, rank);
  } else {
    asm volatile("setmaxnreg.inc.sync.aligned.u32 232;");
    consume<S, major, swapped>(x, shared, large, small, rank);
  }
  __syncwarp();
  // A block must not end while the other block may still write into its shared memory.
  ptx::barrier_cluster_arrive();
  ptx::barrier_cluster_wait();
#endif
}

} // namespace tessera::cuda::wgmma::unpacked
