#pragma once

/// The table and the JSON document's entries of races on a device.

#include <string>
#include <vector>

#include <nlohmann/json.hpp>

#include "race.hpp"

namespace tessera::bench {

struct DeviceResult {
  std::string mode;
  std::uint64_t seed = 0; ///< 0: the shape was named, not drawn
  RacedProduct product;
  std::vector<DeviceStanding> standings;
};

std::string device_table_head();
std::string device_table_line(const DeviceResult& result);

/// Returns a paragraph for each mode: geometric means of the vendor's time over ours, how many shapes are below 0.95
/// and 0.85, and the lowest.
std::string device_summary(const std::vector<DeviceResult>& results);

std::vector<nlohmann::ordered_json> device_entries(const DeviceResult& result);

} // namespace tessera::bench
