#include "tuned_kernels.hpp"

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <utility>

namespace tessera::detail {
namespace {

constexpr int farthest = 1; ///< largest distance to a measured size, in powers of two

const GemmKernel* kernel_named(std::span<const GemmKernel> ladder, const Capabilities& machine,
                               const TunedProduct& product) {
  for (const GemmKernel& kernel : ladder)
    if (kernel.type == product.type && kernel.math == product.math && product.kernel == kernel.name &&
        keeps_contract(kernel, ladder, machine))
      return &kernel;
  return nullptr;
}

} // namespace

int TunedKernels::power_of(Index size) noexcept {
  int power = 0;
  const double fraction =
      std::frexp(static_cast<double>(size), &power); // size = fraction · 2^power, fraction in [½, 1)
  return std::clamp(fraction < 0.70710678 ? power - 1 : power, 0, powers - 1);
}

TunedKernels::TunedKernels(const TuningTable& table, std::span<const GemmKernel> ladder, const Capabilities& machine) {
  constexpr std::size_t places = powers * powers * powers;
  using Distance = std::pair<int, int>; // first the largest distance of a size, then the sum of the three
  std::vector<std::vector<Distance>> nearest;
  for (const TunedProduct& product : table.products) {
    const GemmKernel* kernel = kernel_named(ladder, machine, product);
    if (kernel == nullptr) continue;
    const auto same = [&](const Kind& kind) { return kind.type == product.type && kind.math == product.math; };
    const auto number = static_cast<std::size_t>(std::find_if(kinds_.begin(), kinds_.end(), same) - kinds_.begin());
    if (number == kinds_.size()) {
      kinds_.push_back({product.type, product.math, std::vector<const GemmKernel*>(places, nullptr)});
      nearest.emplace_back(places, Distance{farthest + 1, 0});
    }
    const auto outside = [](int power) { return power < 0 || power >= powers; };
    for (int off_m = -farthest; off_m <= farthest; ++off_m)
      for (int off_n = -farthest; off_n <= farthest; ++off_n)
        for (int off_k = -farthest; off_k <= farthest; ++off_k) {
          const int m = power_of(product.m) + off_m, n = power_of(product.n) + off_n, k = power_of(product.k) + off_k;
          if (outside(m) || outside(n) || outside(k)) continue;
          const std::array<int, 3> off{std::abs(off_m), std::abs(off_n), std::abs(off_k)};
          const Distance distance{*std::max_element(off.begin(), off.end()), off[0] + off[1] + off[2]};
          Distance& least = nearest[number][place(m, n, k)];
          if (distance >= least) continue;
          least = distance;
          kinds_[number].kernels[place(m, n, k)] = kernel;
        }
  }
}

const GemmKernel* TunedKernels::find(const GemmCall& call) const noexcept {
  for (const Kind& kind : kinds_)
    if (kind.type == call.type && kind.math == call.math && call.m > 0 && call.n > 0 && call.k > 0)
      return kind.kernels[place(power_of(call.m), power_of(call.n), power_of(call.k))];
  return nullptr;
}

} // namespace tessera::detail
