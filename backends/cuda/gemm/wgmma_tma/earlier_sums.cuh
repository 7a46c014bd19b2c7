#pragma once

/// The sums of a tile's earlier segments of k, where one block computes all segments. A thread of a small tile keeps
/// them in registers. In a tile of 192 columns or more one set of sums fills the registers, so that the earlier sums
/// wait in memory, in practice in the L2 cache. The producer brings them back through the ring of stages when the next
/// segment ends, and consumers add them from there.

#include "work_tiles.cuh"

namespace tessera::cuda::tma {

/// The stash of a block: chunks of sums, each with the parts of both consumers.
template <class S>
struct Stash {
  static constexpr int chunks = 4;
  static constexpr int each = S::columns / 2 / chunks; ///< sums of a thread in a chunk
  static constexpr unsigned part_bytes = each * 128 * sizeof(float), chunk_bytes = consumers * part_bytes;
  static constexpr unsigned bytes = chunks * chunk_bytes; ///< of a block
  static_assert(each % 4 == 0 && chunk_bytes <= S::bytes);
};

#if defined(__CUDA_ARCH_FEAT_SM90_ALL)

using wgmma::Barriers;

/// The block of k in a segment at which consumers show the earlier sums to the copy engine.
constexpr int showing_block = 6;

/// Fetches a block's stash through the ring. The consumers have shown it before they released the stages that this
/// waits for: a segment has more blocks behind showing_block than the ring has stages.
template <class S>
__device__ void fetch_stash(const TmaProduct& x, char* shared, Barriers<S::count, S::sharers>& barriers,
                            Ring<S::count>& ring) {
  const char* const from = x.stash + ptx::get_sreg_ctaid_x() * Stash<S>::bytes;
  for (int c = 0; c < Stash<S>::chunks; ++c, ring.advance(S::count)) {
    wait(barriers.empty[ring.stage], ring.phase ^ 1);
    std::uint64_t* const full = &barriers.full[ring.stage];
    wgmma::expect(full, Stash<S>::chunk_bytes);
    wgmma::fetch(shared + ring.stage * S::bytes, from + c * Stash<S>::chunk_bytes, Stash<S>::chunk_bytes, full);
  }
}

/// Where a thread adds the sums of segments. A block that shares results has one segment.
enum class Keeping { Nowhere, Registers, Memory };
template <class S>
constexpr Keeping keeping = S::sharing == Sharing::Results ? Keeping::Nowhere
                            : S::stashes                   ? Keeping::Memory
                                                           : Keeping::Registers;

/// The sum of a tile's segments. `add` takes the sums of a segment; after the last one, `result` returns all.
template <class S, Keeping where = keeping<S>>
class SegmentTotal {
  using Sums = float[S::columns / 2];

 public:
  __device__ void show() const {}
  template <class... Arguments>
  __device__ void add(const Arguments&...) const {}
  __device__ const Sums& result(const Sums& sum) const { return sum; }
};

/// The total in registers. Each segment is added in the same place of the code, also the first one, to −0, which changes
/// nothing: with a branch for it, ptxas moves all sums from register to register, or to local memory.
template <class S>
class SegmentTotal<S, Keeping::Registers> {
  using Sums = float[S::columns / 2];

 public:
  __device__ SegmentTotal() {
#pragma unroll
    for (float& t : total_) t = -0.0f;
  }
  __device__ void show() const {}
  template <class... Arguments>
  __device__ void add(const Sums& sum, const Arguments&...) {
#pragma unroll
    for (int e = 0; e < S::columns / 2; ++e) total_[e] = __fadd_rn(total_[e], sum[e]);
  }
  __device__ const Sums& result(const Sums&) const { return total_; }

 private:
  Sums total_;
};

/// The total in the registers of the products, while earlier sums are in memory. A thread reads what it has written.
template <class S>
class SegmentTotal<S, Keeping::Memory> {
  using Chunks = Stash<S>;
  using Sums = float[S::columns / 2];

 public:
  __device__ void add(Sums& sum, bool first, bool last, const TmaProduct& x, const char* shared,
                      Barriers<S::count, S::sharers>& barriers, Ring<S::count>& ring) const {
    if (!first) add_earlier(sum, shared, barriers, ring);
    if (!last) keep(sum, x);
  }
  __device__ const Sums& result(const Sums& sum) const { return sum; }
  /// Makes the stash visible to the copy engine. It waits for the stores of keep(), and so is called when they have
  /// long been done.
  __device__ void show() const {
    asm volatile("fence.proxy.async;" ::: "memory");
    __syncwarp(); // a lane that gives a stage back does so for all lanes
  }

 private:
  static constexpr int quads = 128 * sizeof(float4); ///< bytes of four sums of each thread of a consumer

  __device__ void keep(const Sums& sum, const TmaProduct& x) const {
    char* const to = x.stash + ptx::get_sreg_ctaid_x() * Chunks::bytes + own_part();
#pragma unroll
    for (int c = 0; c < Chunks::chunks; ++c)
#pragma unroll
      for (int q = 0; q < Chunks::each / 4; ++q) {
        const int e = c * Chunks::each + q * 4;
        *reinterpret_cast<float4*>(to + c * Chunks::chunk_bytes + q * quads) = {sum[e], sum[e + 1], sum[e + 2],
                                                                                sum[e + 3]};
      }
  }
  __device__ void add_earlier(Sums& sum, const char* shared, Barriers<S::count, S::sharers>& barriers,
                              Ring<S::count>& ring) const {
#pragma unroll
    for (int c = 0; c < Chunks::chunks; ++c, ring.advance(S::count)) {
      wait(barriers.full[ring.stage], ring.phase);
      const char* const from = shared + ring.stage * S::bytes + own_part();
#pragma unroll
      for (int q = 0; q < Chunks::each / 4; ++q) {
        const auto kept = *reinterpret_cast<const float4*>(from + q * quads);
        float* const own = sum + c * Chunks::each + q * 4;
        own[0] = __fadd_rn(kept.x, own[0]);
        own[1] = __fadd_rn(kept.y, own[1]);
        own[2] = __fadd_rn(kept.z, own[2]);
        own[3] = __fadd_rn(kept.w, own[3]);
      }
      __syncwarp(); // all lanes have read the stage
      barriers.release(ring.stage, static_cast<int>(threadIdx.x) % 32);
    }
  }

  /// Returns the byte offset of the thread's sums in a chunk.
  static __device__ unsigned own_part() {
    return (threadIdx.x / 128 - 1) * Chunks::part_bytes + threadIdx.x % 128 * static_cast<unsigned>(sizeof(float4));
  }
};

#endif

} // namespace tessera::cuda::tma
