#pragma once

/// A race: every peer multiplies the same matrices, turn by turn, and what they computed is checked.

#include <memory>
#include <string>
#include <vector>

#include "peer.hpp"

namespace tessera::bench {

struct Shape {
  Index m = 0, n = 0, k = 0;
};

struct Race {
  Shape shape;
  DType type = DType::F32;
  int threads = 1;
};

/// One peer's seconds a product, a sample for each round; or why there are none.
struct Standing {
  std::string peer;
  std::vector<double> seconds;
  std::string problem;
};

/// `rounds` samples of at least `sample_seconds` each; last comes the probe, as if it had multiplied. The order of the
/// peers turns from round to round, so that what one leaves behind (caches, clock) hits all. With several threads each
/// sample waits for `rest_seconds` first, and for a product that is not counted: idle threads of the last peer may spin
/// for a fifth of a second, on processors that this one needs. Throws OutOfMemory.
std::vector<Standing> run_race(const Race& race, const std::vector<std::unique_ptr<Peer>>& peers, int rounds,
                               double sample_seconds, double rest_seconds);

} // namespace tessera::bench
