#pragma once

/// How the blocks that factor a panel together tell one another of their rows: in a cluster each sends to the shared
/// memory of all, in a grid all write to global memory.
///
/// Sources: CUDA C++ Programming Guide, "Thread Block Clusters" and "Cooperative Groups".

#include <cooperative_groups.h>

#include "cuda/gemm/common/cluster_send.cuh"
#include "pivot.cuh"

namespace tessera::cuda {

inline constexpr int strip = 16; ///< the columns of a panel that are factored at once

/// What a block offers for a column: its best row, L left of the column, and what will be U if the row is the pivot's.
template <class T>
struct alignas(16) Offer {
  T row[strip];
  Pivot pivot;
};

/// The row that changes places with the pivot's: elements, and sums from the column on. The first block has it.
template <class T>
struct alignas(16) TopRow {
  T a[strip], s[strip];
};

/// What a block has made for the others, and what they need to read it.
template <class T>
struct Outgoing {
  Offer<T> offer;
  TopRow<T> top;
};

template <class T>
struct Incoming {
  const Offer<T>* offers; ///< one of each block
  const TopRow<T>* top;
};

/// A grid of one cluster. Offers travel by st.async; columns take turns with two places and two barriers, because a
/// block can be one column ahead of another, but not two.
template <class T>
class ClusterExchange {
 public:
  static constexpr int most_blocks = 16;
  struct Shared {
    Outgoing<T> out;
    Offer<T> offers[2][most_blocks];
    TopRow<T> tops[2];
    std::uint64_t arrived[2];
  };

  __device__ ClusterExchange(Shared& shared, void*) : shared_(shared) {
#if __CUDA_ARCH__ >= 900
    namespace ptx = ::cuda::ptx;
    if (threadIdx.x == 0) {
      for (std::uint64_t& barrier : shared_.arrived) ptx::mbarrier_init(&barrier, 1);
      ptx::fence_mbarrier_init(ptx::sem_release, ptx::scope_cluster);
    }
#endif
    wait_for_all();
  }
  /// Waits for all threads of all blocks; what they wrote before can be read afterwards.
  __device__ static void wait_for_all() {
#if __CUDA_ARCH__ >= 900
    cooperative_groups::this_cluster().sync();
#endif
  }
  __device__ Outgoing<T>& out() { return shared_.out; }

  /// Sends out() to all blocks, and returns what has come from them. The threads of the block have waited for one
  /// another before.
  __device__ Incoming<T> exchange() {
#if __CUDA_ARCH__ >= 900
    const int me = static_cast<int>(threadIdx.x), lane = me % 32;
    constexpr int offer_pieces = sizeof(Offer<T>) / 16, top_pieces = sizeof(TopRow<T>) / 16;
    const int count = static_cast<int>(gridDim.x), rank = static_cast<int>(blockIdx.x);
    std::uint64_t& barrier = shared_.arrived[parity_];
    if (me == 0)
      ::cuda::ptx::mbarrier_arrive_expect_tx(::cuda::ptx::sem_relaxed, ::cuda::ptx::scope_cluster,
                                             ::cuda::ptx::space_shared, &barrier,
                                             static_cast<unsigned>(count * sizeof(Offer<T>) + sizeof(TopRow<T>)));
    for (int to = me / 32; to < count; to += static_cast<int>(blockDim.x) / 32) {
      const unsigned there = place_in(to, &barrier);
      for (int p = lane; p < offer_pieces; p += 32)
        send(place_in(to, reinterpret_cast<float4*>(&shared_.offers[parity_][rank]) + p),
             reinterpret_cast<const float4*>(&shared_.out.offer)[p], there);
      if (rank == 0)
        for (int p = lane; p < top_pieces; p += 32)
          send(place_in(to, reinterpret_cast<float4*>(&shared_.tops[parity_]) + p),
               reinterpret_cast<const float4*>(&shared_.out.top)[p], there);
    }
    while (!::cuda::ptx::mbarrier_try_wait_parity(&barrier, phase_)) {
    }
#endif
    const Incoming<T> in{shared_.offers[parity_], &shared_.tops[parity_]};
    phase_ ^= static_cast<unsigned>(parity_);
    parity_ ^= 1;
    return in;
  }

 private:
  Shared& shared_;
  int parity_ = 0;
  unsigned phase_ = 0;
};

/// A cooperative grid. `memory` has two Offer<T> for each block, and then two TopRow<T>.
template <class T>
class GridExchange {
 public:
  struct Shared {
    Outgoing<T> out;
  };

  __device__ GridExchange(Shared& shared, void* memory)
      : shared_(shared),
        offers_(static_cast<Offer<T>*>(memory)),
        tops_(reinterpret_cast<TopRow<T>*>(offers_ + 2 * gridDim.x)) {}
  __device__ static void wait_for_all() { cooperative_groups::this_grid().sync(); }
  __device__ Outgoing<T>& out() { return shared_.out; }
  __device__ Incoming<T> exchange() {
    Offer<T>* const offers = offers_ + parity_ * static_cast<int>(gridDim.x);
    if (threadIdx.x == 0) offers[blockIdx.x] = shared_.out.offer;
    if (threadIdx.x == 32 && blockIdx.x == 0) tops_[parity_] = shared_.out.top;
    wait_for_all();
    const Incoming<T> in{offers, tops_ + parity_};
    parity_ ^= 1;
    return in;
  }
  static std::size_t bytes(int blocks) {
    return 2 * (static_cast<std::size_t>(blocks) * sizeof(Offer<T>) + sizeof(TopRow<T>));
  }

 private:
  Shared& shared_;
  Offer<T>* offers_;
  TopRow<T>* tops_;
  int parity_ = 0;
};

} // namespace tessera::cuda
