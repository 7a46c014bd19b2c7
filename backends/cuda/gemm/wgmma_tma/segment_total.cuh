#pragma once

/// The total of a tile's segments of k, where one block computes all segments. Most tiles have it in registers. In a
/// tile of 224 columns or more the products of one segment fill the registers. There the sums of earlier segments wait
/// where a thread finds room: in its warp's buffers, which hold no results at that time; and for 16-bit operands in a
/// stage, by which the ring is shorter, and in registers in which results of the last tile had waited. tf32 has no such
/// registers and needs all stages: there the other sums wait in memory, and the producer brings them back through the
/// ring when the next segment ends.

#include "store_boxes.cuh"
#include "work_tiles.cuh"

namespace tessera::cuda::tma {

/// Where the sums of a large tile's thread wait.
template <MatrixUnitType type, class S>
struct WaitingSums {
  static constexpr int threads = consumers * 128;
  static constexpr bool on_chip = type != MatrixUnitType::Tf32;
  static constexpr int all = S::columns / 2;
  static constexpr int in_buffers = staging / (32 * sizeof(float));
  static constexpr int in_stage = on_chip ? S::bytes / (threads * sizeof(float)) : 0;
  static constexpr int rest = all - in_buffers - in_stage;
  static constexpr int in_registers = on_chip ? rest : 0;
  static constexpr int in_memory = S::stashes && !on_chip ? rest : 0;
  static constexpr int chunks = 2; ///< of the sums in memory, each of which fits a stage
  static constexpr unsigned chunk_bytes = in_memory / chunks * threads * sizeof(float);
  static_assert(!S::stashes || (rest > 0 && rest % (4 * chunks) == 0 && chunk_bytes <= S::bytes));
};

#if defined(__CUDA_ARCH_FEAT_SM90_ALL)

using wgmma::Barriers;

/// Returns the number of stages that sums leave; `wait`: there are sums that wait.
template <MatrixUnitType type, class S>
__device__ int stages_beside_sums(bool wait) {
  return S::stashes && WaitingSums<type, S>::on_chip && wait ? S::count - 1 : S::count;
}
/// Returns the number of stages in the ring: fewer than there are where sums wait in one of them, and in clusters that
/// share results (cluster_split_k.cuh).
template <MatrixUnitType type, class S>
__device__ int stages_of(const TmaProduct& x) {
  if constexpr (S::sharing == Sharing::Results) return S::count - x.k_parts / 2;
  return stages_beside_sums<type, S>(x.slices == 1 && x.segment_blocks < x.blocks);
}

/// The block of k in a segment at which consumers show the sums in memory to the copy engine. In a short segment it is
/// an earlier one, so that there are more blocks after it than stages in the ring.
constexpr int showing_block = 6;

/// Fetches the sums in a block's memory through the ring. The consumers have shown them before they released the stages
/// that this waits for.
template <MatrixUnitType type, class S>
__device__ void fetch_waiting(const TmaProduct& x, char* shared, Barriers<S::count, S::sharers>& barriers,
                              Ring<S::count>& ring) {
  using Waiting = WaitingSums<type, S>;
  const char* const from = x.stash + ptx::get_sreg_ctaid_x() * (Waiting::chunks * Waiting::chunk_bytes);
  for (int c = 0; c < Waiting::chunks; ++c, ring.advance(S::count)) {
    wait(barriers.empty[ring.stage], ring.phase ^ 1);
    std::uint64_t* const full = &barriers.full[ring.stage];
    wgmma::expect(full, Waiting::chunk_bytes);
    wgmma::fetch(shared + ring.stage * S::bytes, from + c * Waiting::chunk_bytes, Waiting::chunk_bytes, full);
  }
}

/// Where a thread adds segments. A block that shares results has one segment.
enum class Totals { None, InRegisters, Apart };
template <class S>
constexpr Totals totals = S::sharing == Sharing::Results ? Totals::None
                          : S::stashes                   ? Totals::Apart
                                                         : Totals::InRegisters;

/// The total of a tile's segments. add() takes the sums of a segment; after the last one, result() returns all.
template <MatrixUnitType type, class S, Totals where = totals<S>>
class SegmentTotal {
  using Sums = float[S::columns / 2];

 public:
  template <class... Arguments>
  __device__ void add(const Arguments&...) const {}
  __device__ Sums& result(Sums& sum) const { return sum; }
};

/// A total in registers. All segments are added in one place of the code, the first one to −0, which changes nothing:
/// with a branch for it, ptxas moves all sums from register to register, or to local memory.
template <MatrixUnitType type, class S>
class SegmentTotal<type, S, Totals::InRegisters> {
  using Sums = float[S::columns / 2];

