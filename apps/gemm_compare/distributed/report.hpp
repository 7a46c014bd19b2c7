#pragma once

/// What a race of distributed engines found, as a table and as JSON.

#include <string>
#include <vector>

#include <nlohmann/json.hpp>

#include "options/options.hpp"

namespace tessera::compare_app {

/// One engine's products of one shape on one grid. Numbers of a rank are the largest of all ranks.
struct EngineStanding {
  std::string engine;
  bool canonical = true; ///< else its bits are its own, and only its errors are judged
  DType type = DType::F32;
  GemmShape shape;
  GridWord grid;
  std::vector<double> seconds = {}; ///< of the samples, from the call on the first rank to the return on the last one
  double seconds_of_one_rank = 0, seconds_waiting = 0, seconds_multiplying = 0;
  bool counts_bytes = false;                       ///< else a library sends by itself
  double bytes_received = 0, bytes_by_formula = 0; ///< by all ranks
  Index differing = 0;                             ///< elements with other bits than on one rank
  double largest_difference = 0;
  std::string problem = {}; ///< why there are no samples, or why they do not count
  bool wrong = false;       ///< the result, or an engine of Tessera failed
};

std::string table_head(const GemmShape& shape, DType type, double seconds_of_one_rank);
std::string table_line(const EngineStanding& one);
/// Returns a document with the schema tessera.distributed/1. It names the devices of --devices.
nlohmann::ordered_json to_json(const std::vector<EngineStanding>& standings, const Options& options);

} // namespace tessera::compare_app
