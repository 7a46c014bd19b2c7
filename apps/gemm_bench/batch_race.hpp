#pragma once

/// Races of batches: every peer computes the same products, turn by turn, and a sample of them is checked.

#include <nlohmann/json.hpp>

#include "batch_peer.hpp"
#include "race.hpp"

namespace tessera::bench {

struct BatchRace {
  Shape shape;
  DType type = DType::F32;
  Index count = 1;
  int threads = 1; ///< 0 on a device
  Op op_a = Op::None, op_b = Op::None;
  double beta = 0;
};

/// Seconds a batch, as in run_race(); on a device by its own events, over batches enqueued without a wait.
std::vector<Standing> run_batch_race(const BatchRace& race, Executor& where, const BatchPeers& peers, int rounds,
                                     double sample_seconds, double rest_seconds);

std::string batch_table_head(const BatchPeers& peers);
std::string batch_table_line(const BatchRace& race, const std::vector<Standing>& standings);
std::vector<nlohmann::ordered_json> batch_rows(const BatchRace& race, const std::vector<Standing>& standings);

} // namespace tessera::bench
