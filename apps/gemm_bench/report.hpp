#pragma once

/// Prints standings as a table and as JSON (schema tessera.peers/1).

#include <string>
#include <vector>

#include <nlohmann/json.hpp>

#include "race.hpp"

namespace tessera::bench {

/// Returns one line: the shape, GFLOP/s of every peer, and the ratio of Tessera's better backend to the best library
/// with the ratio's spread over the rounds.
std::string table_head(const std::vector<std::string>& peers);
std::string table_line(const Race& race, const std::vector<Standing>& standings);

/// Returns the JSON entries of one race.
std::vector<nlohmann::ordered_json> entries(const Race& race, const std::vector<Standing>& standings);

/// Returns the geometric means of Tessera's ratios to each library, a line for products that read C and one for those
/// that do not; empty without libraries.
std::string summary(const std::vector<nlohmann::ordered_json>& entries);

} // namespace tessera::bench
