#pragma once

/// C := alpha·op(A)·op(B) + beta·C of operands read from where they are: of 16 bits, or f32 in tf32.
///
/// Persistent blocks of a producer and two consumer warpgroups, as in wgmma_product.cuh, without packing: tensor maps
/// bring boxes of the operands as they are stored, and the matrix units read 16-bit operands in either direction (for
/// tf32: tma_registers.cuh). Two blocks of a cluster,
/// one below the other, share the panel of B: each fetches half of it for both. While results go to memory, the
/// producer fetches the next tile's stages. NVIDIA CUTLASS has the scheme.

#include "tma_registers.cuh"

namespace tessera::cuda::tma {

#if defined(__CUDA_ARCH_FEAT_SM90_ALL)

template <UnitType type, class S>
__device__ void produce(const Product& x, char* shared, Barriers<S::count>& barriers, unsigned rank) {
  Ring<S::count> ring;
  const int clusters = static_cast<int>(gridDim.x) / cluster;
  const int all = x.tiles_m * x.tiles_n * x.slices;
  constexpr int block_k = block_k_of(type), half = S::tile_n / cluster;
  constexpr std::uint16_t everybody = (1u << cluster) - 1;
  for (int index = static_cast<int>(blockIdx.x) / cluster; index < all; index += clusters) {
    const Work work(x, index, S::tile_n, rank);
    // This block's half of B's panel: some of the columns or, where they make no whole boxes, all for some of the k.
    const int own = static_cast<int>(rank) * half;
    for (int k = work.begin; k < work.end; ++k, ring.advance()) {
      wait(barriers.empty[ring.stage], ring.phase ^ 1);
      std::uint64_t* full = &barriers.full[ring.stage];
      wgmma::expect(full, S::bytes);
      char* stage = shared + ring.stage * S::bytes;
      fetch<type, tile_m>(x.a, stage, work.row, k * block_k, full);
      char* const b = stage + S::a_bytes;
      if (half % block_k != 0 && x.b.major == Major::MN)
        fetch<type, S::tile_n>(x.b, b + rank * (block_k / cluster) * 128, work.col,
                               k * block_k + static_cast<int>(rank) * (block_k / cluster), full, everybody);
      else
        fetch<type, half>(x.b, b + own * 128, work.col + own, k * block_k, full, everybody);
    }
  }
}

/// The products of one stage.
template <UnitType type, Major a_major, Major b_major, int count>
__device__ void multiply_stage(float (&sum)[count], const SwizzledDescriptor& a, const SwizzledDescriptor& b,
                               int accumulate) {
  constexpr unsigned along_k = 16 * 2, across = 16 * 128; // bytes from one instruction's k to the next one's
  begin_products();
#pragma unroll
  for (unsigned step = 0; step < block_k_of(type) / depth_of(type); ++step)
    multiply<type, count * 2, a_major, b_major>(sum, a.at(step * (a_major == Major::K ? along_k : across)),
                                                b.at(step * (b_major == Major::K ? along_k : across)),
                                                step == 0 ? accumulate : 1);
  commit_products();
}

template <UnitType type, class S>
__device__ void consume(const Product& x, char* shared, Barriers<S::count>& barriers, unsigned rank) {
  const int thread = static_cast<int>(threadIdx.x) % 128;
  const int consumer = static_cast<int>(threadIdx.x) / 128 - 1;
  const int lane = thread % 32;
  const int warp = static_cast<int>(threadIdx.x) / 32 - 4;
  char* const buffers = shared + S::count * S::bytes + warp * staging;
  Ring<S::count> ring;
  const int clusters = static_cast<int>(gridDim.x) / cluster;
  const int all = x.tiles_m * x.tiles_n * x.slices;
  const int majors = (x.a.major == Major::MN ? 2 : 0) + (x.b.major == Major::MN ? 1 : 0);
  for (int index = static_cast<int>(blockIdx.x) / cluster; index < all; index += clusters) {
    const Work work(x, index, S::tile_n, rank);
    float sum[S::tile_n / 2];
    int before = -1; // the stage whose products may still run
    for (int k = work.begin; k < work.end; ++k, ring.advance()) {
      wait(barriers.full[ring.stage], ring.phase);
      const char* stage = shared + ring.stage * S::bytes;
      const SwizzledDescriptor a(stage + consumer * 64 * 128);
      const SwizzledDescriptor b(stage + S::a_bytes, 64 * 128);
      const int accumulate = k > work.begin;
      if (majors == 0)
        multiply_stage<type, Major::K, Major::K>(sum, a, b, accumulate);
      else if (majors == 1)
        multiply_stage<type, Major::K, Major::MN>(sum, a, b, accumulate);
      else if (majors == 2)
        multiply_stage<type, Major::MN, Major::K>(sum, a, b, accumulate);
      else
        multiply_stage<type, Major::MN, Major::MN>(sum, a, b, accumulate);
      wait_for_products<1>();
      if (before >= 0) barriers.release(before, lane);
      before = ring.stage;
    }
    wait_for_products<0>();
    barriers.release(before, lane);
    store<type>(x.to, sum, buffers, work.row + warp * 16, work.col, work.slice);
  }
}

#endif

/// To be launched in clusters.
template <UnitType type, int tile_n>
__global__ void __launch_bounds__(threads, 1) product(const __grid_constant__ Product x) {
#if defined(__CUDA_ARCH_FEAT_SM90_ALL)
  using S = Stages<tile_n>;
  extern __shared__ __align__(1024) char shared[];
  __shared__ Barriers<S::count> barriers;
  const unsigned rank = ptx::get_sreg_cluster_ctarank();
  if (threadIdx.x == 0) barriers.start();
  if (threadIdx.x == 32) prefetch(x.a.map);
  if (threadIdx.x == 64) prefetch(x.b.map);
  asm volatile("griddepcontrol.launch_dependents;"); // what adds the slices waits for our end, but not for its launch
  ptx::barrier_cluster_arrive(ptx::sem_relaxed);
  ptx::barrier_cluster_wait();
  if (threadIdx.x < 128) {
    asm volatile("setmaxnreg.dec.sync.aligned.u32 40;");
    if (threadIdx.x == 0) produce<type, S>(x, shared, barriers, rank);
  } else {
    asm volatile("setmaxnreg.inc.sync.aligned.u32 232;");
    if constexpr (type == UnitType::Tf32)
      consume_from_registers<S>(x, shared, barriers, rank);
    else
      consume<type, S>(x, shared, barriers, rank);
  }
  __syncwarp();
  // Nobody leaves while the other block may still write here. Relaxed, since the other need not see what was written:
  // releasing would wait for all results to be in memory.
  ptx::barrier_cluster_arrive(ptx::sem_relaxed);
  ptx::barrier_cluster_wait();
#endif
}

} // namespace tessera::cuda::tma
