/// shared_tile_bank_padded: shared_tile with rows that are one element longer.
///
/// Elements of a column then lie in different banks. Untransposed operands are read and written along rows and gain
/// nothing; a transposed one is written down a column, 32 elements into one bank without the pad, and into 32 with it.
/// Bytes and operations as for shared_tile, 3 % more shared memory. Kernel walkthrough.

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
constexpr GemmKernel row{.name = "shared_tile_bank_padded",
                         .summary = "shared_tile_32 with rows one longer: a column's elements in different banks",
                         .source = "kernel walkthrough",
                         .type = dtype_of<T>,
                         .tile = {tile, tile, tile},
                         .summation = Summation::Canonical,
                         .run = run<T>,
                         .traffic = tile_traffic};

} // namespace

const GemmKernel shared_tile_bank_padded_f32 = row<float>;
const GemmKernel shared_tile_bank_padded_f64 = row<double>;

} // namespace tessera::cuda
