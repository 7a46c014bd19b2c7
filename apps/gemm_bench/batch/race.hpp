#pragma once

/// Races of batches: the peers take turns at computing one batch, and a sample of each peer's products is checked.

#include <nlohmann/json.hpp>

#include "gemm_bench/race.hpp"
#include "peer.hpp"

namespace tessera::bench {

struct BatchRace {
  GemmShape shape;
  DType type = DType::F32;
  Index count = 1;
  int threads = 1; ///< 0 on a device
  Op op_a = Op::None, op_b = Op::None;
  double beta = 0;
};

/// Runs a race with the rounds of run_race(). Seconds are of one batch. On a device they are measured by its events,
/// over batches that are enqueued without a wait.
std::vector<Standing> run_batch_race(const BatchRace& race, Executor& where, const BatchPeers& peers, int rounds,
                                     double sample_seconds, double rest_seconds);

std::string batch_table_head(const BatchPeers& peers);
std::string batch_table_line(const BatchRace& race, const std::vector<Standing>& standings);
std::vector<nlohmann::ordered_json> batch_entries(const BatchRace& race, const std::vector<Standing>& standings);

} // namespace tessera::bench
