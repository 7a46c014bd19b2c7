#pragma once

/// The kernel of the packed families: C := alpha·op(A)·op(B) + beta·C by Hopper's warpgroup matrix instructions, from
/// split and packed operands.
///
/// Persistent blocks have a producer warp and two consumer warpgroups. Bulk copies bring whole blocks of the packed
/// panels of A and B through a ring of stages, and each consumer multiplies 64 rows by the tile's columns. The two
/// blocks of a cluster, one below the other, share the panel of B: each fetches half of it for both. Where there are
/// fewer tiles than multiprocessors, k is cut into slices whose sums are added in ascending order.
///
/// If operands are split into several terms, the products with the smallest terms are added first. The matrix units
/// truncate when they add, so after `carried_every` k the sum moves on to registers, rounded to nearest: this, not the
/// terms, decides the error of the emulated modes. There the scales of chunks are undone as well (chunk_scales.cuh).
/// Sources: NVIDIA CUTLASS for warp specialisation; Ootomo and Yokota (2022) for the carried sum.

#include "cuda/gemm/common/programmatic_launch.cuh"
#include "work_tiles.cuh"

namespace tessera::cuda::wgmma {

#if defined(__CUDA_ARCH_FEAT_SM90_ALL)

template <class R, class S>
__device__ void produce(const PackedProduct& x, char* shared, Barriers<S::count>& barriers, unsigned rank) {
  Ring<S::count> ring;
  const int clusters = static_cast<int>(gridDim.x) / cluster;
  const int all = x.tiles_m * x.tiles_n * x.cut.slices;
  constexpr unsigned half = S::b_bytes / cluster;
  constexpr std::uint16_t all_blocks = (1u << cluster) - 1;
  for (int index = static_cast<int>(blockIdx.x) / cluster; index < all; index += clusters) {
    const WorkTile work(x, index);
    const char* a = x.a + (static_cast<Index>(work.tile_row * cluster + rank) * x.blocks + work.begin) * S::a_bytes;
    const char* b = x.b + (static_cast<Index>(work.tile_col) * x.blocks + work.begin) * S::b_bytes + rank * half;
    for (int k = work.begin; k < work.end; ++k, ring.advance(), a += S::a_bytes, b += S::b_bytes) {
      wait(barriers.empty[ring.stage], ring.phase ^ 1);
      std::uint64_t* full = &barriers.full[ring.stage];
      expect(full, S::bytes);
      char* stage = shared + ring.stage * S::bytes;
      fetch(stage, a, S::a_bytes, full);
      fetch(stage + S::a_bytes + rank * half, b, half, full, all_blocks);
    }
  }
}

/// Issues the products of one stage, smallest terms first.
template <class R, class S>
__device__ void multiply_stage(float (&sum)[S::tile_n / 2], const char* stage, int consumer, int& accumulate) {
  const OperandDescriptor a(stage + consumer * 64 * S::line_bytes, 128, 8 * S::line_bytes);
  const OperandDescriptor b(stage + S::a_bytes, 128, 8 * S::line_bytes);
#pragma unroll
  for (int k = 0; k < R::block_k; k += depth_of(R::type))
#pragma unroll
    for (int order = R::terms - 1; order >= 0; --order)
#pragma unroll
      for (int i = order; i >= 0; --i) {
        const unsigned step = k / depth_of(R::type) * 256;
        multiply<R::type, S::tile_n>(sum, a.at(i * S::a_term_bytes + step), b.at((order - i) * S::b_term_bytes + step),
                                     accumulate);
        accumulate = 1;
      }
}

template <class R, class S>
__device__ void consume(const PackedProduct& x, const char* shared, Barriers<S::count>& barriers, unsigned rank) {
  constexpr int count = S::tile_n / 2;
  constexpr bool carries = R::carried_every > 0;
  const int thread = static_cast<int>(threadIdx.x) % 128;
  const int consumer = static_cast<int>(threadIdx.x) / 128 - 1;
  const int lane = thread % 32;
  // Where a stage has the factors of this thread's first row and columns.
  const int row_factor = R::terms * S::a_term_bytes + ((static_cast<int>(threadIdx.x) - 128) / 32 * 16 + lane / 4) * 4;
  const int column_factors = S::a_bytes + R::terms * S::b_term_bytes + lane % 4 * 8;
  Ring<S::count> ring;
  const int clusters = static_cast<int>(gridDim.x) / cluster;
  const int all = x.tiles_m * x.tiles_n * x.cut.slices;
  for (int index = static_cast<int>(blockIdx.x) / cluster; index < all; index += clusters) {
    const WorkTile work(x, index);
    Index plane = work.slice == 0 ? 0 : 1 + x.cut.first(work.slice) - x.cut.first(1);
    // The first consumer begins half a chunk before the second one, so that they do not both leave the matrix units
    // idle while they add up a chunk. A tile must be longer than the ring, or the first one might be a tile ahead.
    const bool apart = R::scaled && work.end - work.begin > 2 * S::count;
    if (apart && consumer == 1) asm volatile("bar.sync 2, %0;" ::"n"(consumers * 128) : "memory");
    SegmentTotals<float, count> totals(x.m);
    for (int k = work.begin; k < work.end;) {
      const int end = min(work.end, k + x.segment_blocks);
      float sum[count];
      float carried[carries ? count : 1];
#pragma unroll
      for (float& value : carried) value = 0;
      while (k < end) {
        const int stop = carries ? min(end, k + R::carried_every / R::block_k) : end;
        constexpr bool cleared = R::scaled || !carries;
        if constexpr (cleared) begin_chunk(sum);
        int accumulate = cleared;
        int before = -1; // the stage whose products may still run
        for (; k < stop; ++k, ring.advance()) {
          wait(barriers.full[ring.stage], ring.phase);
          begin_products();
          multiply_stage<R, S>(sum, shared + ring.stage * S::bytes, consumer, accumulate);
          commit_products();
          if (apart && consumer == 0 && k == work.begin + R::carried_every / R::block_k / 2 - 1)
            asm volatile("bar.arrive 2, %0;" ::"n"(consumers * 128) : "memory");
          wait_for_products<1>();
          if (before >= 0) barriers.release(before, lane);
          before = ring.stage;
        }
        wait_for_products<0>();
        if constexpr (R::scaled) {
          const char* const stage = shared + before * S::bytes;
          const auto factor = [&](int row) { return *reinterpret_cast<const float*>(stage + row_factor + row * 4); };
          add_chunk(carried, sum, {factor(0), factor(8)}, reinterpret_cast<const float*>(stage + column_factors));
          __syncwarp(); // all lanes have read the factors
        }
        barriers.release(before, lane);
        if constexpr (carries && !R::scaled) {
#pragma unroll
          for (int e = 0; e < count; ++e) carried[e] += sum[e];
        }
      }
      const auto end_segment = [&](auto& of_segment) {
        if (!complete_segment(of_segment, totals, work.slice, k <= x.segment_blocks, k == work.end)) return;
        store<S>(x, Destination<S>(x, work, rank, plane), of_segment);
        ++plane;
      };
      if constexpr (carries)
        end_segment(carried);
      else
        end_segment(sum);
    }
  }
}

#endif

/// The kernel. It is launched in clusters of two blocks.
template <class R, int tile_n>
__global__ void __launch_bounds__(threads, 1) product(const __grid_constant__ PackedProduct x) {
#if defined(__CUDA_ARCH_FEAT_SM90_ALL)
  using S = Stages<R, tile_n>;
  extern __shared__ __align__(1024) char shared[];
  __shared__ Barriers<S::count> barriers;
  const unsigned rank = ptx::get_sreg_cluster_ctarank();
  launch_dependents();
  if (threadIdx.x == 0) barriers.start();
  ptx::barrier_cluster_arrive();
  ptx::barrier_cluster_wait();
  wait_for_kernel_before();
  if (threadIdx.x < 128) {
    asm volatile("setmaxnreg.dec.sync.aligned.u32 40;");
    if (threadIdx.x == 0) produce<R, S>(x, shared, barriers, rank);
  } else {
    asm volatile("setmaxnreg.inc.sync.aligned.u32 232;");
    consume<R, S>(x, shared, barriers, rank);
  }
  __syncwarp();
  // A block must not end while the other block may still write into its shared memory.
  ptx::barrier_cluster_arrive();
  ptx::barrier_cluster_wait();
#endif
}

} // namespace tessera::cuda::wgmma
