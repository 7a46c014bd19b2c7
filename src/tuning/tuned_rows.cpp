#include "tuning/tuned_rows.hpp"

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <tuple>

namespace tessera::detail {
namespace {

constexpr int farthest = 1; ///< powers of two

const GemmKernel* row_named(std::span<const GemmKernel> ladder, const TunedProduct& product) {
  for (const GemmKernel& row : ladder)
    if (row.type == product.type && row.math == product.math && product.kernel == row.name &&
        (product.math != Math::Strict || row.summation == Summation::Canonical))
      return &row;
  return nullptr;
}

} // namespace

int TunedRows::power_of(Index size) noexcept {
  int power = 0;
  const double fraction =
      std::frexp(static_cast<double>(size), &power); // size = fraction · 2^power, fraction in [½, 1)
  return std::clamp(fraction < 0.70710678 ? power - 1 : power, 0, powers - 1);
}

TunedRows::TunedRows(const TuningTable& table, std::span<const GemmKernel> ladder) {
  struct Measured {
    std::array<int, 3> at;
    const GemmKernel* row;
  };
  std::vector<std::pair<DType, Math>> kinds;
  for (const TunedProduct& product : table.products)
    if (const std::pair kind{product.type, product.math}; std::find(kinds.begin(), kinds.end(), kind) == kinds.end())
      kinds.push_back(kind);
  for (const auto& [type, math] : kinds) {
    std::vector<Measured> measured;
    for (const TunedProduct& product : table.products)
      if (product.type == type && product.math == math)
        if (const GemmKernel* row = row_named(ladder, product))
          measured.push_back({{power_of(product.m), power_of(product.n), power_of(product.k)}, row});
    Kind kind{type, math, std::vector<const GemmKernel*>(place(powers - 1, powers - 1, powers - 1) + 1, nullptr)};
    for (int m = 0; m < powers; ++m)
      for (int n = 0; n < powers; ++n)
        for (int k = 0; k < powers; ++k) {
          std::pair nearest{farthest + 1, 0}; // the largest distance of a size, then their sum
          for (const Measured& one : measured) {
            const std::array<int, 3> off{std::abs(one.at[0] - m), std::abs(one.at[1] - n), std::abs(one.at[2] - k)};
            const std::pair distance{std::max({off[0], off[1], off[2]}), off[0] + off[1] + off[2]};
            if (distance >= nearest) continue;
            nearest = distance;
            kind.rows[place(m, n, k)] = one.row;
          }
        }
    kinds_.push_back(std::move(kind));
  }
}

const GemmKernel* TunedRows::find(const GemmCall& call) const noexcept {
  for (const Kind& kind : kinds_)
    if (kind.type == call.type && kind.math == call.math && call.m > 0 && call.n > 0 && call.k > 0)
      return kind.rows[place(power_of(call.m), power_of(call.n), power_of(call.k))];
  return nullptr;
}

} // namespace tessera::detail
