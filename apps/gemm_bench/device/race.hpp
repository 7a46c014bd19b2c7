#pragma once

/// A race on a device: the peers take turns at one product, as plain calls and as a graph, and the results are checked.

#include <string>
#include <vector>

#include "gemm_bench/random_products.hpp"
#include "peer.hpp"

namespace tessera::bench {

/// What one peer needed for one product, in each round.
struct DeviceStanding {
  std::string peer;
  Side side = Side::Ours;
  std::vector<double> plain = {}; ///< seconds of a product, enqueued by call after call, by the device's events
  std::vector<double> graph =
      {}; ///< the same calls recorded once and enqueued as a whole; empty if they cannot be recorded
  std::vector<double> host =
      {};                   ///< the host's seconds for enqueueing a product while the device keeps up or lags behind
  std::string problem = {}; ///< why there are no times, or what is wrong with the result; empty if nothing is
  long long differing_bits = -1; ///< elements of the compared rows without the contract's bits; −1: not promised
};

/// Takes `rounds` samples of each peer, of about `sample_seconds` each. Operands rotate through memory of several times
/// the device's L2 cache. C is NaN before each peer's last sample, and some rows of its last product are compared with
/// a reference; where products read C, the rows of one more product after the sample. Throws OutOfMemory and
/// DeviceError.
std::vector<DeviceStanding> run_device_race(Executor& device, const DeviceMode& mode, const RacedProduct& product,
                                            const DevicePeers& peers, int rounds, double sample_seconds);

} // namespace tessera::bench
