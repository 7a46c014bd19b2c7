#pragma once

/// How the blocks that factor a panel together tell one another of their rows: in a cluster each sends to the shared
/// memory of all, in a grid all write to global memory.
///
/// Sources: CUDA C++ Programming Guide, "Thread Block Clusters" and "Cooperative Groups".

#include <cooperative_groups.h>

#include "cluster_turns.cuh"
#include "number.cuh"
#include "pivot.cuh"

namespace tessera::cuda {

/// The columns of a panel that are factored at once: as many as registers hold.
template <class T>
inline constexpr int strip_of = sizeof(T) == 16 ? 8 : 16;

/// What a block offers for column c of a strip: its best row, with what U is in the columns from c on if the row is the
/// pivot's, and then L in the c columns before.
template <class T>
struct alignas(16) Offer {
  T row[strip_of<T>];
  Candidate candidate;
  int number; ///< the row's number in memory
};

/// A grid of one cluster. Offers travel by st.async; columns take turns.
template <class T>
class ClusterExchange {
 public:
  static constexpr int fewest_blocks = 2, most_blocks = 16; ///< st.async is for several blocks
  struct Shared {
    Offer<T> out;
    Offer<T> offers[2][most_blocks];
    std::uint64_t arrived[2];
  };

  __device__ ClusterExchange(Shared& shared, void*) : shared_(shared) { make_barriers(shared_.arrived, 2); }
  /// Waits for all threads of all blocks; what they wrote before can be read afterwards.
  __device__ static void wait_for_all() { sync_cluster(); }
  /// The block's offer, which one warp makes.
  __device__ Offer<T>& out() { return shared_.out; }

  /// Sends out() to all blocks. The warp that has made it calls this.
  __device__ void send_offer() const {
#if __CUDA_ARCH__ >= 900
    constexpr int pieces = sizeof(Offer<T>) / 16;
    const int count = static_cast<int>(gridDim.x) * pieces;
    for (int i = static_cast<int>(threadIdx.x) % 32; i < count; i += 32) {
      const int to = i / pieces, piece = i % pieces;
      send(place_in(to, reinterpret_cast<const float4*>(&shared_.offers[turn_.place][blockIdx.x]) + piece),
           reinterpret_cast<const float4*>(&shared_.out)[piece], place_in(to, &shared_.arrived[turn_.place]));
    }
#endif
  }
  /// Returns the offers of all blocks, when they have come.
  __device__ const Offer<T>* receive() {
#if __CUDA_ARCH__ >= 900
    if (threadIdx.x == 0) expect_bytes(shared_.arrived[turn_.place], gridDim.x * sizeof(Offer<T>));
    while (!::cuda::ptx::mbarrier_try_wait_parity(&shared_.arrived[turn_.place], turn_.phase)) {
    }
#endif
    const Offer<T>* const offers = shared_.offers[turn_.place];
    turn_.end();
    return offers;
  }

 private:
  Shared& shared_;
  ClusterTurn turn_;
};

/// A cooperative grid. `memory` has two offers for each block.
template <class T>
class GridExchange {
 public:
  static constexpr int fewest_blocks = 1;
  struct Shared {
    Offer<T> out;
  };

  __device__ GridExchange(Shared& shared, void* memory) : shared_(shared), offers_(static_cast<Offer<T>*>(memory)) {}
  __device__ static void wait_for_all() { cooperative_groups::this_grid().sync(); }
  __device__ Offer<T>& out() { return shared_.out; }
  __device__ void send_offer() const {
    if (threadIdx.x % 32 == 0) turn()[blockIdx.x] = shared_.out;
  }
  __device__ const Offer<T>* receive() {
    wait_for_all();
    const Offer<T>* const offers = turn();
    parity_ ^= 1;
    return offers;
  }
  static std::size_t bytes(int blocks) { return 2 * static_cast<std::size_t>(blocks) * sizeof(Offer<T>); }

 private:
  __device__ Offer<T>* turn() const { return offers_ + parity_ * static_cast<int>(gridDim.x); }

  Shared& shared_;
  Offer<T>* offers_;
  int parity_ = 0;
};

} // namespace tessera::cuda
