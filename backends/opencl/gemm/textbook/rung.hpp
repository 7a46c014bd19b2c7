#pragma once

/// How a rung of the textbook becomes an entry of the ladder: its work-groups, the limits of the device, the launch.

#include <new>

#include <tessera/backend/traffic.hpp>

#include "opencl/gemm/common/strict.hpp"
#include "opencl/gemm/common/strided.hpp"
#include "opencl/gemm/ladder.hpp"
#include "opencl/queue/scratch.hpp"

namespace tessera::opencl {

/// Results of a work-item along each side, where it computes a square of them.
template <class T>
inline constexpr int side = 32 / sizeof(T);

/// The work-groups of a rung, each of which computes a tile of C.
struct RungLaunch {
  Index tile_m = 1, tile_n = 1;
  std::array<std::size_t, 2> group{};
  std::size_t local_elements = 0; ///< in local memory
  bool rows_first = false;        ///< dimension 0 counts rows of C
  int side = 0;                   ///< results of a work-item along each side, where the kernel is compiled for them
  std::size_t layers = 1;         ///< work-groups in dimension 2

  std::string options(DType type) const {
    std::string all = real_option(type);
    if (side > 0) all += " -D SIDE=" + std::to_string(side) + " -D VECTOR_WIDTH=" + std::to_string(side / 2);
    return all;
  }
};

/// The work-groups of the rungs 05 to 10: 256 work-items, squares of results, `buffers` tiles of each operand whose
/// rows are `padding` vectors longer.
inline RungLaunch register_tiles(DType type, std::size_t buffers, std::size_t padding) {
  const int across = type == DType::F64 ? side<double> : side<float>;
  const auto results = static_cast<std::size_t>(across), tile = 16 * results;
  return {.tile_m = 16 * across,
          .tile_n = 16 * across,
          .group = {256, 1},
          .local_elements = buffers * 2 * 8 * (tile + padding * results / 2),
          .side = across};
}

/// GemmKernel::run of a rung whose kernel has STRIDED_OPERANDS. Rejected where the device's work-groups or its local
/// memory are smaller than the rung's.
Status run_rung(Queue& queue, const Source& source, const char* kernel, const GemmCall& call,
                const RungLaunch& launch) noexcept;

} // namespace tessera::opencl
