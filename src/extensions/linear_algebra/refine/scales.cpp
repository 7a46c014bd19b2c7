#include <algorithm>
#include <cmath>
#include <string>

#include <tessera/linear_algebra/solve.hpp>

#include "system.hpp"

namespace tessera::linear_algebra {

double scale_of(double magnitude) {
  constexpr int most = 1000;
  return magnitude == 0 ? 1 : std::ldexp(1.0, -std::clamp(std::ilogb(magnitude), -most, most));
}

std::vector<double> scales_of(std::span<const double> magnitudes) {
  std::vector<double> scales(magnitudes.size());
  std::ranges::transform(magnitudes, scales.begin(), scale_of);
  return scales;
}

void expect_numbers(const char* name, std::span<const double> largest) {
  const auto bad = std::ranges::find_if(largest, [](double magnitude) { return !std::isfinite(magnitude); });
  if (bad != largest.end())
    throw NotRefined(std::string(name) + " has NaN or Inf in row " + std::to_string(bad - largest.begin()));
}

} // namespace tessera::linear_algebra
