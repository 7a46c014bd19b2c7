/// shared_tile_bank_padded: shared_tile_32 with rows of shared memory that are one element longer.
///
/// The longer rows put the elements of a column into different banks. Operands that are not transposed are written and
/// read along rows, and gain nothing. A transposed operand is written down a column: its 32 elements fall into one bank
/// without the padding and into 32 banks with it. One result costs 2·k operations and reads 2·k/32 elements from global
/// memory (k/4 bytes in f32), as in 06_shared_tile.cu; shared memory grows by 3 %. The source is the kernel
/// walkthrough.

#include <tessera/backend/traffic.hpp>

#include "cuda/device/status.hpp"
#include "cuda/gemm/ladder.hpp"
#include "square_tile.cuh"

namespace tessera::cuda {
namespace {

constexpr int tile = 32;

template <class T>
Status run(const GemmKernel&, Executor&, Queue& queue, const GemmCall& call) noexcept {
  square_tile::launch<T, CanonicalSum<T>, tile, 1>(queue, call);
  return launched("shared_tile_bank_padded");
}

template <class T>
constexpr GemmKernel rung{.name = "shared_tile_bank_padded",
                          .summary = "shared_tile_32 with rows one longer: a column's elements in different banks",
                          .source = "kernel walkthrough",
                          .type = dtype_of<T>,
                          .tile = {tile, tile, tile},
                          .summation = Summation::Canonical,
                          .run = run<T>,
                          .traffic = tile_traffic};

} // namespace

const GemmKernel shared_tile_bank_padded_f32 = rung<float>;
const GemmKernel shared_tile_bank_padded_f64 = rung<double>;

} // namespace tessera::cuda
