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
#include "stage_reader.cuh"
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

/// The consumer warpgroups start the products of their chunks in turns, and add up a chunk while the other one
/// multiplies. Together they would both leave the matrix units idle while they add.
class Turns {
 public:
  __device__ explicit Turns(bool begins) {
    if (begins && me_ == 1) pass();
  }
  __device__ void take() const { asm volatile("bar.sync %0, %1;" ::"r"(2 + me_), "n"(consumers * 128) : "memory"); }
  __device__ void pass() const { asm volatile("bar.arrive %0, %1;" ::"r"(3 - me_), "n"(consumers * 128) : "memory"); }
  /// Ends the turns; the last one to be passed is taken.
  __device__ void end() const {
    if (me_ == 0) take();
  }

 private:
  static_assert(consumers == 2);
  int me_ = __shfl_sync(~0U, static_cast<int>(threadIdx.x) / 128 - 1, 0);
};

/// The sums of a thread's segments so far. As many as have room are in shared memory behind the stages, where a warp's
/// vectors follow one another. The rest is in local memory, and so in the L2 cache, which all multiprocessors use at
/// the same time.
template <class S>
class SharedTotals {
 public:
  __device__ SharedTotals(const char* shared, Index k)
      : shared_(shared_address(shared) + S::count * S::bytes + (threadIdx.x - 128) * 16), local_(k) {}
  __device__ float4 load(int e) const {
    return e < S::shared_sums ? shared_vector(shared_ + e * stride) : local_.load(e - S::shared_sums);
  }
  __device__ void store(int e, float4 sum) {
    if (e < S::shared_sums)
      store_shared(shared_ + e * stride, sum);
    else
      local_.store(e - S::shared_sums, sum);
  }

 private:
  static constexpr unsigned stride = consumers * 128 * sizeof(float);
  unsigned shared_;
  VectorTotals<std::max(S::tile_n / 2 - S::shared_sums, 4)> local_;
};

template <class R, class S>
__device__ void consume(const PackedProduct& x, const char* shared, Barriers<S::count>& barriers, unsigned rank) {
  constexpr int count = S::tile_n / 2;
  constexpr bool carries = R::carried_every > 0;
  constexpr int chunk_blocks = carries ? R::carried_every / R::block_k : 1;
  // With one term, turns would cost more than they hide: a chunk's products are few, and one consumer alone does not
  // keep the matrix units busy.
  constexpr bool in_turns = carries && R::terms > 1;
  static_assert(!in_turns || S::count > chunk_blocks, "the second consumer waits until the first has had a chunk");
  const Turns turns(in_turns);
  StageReader<R, S> reader(shared, barriers);
  const int clusters = static_cast<int>(gridDim.x) / cluster;
  const int all = x.tiles_m * x.tiles_n * x.cut.slices;
  for (int index = static_cast<int>(blockIdx.x) / cluster; index < all; index += clusters) {
    const WorkTile work(x, index);
    fetch_old_results<S>(x, work, rank);
    Index plane = work.slice == 0 ? 0 : 1 + x.cut.first(work.slice) - x.cut.first(1);
    SharedTotals<S> totals(shared, x.m);
    [[maybe_unused]] float total[carries ? 1 : count]; // without carried sums there are registers for it
#pragma unroll
    for (float& value : total) value = -0.0f;
    for (int k = work.begin; k < work.end;) {
      const int end = min(work.end, k + x.segment_blocks);
      float sum[count];
      float carried[carries ? count : 1];
#pragma unroll
      for (float& value : carried) value = 0;
      const auto add = [&](Stage stage) {
        wait_for_products<0>();
        if constexpr (R::scaled) {
          add_chunk(carried, sum, {reader.row_factor(stage, 0), reader.row_factor(stage, 8)},
                    [&](int e) { return reader.column_factors(stage, e); });
          __syncwarp(); // all lanes have read the factors
        }
        reader.release(stage);
        if constexpr (carries && !R::scaled) {
#pragma unroll
          for (int e = 0; e < count; ++e) carried[e] += sum[e];
        }
      };
      if constexpr (carries) {
        for (; k + chunk_blocks <= end; k += chunk_blocks) {
          int accumulate = 0;
          if constexpr (in_turns) turns.take();
#pragma unroll
          for (int block = 0; block < chunk_blocks; ++block) {
            const Stage before = reader.last();
            reader.template multiply_next<2>(sum, accumulate);
            if (block > 0) {
              wait_for_products<2>();
              reader.release(before);
            }
          }
          wait_for_products<1>();
          if constexpr (in_turns) turns.pass();
          add(reader.last());
        }
      }
      while (k < end) { // what is no whole chunk
        const int stop = carries ? min(end, k + chunk_blocks) : end;
        int accumulate = 0;
        reader.template multiply_next<1>(sum, accumulate);
        for (++k; k < stop; ++k) {
          const Stage before = reader.last();
          reader.template multiply_next<1>(sum, accumulate);
          wait_for_products<1>();
          reader.release(before);
        }
        add(reader.last());
      }
      const bool last = k == work.end;
      if constexpr (carries) {
        if (!complete_segment(carried, totals, work.slice, k <= x.segment_blocks, last)) continue;
        store<S>(x, Destination<S>(x, work, rank, plane), carried);
      } else {
        if (work.slice == 0) {
#pragma unroll
          for (int e = 0; e < count; ++e) total[e] = sum[e] = total[e] + sum[e];
          if (!last) continue;
        }
        store<S>(x, Destination<S>(x, work, rank, plane), sum);
      }
      ++plane;
    }
  }
  if constexpr (in_turns) turns.end();
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
