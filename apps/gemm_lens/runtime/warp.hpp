#pragma once

/// A warp: it lets its threads run ahead, each by itself, and puts their events together as the hardware would have
/// executed them.

#include "counters.hpp"
#include "thread.hpp"

namespace tessera::lens {

class Warp {
 public:
  Warp(Launch& launch, Thread* threads, int count, int number)
      : launch_(launch), threads_(threads), count_(count), number_(number) {}

  /// Runs until all threads wait at a barrier of the block or have ended.
  void run();

 private:
  void fill();
  bool pass_warp_barrier();
  std::uint64_t next_order(const Thread& thread) const;
  void look_for_divergence();
  bool step();

  Launch& launch_;
  Thread* threads_;
  int count_, number_;
  std::uint32_t together_ = 0; ///< the threads of the last step
  std::uint32_t last_pc_ = 0;
};

/// Runs a thread until it waits or its events are too many.
void resume(Thread& thread);

} // namespace tessera::lens
