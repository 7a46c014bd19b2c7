#pragma once

/// Numbers in JSON, which has no NaN and no infinities.

#include <cmath>

#include <nlohmann/json.hpp>

namespace tessera {

/// Returns the number, or "nan", "inf" or "-inf".
inline nlohmann::ordered_json json_number(double number) {
  if (std::isnan(number)) return "nan";
  if (std::isinf(number)) return number > 0 ? "inf" : "-inf";
  return number;
}

} // namespace tessera
