#pragma once

/// A race: the peers take turns at multiplying one pair of matrices, and the results are checked.

#include <memory>
#include <string>
#include <vector>

#include "peer.hpp"
#include "random_products.hpp"

namespace tessera::bench {

struct Race {
  RacedProduct product;
  DType type = DType::F32;
  int threads = 1;
};

/// One peer's samples: seconds of one product in each round; or the reason why there are none.
struct Standing {
  std::string peer;
  std::vector<double> seconds;
  std::string problem;
};

/// Takes `rounds` samples of each peer, of about `sample_seconds` each. The last standing is the probe's, as if it had
/// multiplied. Each round begins with another peer, so that what one leaves behind (caches, clock) hits all. With
/// several threads each sample is preceded by a wait of `rest_seconds` and by products that are not counted, because
/// idle threads of the peer before may spin for a fifth of a second on processors that this peer needs. Throws
/// OutOfMemory.
std::vector<Standing> run_race(const Race& race, const std::vector<std::unique_ptr<Peer>>& peers, int rounds,
                               double sample_seconds, double rest_seconds);

} // namespace tessera::bench
