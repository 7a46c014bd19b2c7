#pragma once

/// Standings as a table for people and as JSON (schema tessera.peers/1).

#include <string>
#include <vector>

#include <nlohmann/json.hpp>

#include "race.hpp"

namespace tessera::bench {

/// One line: the shape, then GFLOP/s of every peer, and Tessera's better backend over the best library with the
/// spread of that ratio over the rounds.
std::string table_head(const std::vector<std::string>& peers);
std::string table_line(const Race& race, const std::vector<Standing>& standings);

/// The rows of one race.
std::vector<nlohmann::ordered_json> rows(const Race& race, const std::vector<Standing>& standings);

/// Geometric means of Tessera over each library, a line each; empty without libraries.
std::string summary(const std::vector<nlohmann::ordered_json>& rows);

} // namespace tessera::bench
