#pragma once

/// How the blocks that factor a panel of QR together tell one another of a column. Warp w of each block exchanges with
/// warp w of the others, so that no barrier of a block is part of it.
///
/// Sources: CUDA C++ Programming Guide, "Thread Block Clusters" and "Cooperative Groups".

#include <cooperative_groups.h>

#include <cstddef>
#include <cstdint>

#include "cuda/gemm/common/cluster_send.cuh"

namespace tessera::cuda {

inline constexpr int team_warps = 8; ///< of each block

/// What a block says of a column.
template <class T>
struct alignas(16) Message {
  T largest = 0; ///< magnitude
  T first = 0;   ///< the column's number on the diagonal, in the first block
  T sum = 0;
  T unused = 0;
};

/// A grid of one cluster of several blocks. Messages travel by st.async. The exchanges of a warp take turns with two
/// places and two barriers, because a block can be one exchange ahead of another, but not two.
template <class T>
class ClusterTeam {
 public:
  static constexpr int most_blocks = 16;
  struct Shared {
    Message<T> messages[2][team_warps][most_blocks];
    std::uint64_t arrived[2][team_warps];
  };

  __device__ ClusterTeam(Shared& shared, void*)
      : shared_(shared), warp_(static_cast<int>(threadIdx.x) / 32), lane_(static_cast<int>(threadIdx.x) % 32) {
#if __CUDA_ARCH__ >= 900
    namespace ptx = ::cuda::ptx;
    if (threadIdx.x == 0) {
      for (auto& barriers : shared_.arrived)
        for (std::uint64_t& barrier : barriers) ptx::mbarrier_init(&barrier, 1);
      ptx::fence_mbarrier_init(ptx::sem_release, ptx::scope_cluster);
    }
#endif
    sync();
  }
  /// Waits for all threads of all blocks; what they wrote before can be read afterwards.
  __device__ void sync() const {
#if __CUDA_ARCH__ >= 900
    cooperative_groups::this_cluster().sync();
#endif
  }
  /// Sends a message to all blocks, and waits for theirs. All lanes of the warp have the same message.
  __device__ void exchange([[maybe_unused]] const Message<T>& message) {
    place_ = next_;
#if __CUDA_ARCH__ >= 900
    namespace ptx = ::cuda::ptx;
    __syncwarp(); // all lanes have read the messages before
    std::uint64_t& barrier = shared_.arrived[place_][warp_];
    const int count = static_cast<int>(gridDim.x);
    if (lane_ == 0)
      ptx::mbarrier_arrive_expect_tx(ptx::sem_relaxed, ptx::scope_cluster, ptx::space_shared, &barrier,
                                     static_cast<unsigned>(count * sizeof(Message<T>)));
    if (lane_ < count) {
      const unsigned there = place_in(lane_, &barrier);
      const auto* const from = reinterpret_cast<const float4*>(&message);
      auto* const to = reinterpret_cast<float4*>(&shared_.messages[place_][warp_][blockIdx.x]);
#pragma unroll
      for (int p = 0; p < static_cast<int>(sizeof(Message<T>) / 16); ++p) send(place_in(lane_, to + p), from[p], there);
    }
    while (!ptx::mbarrier_try_wait_parity(ptx::sem_acquire, ptx::scope_cluster, &barrier, phase_)) {
    }
#endif
    phase_ ^= static_cast<unsigned>(next_);
    next_ ^= 1;
  }
  /// Returns the message of a block in the last exchange.
  __device__ Message<T> message_of(int block) const { return shared_.messages[place_][warp_][block]; }

 private:
  Shared& shared_;
  int warp_, lane_;
  int place_ = 0, next_ = 0;
  unsigned phase_ = 0;
};

/// A cooperative grid, or a single block. `memory` has what bytes() says, all of it 0. A message counts when its number
/// has come.
template <class T>
class GridTeam {
 public:
  struct Shared {
    Message<T> alone[team_warps];
  };

  __device__ GridTeam(Shared& shared, void* memory)
      : shared_(shared),
        messages_(static_cast<Message<T>*>(memory)),
        numbers_(reinterpret_cast<volatile unsigned*>(messages_ + 2 * team_warps * gridDim.x)),
        warp_(static_cast<int>(threadIdx.x) / 32),
        lane_(static_cast<int>(threadIdx.x) % 32) {}
  __device__ void sync() const {
    if (gridDim.x == 1)
      __syncthreads();
    else
      cooperative_groups::this_grid().sync();
  }
  __device__ void exchange(const Message<T>& message) {
    __syncwarp();
    if (gridDim.x == 1) {
      if (lane_ == 0) shared_.alone[warp_] = message;
      __syncwarp();
      return;
    }
    ++number_;
    if (lane_ == 0) {
      messages_[place(static_cast<int>(blockIdx.x))] = message;
      __threadfence();
      numbers_[place(static_cast<int>(blockIdx.x))] = number_;
    }
    for (int block = lane_; block < static_cast<int>(gridDim.x); block += 32)
      while (numbers_[place(block)] != number_) {
      }
    __threadfence();
    __syncwarp();
  }
  __device__ Message<T> message_of(int block) const {
    if (gridDim.x == 1) return shared_.alone[warp_];
    const Message<T>& message = messages_[place(block)];
    return {__ldcg(&message.largest), __ldcg(&message.first), __ldcg(&message.sum)};
  }
  static std::size_t bytes(int blocks) {
    return 2 * team_warps * static_cast<std::size_t>(blocks) * (sizeof(Message<T>) + sizeof(unsigned));
  }

 private:
  __device__ int place(int block) const {
    return (static_cast<int>(number_ & 1) * team_warps + warp_) * static_cast<int>(gridDim.x) + block;
  }

  Shared& shared_;
  Message<T>* messages_;
  volatile unsigned* numbers_;
  int warp_, lane_;
  unsigned number_ = 0;
};

} // namespace tessera::cuda
