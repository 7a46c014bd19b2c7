#pragma once

/// The processors that a kernel is given: as many as its threads. A thread more than that shares one of them, so that
/// it gains no time, however short a call is.

#include <random>
#include <vector>

#include <tessera/detail/processors.hpp>

namespace tessera::judge {

class GivenProcessors {
 public:
  /// Chooses `threads` of the processors that this process may use: idle ones, and of different cores where there are
  /// as many. Looks at the machine for 30 ms, unless it takes all.
  explicit GivenProcessors(int threads);

  /// Are there more processors than these?
  bool are_fewer() const noexcept { return mask_.count() < static_cast<int>(all_.size()); }
  const tessera::detail::ProcessorMask& mask() const noexcept { return mask_; }
  /// Chooses anew, by what the processors did since the last choice.
  void choose_again();

 private:
  struct Processor {
    int number = 0;
    int core = 0;    ///< the lowest number of a processor that is on the same core
    double idle = 0; ///< seconds since the machine started
  };
  /// Returns the processors of this process, as they are now. One that Linux says nothing of has idled for no time.
  static std::vector<Processor> look();

  std::vector<Processor> all_; ///< at the last choice
  tessera::detail::ProcessorMask mask_;
  int threads_;
  std::mt19937 random_;
};

} // namespace tessera::judge
