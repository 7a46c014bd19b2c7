#include "engines.hpp"

#include <array>

namespace tessera {
namespace distributed {
namespace {

const std::array ladder{&summa, &pblas, &cublas_mp, &cublas_xt};

} // namespace

std::span<const Engine* const> engines() noexcept { return ladder; }

} // namespace distributed

std::span<const DistributedEngine> distributed_engines() noexcept {
  static const auto engines = [] {
    std::array<DistributedEngine, distributed::ladder.size()> copies;
    for (std::size_t i = 0; i < copies.size(); ++i)
      copies[i] = static_cast<const DistributedEngine&>(*distributed::ladder[i]);
    return copies;
  }();
  return engines;
}

} // namespace tessera