 public:
  __device__ SegmentTotal() {
#pragma unroll
    for (float& t : total_) t = -0.0f;
  }
  template <class... Arguments>
  __device__ void add(const Sums& sum, const Arguments&...) {
#pragma unroll
    for (int e = 0; e < S::columns / 2; ++e) total_[e] = __fadd_rn(total_[e], sum[e]);
  }
  __device__ Sums& result(Sums&) { return total_; }

 private:
  Sums total_;
};

/// A total in the registers of the products, while earlier sums wait elsewhere. A thread reads what it has written.
template <MatrixUnitType type, class S>
class SegmentTotal<type, S, Totals::Apart> {
  using Waiting = WaitingSums<type, S>;
  using Sums = float[S::columns / 2];

 public:
  /// `registers` hold nothing else between the ends of a tile's first and last segment. `buffers` belong to the warp.
  template <int count>
  __device__ void add(Sums& sum, bool first, bool last, float (&registers)[count], char* stash, char* shared,
                      char* buffers, Barriers<S::count, S::sharers>& barriers, Ring<S::count>& ring) const {
    if (first && last) return;
    char* const in_buffers = buffers + threadIdx.x % 32 * sizeof(float4);
    char* const in_stage = shared + (S::count - 1) * S::bytes + own_quad();
    char* const in_memory = stash + ptx::get_sreg_ctaid_x() * (Waiting::chunks * Waiting::chunk_bytes) + own_quad();
    constexpr int stage_from = Waiting::in_buffers, rest_from = stage_from + Waiting::in_stage;
    constexpr int in_chunk = Waiting::in_memory / Waiting::chunks;
    if (first) {
      wait_for_boxes<0>(); // the copy engine has read the buffers
    } else {
      add_from<0, Waiting::in_buffers, 32>(in_buffers, sum);
      add_from<stage_from, Waiting::in_stage, Waiting::threads>(in_stage, sum);
      if constexpr (in_chunk > 0) {
        add_chunk<rest_from, in_chunk>(shared, sum, barriers, ring);
        add_chunk<rest_from + in_chunk, in_chunk>(shared, sum, barriers, ring);
      }
    }
#pragma unroll
    for (int e = 0; e < Waiting::in_registers; ++e) {
      float& own = sum[rest_from + e];
      own = __fadd_rn(first ? -0.0f : registers[e], own); // no branch: see InRegisters
      registers[e] = own;
    }
    if (last) return;
    keep_in<0, Waiting::in_buffers, 32>(in_buffers, sum);
    keep_in<stage_from, Waiting::in_stage, Waiting::threads>(in_stage, sum);
    keep_in<rest_from, Waiting::in_memory, Waiting::threads>(in_memory, sum);
  }
  __device__ Sums& result(Sums& sum) const { return sum; }

 private:
  template <int from, int count>
  static __device__ void add_chunk(const char* shared, Sums& sum, Barriers<S::count, S::sharers>& barriers,
                                   Ring<S::count>& ring) {
    wait(barriers.full[ring.stage], ring.phase);
    add_from<from, count, Waiting::threads>(shared + ring.stage * S::bytes + own_quad(), sum);
    __syncwarp(); // all lanes have read the stage
    barriers.release(ring.stage, static_cast<int>(threadIdx.x) % 32);
    ring.advance(S::count);
  }

  /// Returns the byte offset of the thread's first four sums where both consumers' sums wait.
  static __device__ unsigned own_quad() { return (threadIdx.x - 128) * static_cast<unsigned>(sizeof(float4)); }

  /// Four sums of each of `threads` threads lie side by side.
  template <int from, int count, int threads>
  static __device__ void keep_in(char* to, const Sums& sum) {
#pragma unroll
    for (int e = from; e < from + count; e += 4)
      *reinterpret_cast<float4*>(to + (e - from) / 4 * (threads * sizeof(float4))) = {sum[e], sum[e + 1], sum[e + 2],
                                                                                      sum[e + 3]};
  }
  template <int from, int count, int threads>
  static __device__ void add_from(const char* waiting, Sums& sum) {
#pragma unroll
    for (int e = from; e < from + count; e += 4) {
      const auto quad = *reinterpret_cast<const float4*>(waiting + (e - from) / 4 * (threads * sizeof(float4)));
      sum[e] = __fadd_rn(quad.x, sum[e]);
      sum[e + 1] = __fadd_rn(quad.y, sum[e + 1]);
      sum[e + 2] = __fadd_rn(quad.z, sum[e + 2]);
      sum[e + 3] = __fadd_rn(quad.w, sum[e + 3]);
    }
  }
};

/// Makes the sums in memory visible to the copy engine. It waits for their stores, and so is called when they have been
/// done.
__device__ inline void show_waiting() {
  asm volatile("fence.proxy.async;" ::: "memory");
  __syncwarp(); // a lane that gives a stage back does so for all lanes
}

#endif

} // namespace tessera::cuda::tma
