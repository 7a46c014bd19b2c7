#pragma once

/// How the blocks that factor a panel of QR together tell one another of a column. Warp w of each block exchanges with
/// warp w of the others, so that no barrier of a block is part of it.
///
/// Sources: CUDA C++ Programming Guide, "Thread Block Clusters" and "Cooperative Groups".

#include <cooperative_groups.h>

#include <cstddef>
#include <cstdint>
#include <cstring>

#include "cuda/panel/cluster_turns.cuh"
#include "cuda/panel/number.cuh"

namespace tessera::cuda {

inline constexpr int team_warps = 8; ///< of each block

/// What a block says of a column.
template <class T>
struct alignas(16) Message {
  T sum{};
  T first{};            ///< the column's number on the diagonal, in the first block
  unsigned largest = 0; ///< key of the largest number below it
};

/// A grid of one cluster of several blocks. Messages travel by st.async. The exchanges of a warp take turns.
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
    make_barriers(shared_.arrived[0], 2 * team_warps);
  }
  /// Waits for all threads of all blocks; what they wrote before can be read afterwards.
  __device__ void sync() const { sync_cluster(); }
  /// Sends a message to all blocks, and waits for theirs. All lanes of the warp have the same message.
  __device__ void exchange([[maybe_unused]] const Message<T>& message) {
    place_ = turn_.place;
#if __CUDA_ARCH__ >= 900
    namespace ptx = ::cuda::ptx;
    __syncwarp(); // all lanes have read the messages before
    std::uint64_t& barrier = shared_.arrived[place_][warp_];
    const int count = static_cast<int>(gridDim.x);
    if (lane_ == 0) expect_bytes(barrier, count * sizeof(Message<T>));
    if (lane_ < count) {
      const unsigned there = place_in(lane_, &barrier);
      const auto* const from = reinterpret_cast<const float4*>(&message);
      auto* const to = reinterpret_cast<float4*>(&shared_.messages[place_][warp_][blockIdx.x]);
#pragma unroll
      for (int p = 0; p < static_cast<int>(sizeof(Message<T>) / 16); ++p) send(place_in(lane_, to + p), from[p], there);
    }
    while (!ptx::mbarrier_try_wait_parity(ptx::sem_acquire, ptx::scope_cluster, &barrier, turn_.phase)) {
    }
#endif
    turn_.end();
  }
  /// Returns the message of block 32·round + lane in the last exchange; there is one.
  __device__ Message<T> message(int) const { return shared_.messages[place_][warp_][lane_]; }
  /// Returns what the first block said of the diagonal, to all lanes.
  __device__ T first() const { return shared_.messages[place_][warp_][0].first; }

 private:
  Shared& shared_;
  int warp_, lane_;
  int place_ = 0; ///< of the last exchange
  ClusterTurn turn_;
};

/// A cooperative grid, or a single block. `memory` has what bytes() says, all of it 0. Messages go by way of it, in
/// words of 64 bits that are half a part of the message and half its number: so no fence is part of an exchange.
///
/// Source: the protocol for short messages of NVIDIA's NCCL ("LL").
template <class T>
class GridTeam {
  static constexpr int words = 2 * sizeof(T) / 4 + 1; ///< of a message
  using Word = unsigned long long;

 public:
  struct Shared {};

  __device__ GridTeam(Shared&, void* memory)
      : memory_(static_cast<volatile Word*>(memory)),
        blocks_(static_cast<int>(gridDim.x)),
        warp_(static_cast<int>(threadIdx.x) / 32),
        lane_(static_cast<int>(threadIdx.x) % 32) {}
  __device__ void sync() const {
    if (blocks_ == 1)
      __syncthreads();
    else
      cooperative_groups::this_grid().sync();
  }
  __device__ void exchange(const Message<T>& message) {
    received_ = message;
    if (blocks_ == 1) return;
    __syncwarp(); // all lanes have read the messages before
    ++number_;
    unsigned parts[words];
    memcpy(parts, &message, sizeof(parts));
    volatile Word* const to = place(static_cast<int>(blockIdx.x));
#pragma unroll
    for (int w = 0; w < words; ++w)
      if (lane_ == w) to[w] = static_cast<Word>(number_) << 32 | parts[w];
    for (int block = lane_; block < blocks_; block += 32) {
      const Message<T> other = receive(block);
      if (block < 32) received_ = other;
    }
  }
  __device__ Message<T> message(int round) const { return round == 0 ? received_ : receive(32 * round + lane_); }
  __device__ T first() const { return number_of_lane(received_.first, 0, 32); }

  static std::size_t bytes(int blocks) {
    return 2 * team_warps * static_cast<std::size_t>(blocks) * words * sizeof(Word);
  }

 private:
  __device__ volatile Word* place(int block) const {
    return memory_ + ((static_cast<int>(number_ & 1) * team_warps + warp_) * blocks_ + block) * words;
  }
  __device__ Message<T> receive(int block) const {
    const volatile Word* const from = place(block);
    while (true) {
      Word read[words];
      bool is_there = true;
#pragma unroll
      for (int w = 0; w < words; ++w) read[w] = from[w];
      unsigned parts[words];
#pragma unroll
      for (int w = 0; w < words; ++w) {
        is_there = is_there && read[w] >> 32 == number_;
        parts[w] = static_cast<unsigned>(read[w]);
      }
      if (!is_there) continue;
      Message<T> message;
      memcpy(&message, parts, sizeof(parts));
      return message;
    }
  }

  volatile Word* memory_;
  int blocks_, warp_, lane_;
  unsigned number_ = 0;
  Message<T> received_;
};

} // namespace tessera::cuda
