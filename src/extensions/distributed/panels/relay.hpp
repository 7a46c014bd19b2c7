#pragma once

/// A broadcast that consists of messages, for memory of a device. Open MPI takes pointers to it in messages and in
/// blocking collectives, but not in MPI_Ibcast, by which the other panels are broadcast.
///
/// Source: Open MPI's FAQ, Running CUDA-aware Open MPI, question 1; the binomial tree of Thakur, Rabenseifner and
/// Gropp, Optimization of collective communication operations in MPICH, 2005.

#include <cstddef>

#include "extensions/distributed/move.hpp"

namespace tessera::distributed {

/// One broadcast along a tree of ranks: each rank receives from one rank and hands on to at most log2(ranks) others.
class Relay {
 public:
  /// Makes room for a broadcast of so many bytes, so that begin() allocates nothing.
  void reserve(int ranks, std::size_t bytes);
  /// Begins to send the root's bytes, or to receive them. Ranks begin the broadcasts of one root in one order.
  Status begin(Communicator& ranks, char* data, std::size_t bytes, int root, Traffic& traffic) noexcept;
  /// Hands on what has come, and does not wait.
  Status progress(Communicator& ranks, Traffic& traffic) noexcept;
  /// Waits until the bytes have come, and begins to hand them on.
  Status receive(Communicator& ranks, Traffic& traffic) noexcept;
  /// Waits until the bytes were handed on.
  Status finish(Communicator& ranks) noexcept;

 private:
  Status hand_on(Communicator& ranks, Traffic& traffic) noexcept;

  char* data_ = nullptr;
  std::size_t bytes_ = 0;
  int root_ = 0;
  bool handed_on_ = true;
  Requests receiving_, sending_;
};

} // namespace tessera::distributed
